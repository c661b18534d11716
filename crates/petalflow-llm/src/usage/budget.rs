//! Limits on the tokens and cost of responses.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

use crate::{LlmError, LlmErrorKind, TokenUsage};

/// Limits on the tokens and cost of responses; 0 means no limit.
///
/// ```
/// use petalflow_llm::{LlmErrorKind, TokenUsage};
/// use petalflow_llm::usage::Budget;
///
/// let budget = Budget { output: 100, ..Budget::UNLIMITED };
/// let used = TokenUsage { input: 5_000, output: 101, ..TokenUsage::default() };
/// let error = budget.check(&used).unwrap_err();
/// assert_eq!(error.kind, LlmErrorKind::Budget);
/// assert_eq!(error.to_string(), "101 output tokens are more than the budget of 100; raise `output`, or 0 for no limit");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Budget {
    /// The limit on request tokens.
    pub input: u64,
    /// The limit on response tokens.
    pub output: u64,
    /// The limit on all tokens.
    pub total: u64,
    /// The limit on the cost, in US dollars.
    pub cost: f64,
}

impl Budget {
    /// No limits.
    pub const UNLIMITED: Self = Budget {
        input: 0,
        output: 0,
        total: 0,
        cost: 0.0,
    };

    /// Checks that this usage is within the budget.
    ///
    /// # Errors
    ///
    /// [`LlmErrorKind::Budget`], which names the first limit that was exceeded.
    pub fn check(&self, used: &TokenUsage) -> Result<(), LlmError> {
        let tokens = [
            ("input", used.input, self.input),
            ("output", used.output, self.output),
            ("total", used.total, self.total),
        ];
        for (field, used, limit) in tokens {
            if limit > 0 && used > limit {
                let what = format!("{used} {field} tokens are");
                return Err(exceeded(what, limit, field));
            }
        }
        if self.cost > 0.0 && used.cost > self.cost {
            let what = format!("${} is", used.cost);
            return Err(exceeded(what, format!("${}", self.cost), "cost"));
        }
        Ok(())
    }
}

fn exceeded(what: String, limit: impl Display, field: &str) -> LlmError {
    LlmError::new(
        LlmErrorKind::Budget,
        format!("{what} more than the budget of {limit}; raise `{field}`, or 0 for no limit"),
    )
}
