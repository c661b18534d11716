//! What is done about missing variables.

use serde::Serialize;

/// How a template handles a missing variable.
///
/// ```
/// use petalflow_documents::MissingVariable;
///
/// assert_eq!(MissingVariable::default(), MissingVariable::Error);
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MissingVariable {
    /// The node fails.
    #[default]
    Error,
    /// An empty text.
    Empty,
    /// The text `<no value>`, as in PetalFlow. A function that takes a text fails.
    NoValue,
}
