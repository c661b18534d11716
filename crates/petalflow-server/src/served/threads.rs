//! The interface to the threads of a flow of any type.

use std::collections::BTreeMap;
use std::time::SystemTime;

use futures_util::stream::BoxStream;
use petalflow::checkpoint::{StoreError, ThreadInfo, ThreadQuery, ThreadStatus};
use petalflow::run::CancelToken;
use petalflow::thread::{CheckpointInfo, FollowedEvents, HistoryQuery, ThreadError, ThreadFile};
use petalflow::{BoxError, RunError, async_trait};
use petalflow_documents::Envelope;
use serde_json::{Map, Value};

use super::facts::Facts;
use super::question::AnswerBody;
#[cfg(feature = "protocol")]
use super::question::Questions;
#[cfg(feature = "protocol")]
use super::turn_view::TurnView;
use crate::refusal::{NO_THREAD, Refusal};

/// The run of a thread. The stream drives the run.
pub(crate) type RunEvents = BoxStream<'static, RunEvent>;

/// An event of a run, as far as the server needs it.
pub(crate) struct RunEvent {
    /// The error of a run that fails.
    pub(crate) failure: Option<BoxError>,
    /// Whether a question is told while other nodes run.
    pub(crate) asks: bool,
    /// A node that begins or ends.
    #[cfg(feature = "metrics")]
    pub(crate) node: Option<crate::metrics::NodeEvent>,
    /// What readers of a turn need before the log has it.
    #[cfg(feature = "protocol")]
    pub(crate) live: Option<crate::turn_parts::LiveEvent>,
    /// What it changes of the typed answers that models write.
    #[cfg(feature = "agent")]
    pub(crate) output: Option<crate::partial_outputs::OutputChange>,
}

impl RunEvent {
    /// The end of a run, with its error if it has failed.
    pub(super) fn end(failure: Option<BoxError>) -> Self {
        RunEvent {
            failure,
            asks: false,
            #[cfg(feature = "metrics")]
            node: None,
            #[cfg(feature = "protocol")]
            live: None,
            #[cfg(feature = "agent")]
            output: None,
        }
    }
}

/// The labels of a thread, by name.
pub(crate) type Labels = BTreeMap<String, String>;

/// The value of an input.
#[derive(Clone)]
pub(crate) enum InputValue {
    /// As the flow describes it to clients.
    Json(Value),
    /// That of a protocol, for an agent or a conversation.
    #[cfg(feature = "protocol")]
    Turn(Box<crate::turn_parts::TurnInput>),
}

impl From<Value> for InputValue {
    fn from(value: Value) -> Self {
        InputValue::Json(value)
    }
}

/// What begins a turn of a thread.
pub(crate) struct Input {
    pub(crate) value: InputValue,
    /// The labels of a new thread. Empty: those of the thread stay.
    pub(crate) labels: Labels,
    /// Whether open questions are discarded.
    pub(crate) discards: bool,
    /// Whether a turn that was stopped before its end is undone.
    pub(crate) rolls_back: bool,
    /// The id of the queued message that this is, for a thread of an engine: it is remembered together with the input, so that the message
    /// begins one turn. A thread of the store is marked before.
    pub(crate) message: Option<String>,
}

pub(crate) fn no_thread() -> Refusal {
    Refusal::not_found(NO_THREAD)
}

/// The threads of a flow, to be read, as an object-safe trait over flows of any type.
#[async_trait]
pub(crate) trait ReadThreads: Send + Sync {
    fn facts(&self) -> &Facts;
    /// The name of the flow in the store.
    fn stored_name(&self) -> &str;
    /// The facts for clients.
    fn description(&self) -> Value;

    /// The thread, or one of its checkpoints. `None` if there is no such thread.
    async fn view(&self, thread: &str, checkpoint: Option<u64>) -> Result<Option<Value>, Refusal>;
    async fn history(
        &self,
        thread: &str,
        query: HistoryQuery,
    ) -> Result<Vec<CheckpointInfo>, Refusal>;
    /// The thread as one file, without its secrets.
    async fn export(&self, thread: &str) -> Result<ThreadFile, Refusal>;
    fn follow(&self, thread: &str, number: u64) -> FollowedEvents;
}

/// What a server asks of threads that are not in its store.
#[async_trait]
pub(crate) trait Elsewhere: Send + Sync {
    /// What is listed of a thread.
    async fn info(&self, thread: &str) -> Result<Option<ThreadInfo>, StoreError>;
    /// A page of the threads, in the order of their ids.
    async fn list(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError>;
    /// Which of these threads do not go on, and why, as clients see it. Empty if the engine does not say it.
    async fn troubles(&self, threads: &[&str]) -> BTreeMap<String, Value>;
}

/// How the run of a thread is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// At once. The thread is held.
    Cancel,
    /// At the next barrier. The thread is held.
    Hold,
    /// At the next barrier. The next process that recovers threads continues it.
    Drain,
}

impl Stop {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Stop::Cancel => "cancel",
            Stop::Hold => "hold",
            Stop::Drain => "drain",
        }
    }
}

/// The threads of a flow that is run here.
#[async_trait]
pub(crate) trait ServedThreads: ReadThreads {
    /// The threads, if they are not in the store of the server.
    fn elsewhere(&self) -> Option<&dyn Elsewhere> {
        None
    }

    /// Fails if the value is no input of the flow.
    fn check_input(&self, value: InputValue) -> Result<(), Refusal>;

    /// Stores an input.
    async fn begin(
        &self,
        thread: &str,
        input: Input,
        token: &CancelToken,
    ) -> Result<RunEvents, Refusal>;
    /// Stores an input of a new thread, which begins at this time.
    async fn begin_at(&self, thread: &str, input: Input, at: SystemTime) -> Result<(), Refusal>;
    async fn answer(
        &self,
        thread: &str,
        question: &str,
        answer: AnswerBody,
        token: &CancelToken,
    ) -> Result<RunEvents, Refusal>;
    async fn resume(&self, thread: &str, token: &CancelToken) -> Result<RunEvents, Refusal>;
    async fn recover(&self, thread: &str, token: &CancelToken) -> Result<RunEvents, RunError>;

    /// What is listed of a thread. `None` if there is no such thread.
    #[cfg(feature = "protocol")]
    async fn info(&self, thread: &str) -> Result<Option<ThreadInfo>, Refusal>;
    /// The thread, or one of its checkpoints, as readers of its turns need it. `None` if there is no such thread.
    #[cfg(feature = "protocol")]
    async fn turn_view(
        &self,
        thread: &str,
        checkpoint: Option<u64>,
    ) -> Result<Option<TurnView>, Refusal>;
    /// The questions that clients can answer.
    #[cfg(feature = "protocol")]
    fn questions(&self) -> &Questions;
    /// The stored events with numbers above this one, and those that follow, until no run is in progress. Of threads of an engine,
    /// these are not the events that [`follow`](ReadThreads::follow) gives, which can be lost.
    #[cfg(feature = "protocol")]
    fn follow_log(&self, thread: &str, number: u64) -> FollowedEvents {
        self.follow(thread, number)
    }
    /// The stored events with numbers above this one.
    #[cfg(feature = "protocol")]
    async fn events_since(
        &self,
        thread: &str,
        number: u64,
    ) -> Result<Vec<petalflow::event::LoggedEvent>, ThreadError>;
    /// The number of the last stored event; 0 if there is none.
    #[cfg(feature = "protocol")]
    async fn last_event(&self, thread: &str) -> Result<u64, ThreadError>;

    async fn edit(
        &self,
        thread: &str,
        keys: Map<String, Value>,
        node: Option<String>,
    ) -> Result<u64, Refusal>;
    /// Fails if the turn of a thread could not be undone by this input.
    async fn check_rollback(&self, _thread: &str, _value: InputValue) -> Result<(), Refusal> {
        Ok(())
    }
    /// Sends a message: one write to a key that takes messages. Returns its number. `None`: an engine stores it when the superstep has
    /// ended that runs.
    async fn send(
        &self,
        thread: &str,
        key: String,
        value: Value,
        id: Option<String>,
    ) -> Result<Option<u64>, Refusal>;
    async fn fork(&self, thread: &str, checkpoint: u64) -> Result<u64, Refusal>;
    async fn fork_to(&self, thread: &str, checkpoint: u64, to: &str) -> Result<(), ThreadError>;
    async fn copy(&self, thread: &str, to: &str) -> Result<(), ThreadError>;
    async fn set_labels(&self, thread: &str, labels: Labels) -> Result<(), Refusal>;
    async fn delete(&self, thread: &str) -> Result<(), ThreadError>;
    /// Stops the run of a thread, in any process, and waits until no run has it. Returns its status then.
    async fn stop(&self, thread: &str, stop: Stop) -> Result<ThreadStatus, Refusal>;
}

/// The threads of a flow over an envelope, which webhooks start.
#[async_trait]
pub(crate) trait HookThreads: ServedThreads {
    async fn begin_with(
        &self,
        thread: &str,
        input: Envelope,
        token: &CancelToken,
    ) -> Result<RunEvents, Refusal>;
    async fn envelope(&self, thread: &str) -> Result<Option<Envelope>, ThreadError>;
}
