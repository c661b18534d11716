//! The events of threads, as clients receive them.
//!
//! Clients receive what these types write, and the OpenAPI document and the page `events` of the reference are made from them.

mod failure;
mod question;
mod record;

pub(crate) use failure::NodeFailure;
pub(crate) use question::OpenInterrupt;
pub(crate) use record::{ThreadEvent, served};
