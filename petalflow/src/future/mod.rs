//! Boxed futures, and panics caught while a future is polled.

mod panic;

pub(crate) use panic::{caught, poll_caught, poll_once};
pub use petalflow_store::BoxFuture;
