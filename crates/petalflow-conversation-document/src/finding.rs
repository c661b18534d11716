//! What is wrong with a document.

use std::fmt;
use std::ops::Deref;

use serde::Serialize;

/// What is wrong, as a code that does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub enum Code {
    /// A node has the name of another.
    DuplicateNode,
    /// A name of a node that does not exist.
    UnknownNode,
    /// No node, or several nodes, are the first.
    InitialNode,
    /// A function has the name of another that is offered at the same node.
    DuplicateFunction,
    /// A function has what it must not have, or lacks what it needs.
    BadFunction,
    /// A case is written twice.
    DuplicateCase,
    /// An action has what it must not have, or lacks what it needs.
    BadAction,
    /// An action does nothing.
    SilentAction,
    /// A placeholder cannot be read.
    BadPlaceholder,
    /// The value of a condition cannot be read.
    BadCondition,
    /// A parameter contradicts itself.
    BadParameter,
    /// A strategy for the context lacks what it needs.
    BadStrategy,
    /// A node that nothing leads to.
    UnreachableNode,
    /// A name that the editor does not accept.
    BadName,
    /// What the editor stores twice does not agree.
    Stale,
    /// A parameter has a type that JSON Schema does not have.
    UnknownType,
}

impl Code {
    /// Whether the document can be used in spite of it.
    pub fn severity(self) -> Severity {
        match self {
            Code::SilentAction
            | Code::UnreachableNode
            | Code::BadName
            | Code::Stale
            | Code::UnknownType => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// Returns the code as it is printed.
    ///
    /// ```
    /// use petalflow_conversation_document::Code;
    ///
    /// assert_eq!(Code::UnknownNode.as_str(), "CV-002");
    /// ```
    pub fn as_str(self) -> &'static str {
        match self {
            Code::DuplicateNode => "CV-001",
            Code::UnknownNode => "CV-002",
            Code::InitialNode => "CV-003",
            Code::DuplicateFunction => "CV-004",
            Code::BadFunction => "CV-005",
            Code::DuplicateCase => "CV-006",
            Code::BadAction => "CV-007",
            Code::SilentAction => "CV-008",
            Code::BadPlaceholder => "CV-009",
            Code::BadCondition => "CV-010",
            Code::BadParameter => "CV-011",
            Code::BadStrategy => "CV-012",
            Code::UnreachableNode => "CV-013",
            Code::BadName => "CV-014",
            Code::Stale => "CV-015",
            Code::UnknownType => "CV-016",
        }
    }
}

/// Whether a document can be used in spite of a [`Finding`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It cannot be used.
    Error,
    /// It can be used, and probably does something else than its author wants.
    Warning,
}

/// Something that is wrong with a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its kind.
    pub code: Code,
    /// Whether the document can be used.
    pub severity: Severity,
    /// The value in the document.
    pub pointer: Pointer,
    /// What is wrong with what, why, and what to do.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        write!(
            f,
            "{severity}[{}] at {}: {}",
            self.code.as_str(),
            self.pointer,
            self.message
        )
    }
}

/// A JSON pointer (RFC 6901): the names and indices that lead to a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Pointer(String);

impl Pointer {
    /// The whole document.
    pub(crate) fn root() -> Self {
        Pointer::default()
    }

    /// The value with this name in this one.
    #[must_use]
    pub(crate) fn name(&self, name: &str) -> Self {
        let escaped = name.replace('~', "~0").replace('/', "~1");
        Pointer(format!("{}/{escaped}", self.0))
    }

    /// The item of this list.
    #[must_use]
    pub(crate) fn item(&self, index: usize) -> Self {
        Pointer(format!("{}/{index}", self.0))
    }
}

impl Deref for Pointer {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<&str> for Pointer {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "/" } else { &self.0 })
    }
}

/// Collects what is wrong.
#[derive(Debug, Default)]
pub(crate) struct Findings(Vec<Finding>);

impl Findings {
    pub(crate) fn add(&mut self, code: Code, pointer: Pointer, message: String) {
        self.0.push(Finding {
            code,
            severity: code.severity(),
            pointer,
            message,
        });
    }

    pub(crate) fn into_vec(self) -> Vec<Finding> {
        self.0
    }
}
