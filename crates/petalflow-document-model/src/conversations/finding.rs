//! The findings of the checks, with their codes.

use std::fmt;

use crate::source::{Pointer, Report, Severity};
use serde::Serialize;

use crate::conversations::names::Hints;

/// What is wrong, as a code that does not change.
///
/// ```
/// use petalflow_document_model::conversations::{Code, Severity};
///
/// assert_eq!(Code::UnknownNode.severity(), Severity::Error);
/// assert_eq!(Code::UnreachableNode.severity(), Severity::Warning);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Code {
    /// The text is not JSON or YAML.
    Syntax,
    /// The document is too large or too deep.
    TooLarge,
    /// A name occurs twice in an object.
    DuplicateName,
    /// The document has none of the known forms.
    UnknownForm,
    /// There is no field with this name.
    UnknownField,
    /// A required field is missing or empty.
    MissingField,
    /// A value has the wrong type, or is not one of the allowed ones.
    WrongValue,
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
    /// A name of a node is empty, where none is needed.
    NoTarget,
}

impl Code {
    /// Whether the document can be used in spite of it.
    pub fn severity(self) -> Severity {
        match self {
            Code::SilentAction
            | Code::UnreachableNode
            | Code::BadName
            | Code::Stale
            | Code::NoTarget => Severity::Warning,
            _ => Severity::Error,
        }
    }

    /// Returns the code as it is printed.
    ///
    /// ```
    /// use petalflow_document_model::conversations::Code;
    ///
    /// assert_eq!(Code::UnknownNode.as_str(), "CV-002");
    /// ```
    pub fn as_str(self) -> &'static str {
        match self {
            Code::Syntax => "CV-101",
            Code::TooLarge => "CV-102",
            Code::DuplicateName => "CV-103",
            Code::UnknownForm => "CV-104",
            Code::UnknownField => "CV-105",
            Code::MissingField => "CV-106",
            Code::WrongValue => "CV-107",
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
            Code::NoTarget => "CV-017",
        }
    }
}

impl crate::source::Code for Code {
    const SYNTAX: Self = Code::Syntax;
    const TOO_LARGE: Self = Code::TooLarge;
    const WRONG_VALUE: Self = Code::WrongValue;
    const DUPLICATE_NAME: Self = Code::DuplicateName;

    fn as_str(&self) -> &'static str {
        Code::as_str(*self)
    }

    fn severity(&self) -> Severity {
        Code::severity(*self)
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// What is wrong with a text, with file, line and column.
///
/// ```
/// use petalflow_document_model::conversations::{Code, Diagnostic, Source, check};
///
/// let errors = check(&Source::new("a.json", "{")).unwrap_err();
/// let first: &Diagnostic = errors.iter().next().unwrap();
/// assert_eq!(first.code, Code::Syntax);
/// ```
pub type Diagnostic = crate::source::Diagnostic<Code>;

/// All that is wrong with a text, in its order. As text it is one line for each.
///
/// ```
/// use petalflow_document_model::conversations::{Diagnostics, Source, check};
///
/// let errors: Diagnostics = check(&Source::new("a.json", "{}")).unwrap_err();
/// assert!(errors.has_errors());
/// ```
pub type Diagnostics = crate::source::Diagnostics<Code>;

/// Something that is wrong with a document.
///
/// ```
/// use petalflow_document_model::conversations::Code;
/// use petalflow_document_model::conversations::config::FlowConfig;
///
/// let config: FlowConfig = serde_json::from_str(r#"{ "initial_node": "b", "nodes": { "a": { "task_messages": [] } } }"#)?;
/// let finding = &config.findings()[0];
/// assert_eq!(finding.pointer, "/initial_node");
/// assert_ne!(finding.code, Code::Syntax);
/// # Ok::<(), serde_json::Error>(())
/// ```
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
        write!(
            f,
            "{}[{}] at `{}`: {}",
            self.severity,
            self.code.as_str(),
            self.pointer,
            self.message
        )
    }
}

/// Collects what is wrong.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    findings: Vec<Finding>,
    pub(crate) hints: Hints,
}

impl Findings {
    pub(crate) fn add(&mut self, code: Code, pointer: Pointer, message: String) {
        self.findings.push(Finding {
            code,
            severity: code.severity(),
            pointer,
            message,
        });
    }

    pub(crate) fn into_vec(self) -> Vec<Finding> {
        self.findings
    }
}

/// Adds findings to a report.
pub(crate) fn report(findings: Vec<Finding>, report: &mut Report<Code>) {
    for finding in findings {
        if finding.code == Code::UnknownField {
            report.add_at_name(finding.code, finding.pointer, finding.message);
        } else {
            report.add(finding.code, finding.pointer, finding.message);
        }
    }
}
