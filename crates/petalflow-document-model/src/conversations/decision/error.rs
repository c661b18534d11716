//! Results that Python cannot compare.

use super::operator::Operator;

/// Why a result cannot be compared. Python raises a `TypeError` in these cases.
///
/// ```
/// use petalflow_document_model::conversations::decision::{Decision, DecisionError, Operator};
/// use serde_json::json;
///
/// let mut decision = Decision::new("other");
/// decision.when(Operator::Greater, "17", "adult")?;
/// let error = decision.choose(&json!("forty")).unwrap_err();
/// assert!(matches!(error, DecisionError::Unordered { left: "str", right: "int", .. }));
/// # Ok::<(), petalflow_document_model::conversations::decision::LiteralError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecisionError {
    /// The two types have no order.
    #[error(
        "`{left} {} {right}` has no answer: values of the types `{left}` and `{right}` have no order. Return a result \
         of the type that the condition has, or correct the condition", operator.as_str()
    )]
    Unordered {
        /// The operator.
        operator: Operator,
        /// The type of the result.
        left: &'static str,
        /// The type of the condition's value.
        right: &'static str,
    },
    /// A set or a dictionary cannot hold the result.
    #[error(
        "a `{container}` cannot hold a `{item}`: compare a part of the result, or use a list in the condition"
    )]
    Unhashable {
        /// The type of the result.
        item: &'static str,
        /// The type of the condition's value.
        container: &'static str,
    },
    /// The value of the condition cannot contain the result.
    #[error(
        "a `{item}` cannot be in a `{container}`: write a list, for example `[1, 2]`, in the condition"
    )]
    NoContainer {
        /// The type of the result.
        item: &'static str,
        /// The type of the condition's value.
        container: &'static str,
    },
}
