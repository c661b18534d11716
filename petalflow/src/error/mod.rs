//! What can go wrong: in a node ([`BoxError`]), and in a run ([`RunError`]).

mod failure;
mod node;
mod stored;

use std::error::Error;

pub(crate) use failure::{Failure, Payload};
pub use node::{FailureKind, FailureLog, NodeError};

/// Any error: what a node may fail with.
///
/// ```
/// use petalflow::BoxError;
///
/// fn attempt() -> Result<u32, BoxError> {
///     let n: u32 = "12".parse()?;
///     if n > 10 { Err(format!("{n} is too many").into()) } else { Ok(n) }
/// }
/// assert_eq!(attempt().unwrap_err().to_string(), "12 is too many");
/// ```
pub type BoxError = Box<dyn Error + Send + Sync + 'static>;

/// What nodes return when they can fail: `petalflow::Result<EssayDraft>`.
///
/// ```
/// fn parse(text: &str) -> petalflow::Result<u32> {
///     Ok(text.parse()?)
/// }
/// assert!(parse("petal").is_err());
/// ```
pub type Result<T, E = BoxError> = std::result::Result<T, E>;

/// An error and its sources, in words: what is kept where the error itself cannot be.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let words = cause.to_string();
        // Many errors repeat their source's words in their own.
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        source = cause.source();
    }
    text
}
