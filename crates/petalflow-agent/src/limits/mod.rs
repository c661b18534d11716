//! Limits on what an agent uses: requests, tokens, money and tool calls.

mod bounds;
mod error;
mod meter;
mod usage;

pub use bounds::Limits;
pub(crate) use bounds::{At, NextRequest};
pub use error::{LimitExceeded, LimitKind, LimitScope};
pub(crate) use meter::{CallLimits, Meter, OwnShare, Share};
pub use usage::Usage;
