//! Limits on what an agent uses: requests, tokens, money and tool calls.

mod error;
mod limits;
mod meter;
mod usage;

pub use error::{LimitExceeded, LimitKind, LimitScope};
pub use limits::Limits;
pub(crate) use limits::{At, NextRequest};
pub(crate) use meter::{Meter, Share};
pub use usage::Usage;
