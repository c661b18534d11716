//! Threads without the types of their flow: all that is done with a thread.
//!
//! [`Threads`](super::Threads) and [`Thread`](super::Thread) are these with the types of a flow. The futures here are boxed:
//! the body of an async function is otherwise compiled again by each crate that awaits it.

mod attributes;
mod begin_at;
mod bulk;
mod children;
mod reading;
mod thread;
mod threads;
mod wake;

pub(super) use reading::check_labels;
pub(crate) use thread::AnyThread;
pub(crate) use threads::AnyThreads;
pub(super) use wake::{WakeReport, WakeSettings};
