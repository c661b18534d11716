//! The diagnostics of documents, with their codes.

use std::fmt;

use crate::source::Severity;
use serde::{Serialize, Serializer};

macro_rules! codes {
    ($($(#[$doc:meta])* $code:ident = $name:literal $severity:ident,)*) => {
        /// The kind of a [`Diagnostic`]. The codes `GR`, `CN` and `AT` are those of PetalFlow.
        ///
        /// ```
        /// use petalflow_document_model::documents::{Code, Severity};
        ///
        /// assert_eq!(Code::UnknownNode.as_str(), "GR-001");
        /// assert_eq!(Code::OrphanNode.severity(), Severity::Warning);
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])* #[doc = concat!(" (`", $name, "`)")] $code,)*
        }

        impl Code {
            /// All codes.
            pub const ALL: &[Code] = &[$(Code::$code),*];

            /// The code as users see it, such as `GR-001`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Code::$code => $name,)*
                }
            }

            /// Whether a document with it can be used.
            pub const fn severity(self) -> Severity {
                match self {
                    $(Code::$code => Severity::$severity,)*
                }
            }
        }
    };
}

codes! {
    /// The text is not JSON or YAML.
    Syntax = "DC-001" Error,
    /// A name occurs twice in an object.
    DuplicateKey = "DC-002" Error,
    /// The document is too large or too deep.
    TooLarge = "DC-003" Error,
    /// It is neither a graph nor an agent workflow.
    UnknownDocument = "DC-004" Error,
    /// There is no field with this name.
    UnknownField = "DC-005" Error,
    /// A required field is missing or empty.
    MissingField = "DC-006" Error,
    /// A value has the wrong type, or is not one of the allowed ones.
    WrongValue = "DC-007" Error,
    /// A template cannot be parsed.
    BadTemplate = "DC-008" Error,
    /// A text that is not a template looks like one.
    NoTemplate = "DC-009" Warning,
    /// A variable that a template uses may be missing.
    MayBeMissing = "DC-010" Warning,
    /// An edge names a node that does not exist.
    UnknownNode = "GR-001" Error,
    /// A node has no edge.
    OrphanNode = "GR-002" Warning,
    /// There is no node type with this name.
    UnknownType = "GR-003" Error,
    /// The edges form a cycle.
    Cycle = "GR-004" Error,
    /// Two nodes have the same name.
    DuplicateNode = "GR-005" Error,
    /// A node has no such output.
    UnknownHandle = "GR-006" Error,
    /// The entry is not a node.
    UnknownEntry = "GR-007" Error,
    /// A tool that models call is used as a node.
    ToolNotStandalone = "GR-008" Error,
    /// A trigger has an edge that leads to it.
    TriggerWithInput = "GR-009" Error,
    /// The kind or the version of the format of a graph is unknown.
    BadGraphFormat = "GR-010" Error,
    /// A node can choose another one, to which it has no edge.
    TargetWithoutEdge = "GR-011" Error,
    /// A node has a setting that its type does not know. It has no effect.
    UnknownSetting = "GR-020" Warning,
    /// A condition leads nowhere.
    ConditionWithoutEdge = "CN-001" Warning,
    /// No branch is taken if no condition is true.
    NoDefault = "CN-003" Warning,
    /// A condition cannot be parsed.
    BadExpression = "CN-004" Error,
    /// The name of a condition is reserved.
    ReservedName = "CN-005" Error,
    /// A conditional node has no conditions.
    NoConditions = "CN-006" Error,
    /// A condition uses a text as another type, so the text decides nothing.
    TextInCondition = "CN-007" Warning,
    /// A task names an agent that does not exist.
    UndefinedAgent = "AT-001" Error,
    /// The provider of an agent is unknown.
    UnknownProvider = "AT-002" Error,
    /// The tool of an agent is unknown.
    UnknownTool = "AT-004" Error,
    /// The strategy is unknown.
    UnknownStrategy = "AT-005" Error,
    /// The order of the tasks is not complete, or a task uses the result of one that does not run before it.
    BadTaskOrder = "AT-006" Error,
    /// Tasks depend on each other in a circle.
    TaskCycle = "AT-007" Error,
    /// A reference names a task that does not exist.
    UnknownTask = "AT-008" Error,
    /// A task is never executed.
    OrphanTask = "AT-009" Error,
    /// A required field of a workflow is missing or empty.
    MissingInWorkflow = "AT-010" Error,
    /// The name of an agent or a task has a wrong form.
    BadName = "AT-012" Error,
    /// The condition of a task cannot be parsed.
    BadTaskCondition = "AT-013" Error,
    /// The kind or the version of the format of a workflow is unknown.
    BadWorkflowFormat = "AT-014" Error,
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl crate::source::Code for Code {
    const SYNTAX: Self = Code::Syntax;
    const TOO_LARGE: Self = Code::TooLarge;
    const WRONG_VALUE: Self = Code::WrongValue;
    const DUPLICATE_NAME: Self = Code::DuplicateKey;

    fn as_str(&self) -> &'static str {
        Code::as_str(*self)
    }

    fn severity(&self) -> Severity {
        Code::severity(*self)
    }
}

/// Something that is wrong with a document.
///
/// ```
/// use petalflow_document_model::documents::{Catalog, Source};
///
/// let text = r#"{"id": "g", "version": "1", "nodes": [], "edges": [], "entry": "a"}"#;
/// let errors = Source::new("g.json", text).check(&Catalog::default()).unwrap_err();
/// assert_eq!(errors.to_string(), "g.json:1:64: error[GR-007]: entry `a` is not a node");
/// assert_eq!(errors.iter().next().unwrap().pointer, "/entry");
/// ```
pub type Diagnostic = crate::source::Diagnostic<Code>;

/// All that is wrong with a document, in the order of the text.
pub type Diagnostics = crate::source::Diagnostics<Code>;

pub(crate) type Report = crate::source::Report<Code>;
pub(crate) type Codes = crate::source::Codes<Code>;
