//! Flows that clients start and see, and their threads.

mod drawing;
mod envelope;
mod facts;
mod flow;
mod forms;
mod question;
mod stored;
mod threads;
mod typed;
mod view;

pub(crate) use facts::Facts;
pub use facts::FlowKind;
pub use flow::ServedFlow;
#[cfg(feature = "agent")]
pub(crate) use forms::keys;
pub(crate) use question::AnswerBody;
pub(crate) use stored::StoredFlow;
pub(crate) use threads::{
    HookThreads, Input, InputValue, Labels, ReadThreads, RunEvents, ServedThreads, no_thread,
};
pub(crate) use typed::EventLog;
