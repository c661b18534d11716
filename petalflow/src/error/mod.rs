//! The errors of nodes ([`BoxError`], [`NodeError`]).

mod failure;
mod node;
mod panic;
mod stored;
mod too_deep;

pub(crate) use failure::{Failure, Payload};
pub use node::{FailureKind, FailureLog, NodeError};
pub(crate) use panic::catch;
pub use panic::{Panicked, catch_panic};
pub(crate) use petalflow_store::error::debug_is_message;
#[doc(inline)]
pub use petalflow_store::error::{BoxError, is_out_of_files, message_with_sources};
pub(crate) use too_deep::{DEFAULT_MAX_DEPTH, TooDeep};

/// The result type of nodes that can fail: `petalflow::Result<EssayDraft>`.
///
/// ```
/// fn parse(text: &str) -> petalflow::Result<u32> {
///     Ok(text.parse()?)
/// }
/// assert!(parse("petal").is_err());
/// ```
pub type Result<T, E = BoxError> = std::result::Result<T, E>;
