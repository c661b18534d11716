//! Decisions: which node follows, by the result of a function.
//!
//! Pipecat's editor exports a decision as a chain of `if` and `elif` in Python. A [`Decision`] gives the same answer
//! without Python.

mod compare;
mod error;
mod literal;
mod operator;
mod value;

pub use error::DecisionError;
pub use literal::LiteralError;
pub use operator::Operator;
pub use value::Value;

/// Conditions that are tried in order, and the node that follows if none is true.
///
/// ```
/// use petalflow_document_model::conversations::decision::{Decision, Operator};
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
