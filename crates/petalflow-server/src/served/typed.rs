//! The threads of a flow of one type.

use std::sync::Arc;
use std::time::SystemTime;

use futures_util::StreamExt;
#[cfg(feature = "protocol")]
use petalflow::checkpoint::ThreadInfo;
use petalflow::checkpoint::ThreadStatus;
use petalflow::event::{Event, EventKind, EventName, Namespace};
use petalflow::run::CancelToken;
use petalflow::state::{State, Storable};
use petalflow::thread::{
    CheckpointInfo, Edit, FollowedEvents, HistoryQuery, OnBusy, Thread, ThreadError, ThreadFile,
    ThreadRun, Threads,
};
use petalflow::{Flow, RunError, async_trait};
use petalflow_documents::Envelope;
use serde_json::{Map, Value};

use super::facts::Facts;
#[cfg(feature = "protocol")]
use super::question::Questions;
use super::question::{AnswerBody, unfit};
use super::refused_answer::RefusedAnswer;
use super::threads::{
    HookThreads, Input, InputValue, Labels, ReadThreads, RunEvent, RunEvents, ServedThreads, Stop,
};
#[cfg(feature = "protocol")]
use super::turn_view::TurnView;
use super::typed_flow::TypedFlow;
use crate::refusal::Refusal;

/// How many events of a thread are stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventLog(pub(crate) u64);

/// A flow with the store of a server.
pub(crate) struct TypedThreads<F: Flow> {
    flow: Arc<TypedFlow<F>>,
    threads: Threads<F>,
}

/// Whether clients receive an event.
fn is_of_interest(namespace: &Namespace, kind: &str) -> bool {
    let is_of_engine = matches!(
        EventName::named(kind),
        Some(EventName::SuperstepStarted | EventName::SuperstepFinished | EventName::Checkpoint)
    );
    namespace.as_str().is_empty() || !is_of_engine
}

impl<F: Flow<State: Storable>> TypedThreads<F> {
    pub(super) fn new(flow: TypedFlow<F>, threads: Threads<F>, log: EventLog) -> Self {
        let threads = match log {
            EventLog(0) => threads,
            EventLog(events) => threads.event_log(events).event_log_filter(is_of_interest),
        };
        TypedThreads {
            flow: Arc::new(flow),
            threads,
        }
    }

    /// The thread, to read it.
    fn thread(&self, id: &str) -> Thread<F> {
        self.threads.thread(id)
    }

    /// The thread, to run it until this token stops the run.
    fn run_of(&self, id: &str, token: &CancelToken) -> Thread<F> {
        let threads = self.threads.clone().cancel_with(token);
        threads.on_busy(OnBusy::Refuse).thread(id)
    }
}

/// The edit that sets these keys.
pub(super) fn edit_of<S: State>(
    keys: Map<String, Value>,
    node: Option<String>,
) -> Result<Edit<S>, Refusal> {
    let edit = Edit::of_keys(keys).map_err(|error| unfit(error.to_string()))?;
    Ok(match node {
        Some(node) => edit.by(node),
        None => edit,
    })
}

/// Stores the start of a run, and returns its events.
async fn begun<F: Flow>(run: ThreadRun<F>) -> Result<RunEvents, RunError> {
    let run = run.begin().await?;
    Ok(run.events().map(run_event).boxed())
}

fn run_event<S: State>(event: Event<S>) -> RunEvent {
    RunEvent {
        #[cfg(feature = "protocol")]
        live: crate::turn_parts::LiveEvent::of(&event),
        #[cfg(feature = "agent")]
        output: crate::partial_outputs::OutputChange::of(&event),
        #[cfg(feature = "metrics")]
        node: crate::metrics::NodeEvent::of(&event),
        asks: matches!(event.kind, EventKind::Asked { .. }),
        failure: match event.kind {
            EventKind::Failed { error } => Some(error.into()),
            _ => None,
        },
    }
}

#[async_trait]
impl<F: Flow<State: Storable>> ReadThreads for TypedThreads<F> {
    fn facts(&self) -> &Facts {
        &self.flow.facts
    }

    fn stored_name(&self) -> &str {
        &self.flow.facts.stored_name
    }

    fn description(&self) -> Value {
        self.flow.facts.value(self.flow.forms.questions.schemas())
    }

    async fn view(&self, thread: &str, checkpoint: Option<u64>) -> Result<Option<Value>, Refusal> {
        self.flow.view(&self.thread(thread), checkpoint).await
    }

    async fn history(
        &self,
        thread: &str,
        query: HistoryQuery,
    ) -> Result<Vec<CheckpointInfo>, Refusal> {
        Ok(self.thread(thread).history(query).await?)
    }

    async fn export(&self, thread: &str) -> Result<ThreadFile, Refusal> {
        let secrets = &self.flow.facts.secrets;
        Ok(self.thread(thread).export_without(secrets).await?)
    }

    fn follow(&self, thread: &str, number: u64) -> FollowedEvents {
        self.thread(thread).follow(number)
    }
}

#[async_trait]
impl<F: Flow<State: Storable>> ServedThreads for TypedThreads<F> {
    fn check_input(&self, value: InputValue) -> Result<(), Refusal> {
        self.flow.read_input(value).map(drop)
    }

    async fn begin(
        &self,
        thread: &str,
        input: Input,
        token: &CancelToken,
    ) -> Result<RunEvents, Refusal> {
        let value = self.flow.read_input(input.value)?;
        let threads = self.threads.clone().cancel_with(token);
        let threads = threads.on_busy(if input.rolls_back {
            OnBusy::Rollback
        } else {
            OnBusy::Refuse
        });
        let thread = threads.thread(thread);
        if !input.labels.is_empty() {
            thread.set_labels(input.labels).await?;
        }
        let run = thread.run(value);
        let run = if input.discards {
            run.discard_pending()
        } else {
            run
        };
        Ok(begun(run).await?)
    }

    async fn begin_at(&self, thread: &str, input: Input, at: SystemTime) -> Result<(), Refusal> {
        let value = self.flow.read_input(input.value)?;
        let thread = self.thread(thread);
        if !input.labels.is_empty() {
            thread.set_labels(input.labels).await?;
        }
        Ok(thread.begin_at(value, at).await?)
    }

    async fn answer(
        &self,
        thread: &str,
        question: &str,
        answer: AnswerBody,
        token: &CancelToken,
    ) -> Result<RunEvents, Refusal> {
        let refused = RefusedAnswer::default();
        let with = self.flow.resume_with(question, answer, refused.clone())?;
        let begun = begun(self.run_of(thread, token).resume(with)).await;
        begun.map_err(|error| refused.or(error.into()))
    }

    async fn resume(&self, thread: &str, token: &CancelToken) -> Result<RunEvents, Refusal> {
        Ok(begun(self.run_of(thread, token).resume(())).await?)
    }

    async fn recover(&self, thread: &str, token: &CancelToken) -> Result<RunEvents, RunError> {
        begun(self.run_of(thread, token).recover()).await
    }

    #[cfg(feature = "protocol")]
    async fn info(&self, thread: &str) -> Result<Option<ThreadInfo>, Refusal> {
        Ok(self.thread(thread).info().await?)
    }

    #[cfg(feature = "protocol")]
    async fn turn_view(
        &self,
        thread: &str,
        checkpoint: Option<u64>,
    ) -> Result<Option<TurnView>, Refusal> {
        self.flow.turn_view(&self.thread(thread), checkpoint).await
    }

    #[cfg(feature = "protocol")]
    fn questions(&self) -> &Questions {
        &self.flow.forms.questions
    }

    #[cfg(feature = "protocol")]
    async fn events_since(
        &self,
        thread: &str,
        number: u64,
    ) -> Result<Vec<petalflow::event::LoggedEvent>, ThreadError> {
        self.thread(thread).events_since(number).await
    }

    #[cfg(feature = "protocol")]
    async fn last_event(&self, thread: &str) -> Result<u64, ThreadError> {
        self.thread(thread).last_event().await
    }

    async fn edit(
        &self,
        thread: &str,
        keys: Map<String, Value>,
        node: Option<String>,
    ) -> Result<u64, Refusal> {
        let edit = edit_of(keys, node)?;
        Ok(self.thread(thread).update(edit).await?)
    }

    async fn send(
        &self,
        thread: &str,
        key: String,
        value: Value,
        id: Option<String>,
    ) -> Result<Option<u64>, Refusal> {
        let sent = self.thread(thread).send_value(&key, value, id).await?;
        Ok(Some(sent))
    }

    async fn fork(&self, thread: &str, checkpoint: u64) -> Result<u64, Refusal> {
        Ok(self.thread(thread).fork(checkpoint).await?)
    }

    async fn fork_to(&self, thread: &str, checkpoint: u64, to: &str) -> Result<(), ThreadError> {
        self.thread(thread).fork_to(checkpoint, to).await.map(drop)
    }

    async fn copy(&self, thread: &str, to: &str) -> Result<(), ThreadError> {
        self.thread(thread).copy_to(to).await.map(drop)
    }

    async fn set_labels(&self, thread: &str, labels: Labels) -> Result<(), Refusal> {
        Ok(self.thread(thread).set_labels(labels).await?)
    }

    async fn delete(&self, thread: &str) -> Result<(), ThreadError> {
        self.thread(thread).delete().await
    }

    async fn stop(&self, thread: &str, stop: Stop) -> Result<ThreadStatus, Refusal> {
        let thread = self.thread(thread);
        let status = match stop {
            Stop::Cancel => thread.cancel(),
            Stop::Hold => thread.hold(),
            Stop::Drain => thread.drain(),
        };
        Ok(status.await?)
    }
}

#[async_trait]
impl<F: Flow<State = Envelope>> HookThreads for TypedThreads<F> {
    async fn begin_with(
        &self,
        thread: &str,
        input: Envelope,
        token: &CancelToken,
    ) -> Result<RunEvents, Refusal> {
        Ok(begun(self.run_of(thread, token).run(input)).await?)
    }

    async fn envelope(&self, thread: &str) -> Result<Option<Envelope>, ThreadError> {
        let snapshot = self.thread(thread).snapshot().await?;
        Ok(snapshot.map(|snapshot| snapshot.state))
    }
}
