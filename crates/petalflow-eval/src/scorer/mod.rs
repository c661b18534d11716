//! Scorers: they compare what an agent did with what was expected.
//!
//! | scorer | compares | with |
//! | --- | --- | --- |
//! | [`exact`] | the answer | `output`, without spaces around both |
//! | [`contains`] | the answer | `output`, which is a part of it; upper case and lower case are equal |
//! | [`matches()`] | the answer | `output` as a regular expression |
//! | [`json_fields`] | the answer as JSON | `json`, whose fields it must have |
//! | [`calls_in_order`] | the calls | `calls`, in this order; others may be between them |
//! | [`calls_in_any_order`] | the calls | `calls`, in any order; others may be there |
//! | [`exact_calls`] | the calls | `calls`, and no others |
//! | [`similar`] | the answer | `output`, by the similarity of their embeddings |
//! | [`judged`] | the answer | `rubric`, and `output` if there is one, by a model |
//!
//! A scorer of your own implements [`Scorer`].

mod calls;
mod judge;
mod output;
mod similar;

use petalflow::{BoxError, async_trait};

use super::Turn;

pub use calls::{Calls, calls_in_any_order, calls_in_order, exact_calls};
pub use judge::{Judge, judged};
pub use output::{Output, contains, exact, json_fields, matches};
pub use similar::{Similar, similar};

/// Scores a turn: see the [module](self).
///
/// ```
/// use petalflow::{BoxError, async_trait};
/// use petalflow_eval::{Score, Scorer, Turn};
///
/// /// Prefers answers of at most 20 words.
/// struct Brief;
///
/// #[async_trait]
/// impl Scorer for Brief {
///     fn name(&self) -> &str {
///         "brief"
///     }
///
///     async fn score(&self, turn: &Turn<'_>) -> Result<Option<Score>, BoxError> {
///         let words = turn.answer.split_whitespace().count();
///         Ok(Some(if words <= 20 { Score::PASS } else { Score::fail(format!("it has {words} words")) }))
///     }
/// }
/// ```
#[async_trait]
pub trait Scorer: Send + Sync + 'static {
    /// The name, for the report.
    fn name(&self) -> &str;

    /// The score; `None` if the turn does not have what the scorer compares.
    ///
    /// # Errors
    ///
    /// If there is no score. The case has failed then.
    ///
    /// # Cancel safety
    ///
    /// The future may be dropped at any time.
    async fn score(&self, turn: &Turn<'_>) -> Result<Option<Score>, BoxError>;
}

/// A score from 0 to 1, and its reason.
///
/// ```
/// use petalflow_eval::Score;
///
/// assert_eq!(Score::new(1.5, "").value, 1.0);
/// assert_eq!(Score::fail("`Paris` is missing").reason, "`Paris` is missing");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Score {
    /// The value, from 0 to 1.
    pub value: f64,
    /// Why it is not 1. May be empty.
    pub reason: String,
}

impl Score {
    /// The best score.
    pub const PASS: Self = Score {
        value: 1.0,
        reason: String::new(),
    };

    /// A score with its reason. Values outside of 0 to 1 are moved into it, and what is not a number is 0.
    pub fn new(value: f64, reason: impl Into<String>) -> Self {
        Score {
            value: if value.is_nan() {
                0.0
            } else {
                value.clamp(0.0, 1.0)
            },
            reason: reason.into(),
        }
    }

    /// The worst score.
    pub fn fail(reason: impl Into<String>) -> Self {
        Self::new(0.0, reason)
    }

    /// A part of a whole.
    pub(crate) fn part(part: usize, all: usize, reason: impl Into<String>) -> Self {
        Self::new(number(part) / number(all), reason)
    }

    /// [`Score::PASS`] if `passed`, otherwise [`Score::fail`].
    pub(crate) fn pass_if(passed: bool, reason: impl FnOnce() -> String) -> Self {
        if passed {
            Self::PASS
        } else {
            Self::fail(reason())
        }
    }
}

/// A count as a number to divide with.
#[expect(clippy::cast_precision_loss, reason = "no count comes near 2^52")]
pub(crate) fn number(count: usize) -> f64 {
    count as f64
}
