//! Decisions: which node follows, by the result of a function.
//!
//! Pipecat's editor exports a decision as a chain of `if` and `elif` in Python. A [`Decision`] gives the same answer
//! without Python.

mod compare;
mod literal;
mod value;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use literal::LiteralError;
pub use value::Value;

/// A comparison of a result with the value of a condition.
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
    /// use petalflow_conversation_document::decision::Operator;
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

/// Conditions that are tried in order, and the node that follows if none is true.
///
/// ```
/// use petalflow_conversation_document::decision::{Decision, Operator};
/// use serde_json::json;
///
/// let mut decision = Decision::new("other");
/// decision.when(Operator::Greater, "17", "adult")?;
/// decision.when(Operator::In, "['child', 'teen']", "minor")?;
///
/// assert_eq!(decision.choose(&json!(40))?, "adult");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decision {
    conditions: Vec<Condition>,
    default: String,
}

#[derive(Clone, Debug)]
struct Condition {
    operator: Operator,
    value: Value,
    node: String,
}

impl Decision {
    /// Creates a decision without conditions. It always chooses `default`.
    pub fn new(default: impl Into<String>) -> Self {
        Decision {
            conditions: Vec::new(),
            default: default.into(),
        }
    }

    /// Adds a condition after those that were added before.
    ///
    /// # Errors
    ///
    /// `value` is not a literal of Python. [`Operator::Not`] does not read `value`.
    pub fn when(
        &mut self,
        operator: Operator,
        value: &str,
        node: impl Into<String>,
    ) -> Result<(), LiteralError> {
        let value = match operator {
            Operator::Not => Value::None,
            _ => value.parse()?,
        };
        self.conditions.push(Condition {
            operator,
            value,
            node: node.into(),
        });
        Ok(())
    }

    /// Returns the node of the first condition that is true of `result`, or the default.
    ///
    /// Comparisons are those of Python: `1`, `1.0` and `True` are equal, and a text is never equal to a number.
    ///
    /// # Errors
    ///
    /// Python cannot compare the two values, for example a text with a number by `<`.
    pub fn choose(&self, result: &serde_json::Value) -> Result<&str, DecisionError> {
        let result = Value::from(result);
        for condition in &self.conditions {
            if compare::apply(condition.operator, &result, &condition.value)? {
                return Ok(&condition.node);
            }
        }
        Ok(&self.default)
    }
}

/// Why a result cannot be compared. Python raises a `TypeError` in these cases.
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
