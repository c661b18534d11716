//! The comparisons of conditions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A comparison of a result with the value of a condition.
///
/// ```
/// use petalflow_document_model::conversations::decision::Operator;
///
/// let operator: Operator = serde_json::from_str(r#""not in""#)?;
/// assert_eq!(operator, Operator::NotIn);
/// assert!(Operator::ALL.contains(&operator));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Operator {
    /// `<`
    #[serde(rename = "<")]
    Less,
    /// `<=`
    #[serde(rename = "<=")]
    LessOrEqual,
    /// `==`
    #[serde(rename = "==")]
    Equal,
    /// `>=`
    #[serde(rename = ">=")]
    GreaterOrEqual,
    /// `>`
    #[serde(rename = ">")]
    Greater,
    /// `!=`
    #[serde(rename = "!=")]
    NotEqual,
    /// `not`: the result is false, empty, zero or `None`. The value is ignored.
    #[serde(rename = "not")]
    Not,
    /// `in`: the value is a list, tuple or set that holds the result, a dictionary with such a key, or a text with
    /// such a part.
    #[serde(rename = "in")]
    In,
    /// `not in`
    #[serde(rename = "not in")]
    NotIn,
}

impl Operator {
    /// All operators, in the order in which the editor offers them.
    pub const ALL: [Operator; 9] = [
        Operator::Less,
        Operator::LessOrEqual,
        Operator::Equal,
        Operator::GreaterOrEqual,
        Operator::Greater,
        Operator::NotEqual,
        Operator::Not,
        Operator::In,
        Operator::NotIn,
    ];

    /// Returns the operator as it is written.
    ///
    /// ```
    /// use petalflow_document_model::conversations::decision::Operator;
    ///
    /// assert_eq!(Operator::NotIn.as_str(), "not in");
    /// ```
    pub const fn as_str(self) -> &'static str {
        match self {
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Equal => "==",
            Operator::GreaterOrEqual => ">=",
            Operator::Greater => ">",
            Operator::NotEqual => "!=",
            Operator::Not => "not",
            Operator::In => "in",
            Operator::NotIn => "not in",
        }
    }
}
