//! Diagnostics of documents: code, severity, message, and position.

use std::fmt;

use serde::{Serialize, Serializer};

/// The kind of a [`Diagnostic`]: what is wrong, as a code that does not change.
///
/// Each kind of document has an enum of its own, with codes for what can be wrong with any text.
///
/// ```
/// use petalflow_document_model::source::{Code, Severity};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// enum Wrong { Syntax, TooLarge, Value, Twice }
///
/// impl Code for Wrong {
///     const SYNTAX: Self = Wrong::Syntax;
///     const TOO_LARGE: Self = Wrong::TooLarge;
///     const WRONG_VALUE: Self = Wrong::Value;
///     const DUPLICATE_NAME: Self = Wrong::Twice;
///
///     fn as_str(&self) -> &'static str {
///         "W-1"
///     }
///
///     fn severity(&self) -> Severity {
///         Severity::Error
///     }
/// }
/// ```
pub trait Code: Copy + PartialEq + fmt::Debug + 'static {
    /// The text is not JSON or YAML.
    const SYNTAX: Self;
    /// The document is too large or too deep.
    const TOO_LARGE: Self;
    /// A value cannot be represented.
    const WRONG_VALUE: Self;
    /// A name occurs twice in an object.
    const DUPLICATE_NAME: Self;

    /// Returns the code as users see it, such as `GR-001`.
    fn as_str(&self) -> &'static str;

    /// Returns whether a document with it can be used.
    fn severity(&self) -> Severity;
}

fn as_text<C: Code, S: Serializer>(code: &C, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.as_str())
}

/// Whether a document can be used in spite of a [`Diagnostic`].
///
/// ```
/// use petalflow_document_model::source::Severity;
///
/// assert_eq!(Severity::Warning.to_string(), "warning");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// It cannot be used.
    Error,
    /// It can be used, and probably does something else than its author wants.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        })
    }
}

/// A line and a column in a text, both from 1. Columns count characters.
///
/// ```
/// use petalflow_document_model::source::Position;
///
/// let name = Position { line: 2, column: 1 };
/// let value = Position { line: 2, column: 7 };
/// assert!(name < value);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// Something that is wrong with a document.
///
/// ```
/// # #[derive(Clone, Copy, Debug, PartialEq)]
/// # struct Wrong;
/// # impl petalflow_document_model::source::Code for Wrong {
/// #     const SYNTAX: Self = Wrong;
/// #     const TOO_LARGE: Self = Wrong;
/// #     const WRONG_VALUE: Self = Wrong;
/// #     const DUPLICATE_NAME: Self = Wrong;
/// #     fn as_str(&self) -> &'static str { "W-1" }
/// #     fn severity(&self) -> petalflow_document_model::source::Severity { petalflow_document_model::source::Severity::Error }
/// # }
/// use petalflow_document_model::source::{Diagnostic, Position, Severity};
///
/// let diagnostic = Diagnostic {
///     code: Wrong,
///     severity: Severity::Error,
///     message: "a price is not negative".into(),
///     pointer: "/price".into(),
///     file: Some("menu.yaml".into()),
///     position: Some(Position { line: 2, column: 8 }),
/// };
/// assert_eq!(diagnostic.to_string(), "menu.yaml:2:8: error[W-1]: a price is not negative");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(bound = "")]
pub struct Diagnostic<C: Code> {
    /// Its kind.
    #[serde(serialize_with = "as_text")]
    pub code: C,
    /// Whether the document can be used.
    pub severity: Severity,
    /// What is wrong with what, why, and what to do.
    pub message: String,
    /// The value in the document, as a JSON pointer. The value may be missing.
    pub pointer: String,
    /// The file, if the document is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The position of the value in the text; `None` if the document was not read from a text. For a missing value, this is the
    /// position of the object or list that should contain it.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
}

impl<C: Code> fmt::Display for Diagnostic<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}:")?;
        }
        if let Some(Position { line, column }) = self.position {
            write!(f, "{line}:{column}:")?;
        }
        if self.file.is_some() || self.position.is_some() {
            f.write_str(" ")?;
        }
        let Diagnostic {
            severity,
            code,
            message,
            ..
        } = self;
        write!(f, "{severity}[{}]: {message}", code.as_str())
    }
}

/// All that is wrong with a document, in the order of the text.
///
/// As text it is one line for each.
///
/// ```
/// # #[derive(Clone, Copy, Debug, PartialEq)]
/// # struct Wrong;
/// # impl petalflow_document_model::source::Code for Wrong {
/// #     const SYNTAX: Self = Wrong;
/// #     const TOO_LARGE: Self = Wrong;
/// #     const WRONG_VALUE: Self = Wrong;
/// #     const DUPLICATE_NAME: Self = Wrong;
/// #     fn as_str(&self) -> &'static str { "W-1" }
/// #     fn severity(&self) -> petalflow_document_model::source::Severity { petalflow_document_model::source::Severity::Error }
/// # }
/// use petalflow_document_model::source::{Diagnostics, Source};
///
/// let source = Source::new("menu.yaml", "dish: soup\ndish: bread");
/// let (_, found): (_, Diagnostics<Wrong>) = source.inspect(|_, _| Some(()));
/// assert!(found.has_errors());
/// assert_eq!(found.len(), 1);
/// let first = found.errors().next().unwrap();
/// assert_eq!(first.message, "`dish` is there twice, first in line 1");
/// assert_eq!(found.warnings().count(), 0);
/// ```
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(transparent, bound = "")]
pub struct Diagnostics<C: Code>(Vec<Diagnostic<C>>);

/// The text, which is what `main` prints if it returns them.
impl<C: Code> fmt::Debug for Diagnostics<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<C: Code> Default for Diagnostics<C> {
    fn default() -> Self {
        Diagnostics(Vec::new())
    }
}

impl<C: Code> Diagnostics<C> {
    /// Sorts diagnostics by their file and position.
    pub fn new(mut all: Vec<Diagnostic<C>>) -> Self {
        all.sort_by(|a, b| (&a.file, a.position).cmp(&(&b.file, b.position)));
        Diagnostics(all)
    }

    /// Whether one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    /// The errors.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic<C>> {
        self.iter().filter(|it| it.severity == Severity::Error)
    }

    /// The warnings.
    pub fn warnings(&self) -> impl Iterator<Item = &Diagnostic<C>> {
        self.iter().filter(|it| it.severity == Severity::Warning)
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic<C>> {
        self.0.iter()
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl<'a, C: Code> IntoIterator for &'a Diagnostics<C> {
    type Item = &'a Diagnostic<C>;
    type IntoIter = std::slice::Iter<'a, Diagnostic<C>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<C: Code> fmt::Display for Diagnostics<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            diagnostic.fmt(f)?;
        }
        Ok(())
    }
}

impl<C: Code> std::error::Error for Diagnostics<C> {}
