//! Flows that clients start and see, and their threads.

mod drawing;
mod envelope;
mod facts;
mod flow;
mod forms;
mod input_keys;
pub(crate) mod known_message;
mod open_question;
mod plain_words;
mod question;
mod refused_answer;
mod remote;
mod remote_flow;
#[cfg(feature = "protocol")]
mod remote_log;
mod remote_run;
mod remote_trouble;
mod remote_work;
mod stored;
mod threads;
#[cfg(feature = "protocol")]
mod turn_view;
mod typed;
mod typed_flow;
mod view;
mod wait;

pub(crate) use facts::Facts;
pub use facts::FlowKind;
pub use flow::ServedFlow;
#[cfg(feature = "agent")]
pub(crate) use forms::keys;
#[cfg(feature = "protocol")]
pub(crate) use open_question::OpenQuestion;
pub(crate) use question::AnswerBody;
#[cfg(feature = "mcp")]
pub(crate) use question::unfit;
pub use remote::{RemoteThreads, ThreadWork};
pub use remote_trouble::RemoteTrouble;
pub(crate) use stored::StoredFlow;
pub(crate) use threads::{
    Elsewhere, HookThreads, Input, InputValue, Labels, ReadThreads, RunEvents, ServedThreads, Stop,
    no_thread,
};
pub(crate) use typed::EventLog;
#[cfg(any(feature = "a2a", feature = "ag-ui"))]
pub(crate) use wait::field;
#[cfg(feature = "agent")]
pub(crate) use wait::{Wait, WaitKind};
