//! Messages to a thread that a run has: what happens to them, and what begins the turns of those that wait.

mod advance;
mod message;
mod steering;

pub(crate) use message::{Message, Taken, take};
#[cfg(any(feature = "a2a", feature = "ag-ui", feature = "openai"))]
pub(crate) use message::{check_engine, stop_for, store};
