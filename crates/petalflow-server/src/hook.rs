//! A trigger of a graph, and the threads that it starts.

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use petalflow::checkpoint::{ThreadInfo, ThreadQuery};
use petalflow::event::Event;
use petalflow::interrupt::Resume;
use petalflow::thread::{FollowedEvents, OnBusy, Snapshot, ThreadError, Threads};
use petalflow::{Flow, RunError, async_trait};
use petalflow_documents::Envelope;
use petalflow_documents::kinds::WebhookTriggerNode;

use crate::SetupError;

/// A trigger of a graph.
pub(crate) struct Hook {
    pub(crate) workflow: String,
    pub(crate) trigger: String,
    pub(crate) node: WebhookTriggerNode,
    pub(crate) threads: Box<dyn HookThreads>,
}

/// The part of a thread's id before this is the graph, and the part up to the next one is the trigger.
const SEPARATOR: char = ':';

impl Hook {
    /// What the ids of all threads of this trigger begin with.
    pub(crate) fn prefix(&self) -> String {
        format!("{}{SEPARATOR}{}{SEPARATOR}", self.workflow, self.trigger)
    }

    /// Whether this trigger has started the thread.
    pub(crate) fn owns(&self, thread: &str) -> bool {
        let id = thread.strip_prefix(&*self.prefix());
        id.is_some_and(|id| id.len() == 32 && id.chars().all(|c| c.is_ascii_hexdigit()))
    }
}

/// Names are parts of addresses and of thread ids.
pub(crate) fn check_name(name: &str) -> Result<(), SetupError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.~".contains(c);
    // A segment of a path with only dots has a meaning of its own.
    let only_dots = name.chars().all(|c| c == '.');
    if only_dots || name.len() > 128 || !name.chars().all(allowed) {
        return Err(SetupError::Name { name: name.into() });
    }
    Ok(())
}

/// The events of a run. The stream drives the run.
pub(crate) type RunEvents = BoxStream<'static, Event<Envelope>>;

/// The threads of a flow, as an object-safe trait over flows of any type.
#[async_trait]
pub(crate) trait HookThreads: Send + Sync {
    async fn begin(&self, thread: &str, input: Envelope) -> Result<RunEvents, RunError>;
    async fn resume(&self, thread: &str, with: Resume<Envelope>) -> Result<RunEvents, RunError>;
    async fn recover(&self, thread: &str) -> Result<RunEvents, RunError>;
    async fn snapshot(&self, thread: &str) -> Result<Option<Snapshot<Envelope>>, ThreadError>;
    async fn info(&self, thread: &str) -> Result<Option<ThreadInfo>, ThreadError>;
    fn follow(&self, thread: &str, number: u64) -> FollowedEvents;
    async fn list(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, ThreadError>;
}

#[async_trait]
impl<F: Flow<State = Envelope>> HookThreads for Threads<F> {
    async fn begin(&self, thread: &str, input: Envelope) -> Result<RunEvents, RunError> {
        let run = self.thread(thread).begin(input).await?;
        Ok(run.events().boxed())
    }

    async fn resume(&self, thread: &str, with: Resume<Envelope>) -> Result<RunEvents, RunError> {
        let threads = self.clone().on_busy(OnBusy::Refuse);
        let run = threads.thread(thread).resume(with).begin().await?;
        Ok(run.events().boxed())
    }

    async fn recover(&self, thread: &str) -> Result<RunEvents, RunError> {
        let threads = self.clone().on_busy(OnBusy::Refuse);
        let run = threads.thread(thread).recover().begin().await?;
        Ok(run.events().boxed())
    }

    async fn snapshot(&self, thread: &str) -> Result<Option<Snapshot<Envelope>>, ThreadError> {
        self.thread(thread).snapshot().await
    }

    async fn info(&self, thread: &str) -> Result<Option<ThreadInfo>, ThreadError> {
        self.thread(thread).info().await
    }

    fn follow(&self, thread: &str, number: u64) -> FollowedEvents {
        self.thread(thread).follow(number)
    }

    async fn list(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, ThreadError> {
        Threads::list(self, query).await
    }
}
