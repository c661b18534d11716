//! Flows that clients start and see, and their threads.

mod drawing;
mod envelope;
mod facts;
mod flow;
mod forms;
mod question;
mod remote;
mod remote_flow;
#[cfg(feature = "protocol")]
mod remote_log;
mod remote_run;
mod remote_work;
mod stored;
mod threads;
mod typed;
mod typed_flow;
mod view;

pub(crate) use facts::Facts;
pub use facts::FlowKind;
pub use flow::ServedFlow;
#[cfg(feature = "agent")]
pub(crate) use forms::keys;
pub(crate) use question::AnswerBody;
pub use remote::{RemoteThreads, ThreadWork};
pub(crate) use stored::StoredFlow;
pub(crate) use threads::{
    Elsewhere, HookThreads, Input, InputValue, Labels, ReadThreads, RunEvents, ServedThreads,
    no_thread,
};
pub(crate) use typed::EventLog;
