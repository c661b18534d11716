//! A flow whose threads an engine keeps and runs in other processes.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::SystemTime;

use axum::http::StatusCode;
use petalflow::checkpoint::{StoreError, ThreadInfo, ThreadQuery, ThreadStatus};
use petalflow::interrupt::Resume;
use petalflow::run::{CancelToken, RunErrorKind};
use petalflow::state::Storable;
use petalflow::thread::{
    CheckpointInfo, FollowedEvents, HistoryQuery, OnBusy, Thread, ThreadError, ThreadFile,
};
use petalflow::{Flow, RunError, async_trait};
use serde_json::{Map, Value};

use super::facts::Facts;
use super::question::AnswerBody;
#[cfg(feature = "protocol")]
use super::question::Questions;
use super::refused_answer::RefusedAnswer;
use super::remote::RemoteThreads;
#[cfg(feature = "protocol")]
use super::remote_log;
use super::threads::{
    Elsewhere, Input, InputValue, Labels, ReadThreads, RunEvents, ServedThreads, Stop, no_thread,
};
#[cfg(feature = "protocol")]
use super::turn_view::TurnView;
use super::typed::edit_of;
use super::typed_flow::TypedFlow;
use super::{known_message, remote_run, remote_work};
use crate::refusal::Refusal;

/// A flow with the threads of an engine.
pub(crate) struct RemoteFlow<F: Flow> {
    flow: Arc<TypedFlow<F>>,
    threads: Arc<dyn RemoteThreads<F>>,
}

impl<F: Flow<State: Storable>> RemoteFlow<F> {
    pub(super) fn new(flow: TypedFlow<F>, threads: Arc<dyn RemoteThreads<F>>) -> Self {
        RemoteFlow {
            flow: Arc::new(flow),
            threads,
        }
    }

    /// Reads a thread.
    async fn read<T: Send + 'static, D: Future<Output = Result<T, Refusal>> + Send + 'static>(
        &self,
        thread: &str,
        work: impl FnOnce(Thread<F>) -> D + Send + 'static,
    ) -> Result<T, Refusal> {
        remote_work::read(&*self.threads, thread, work).await?
    }

    /// Changes a thread.
    async fn change<T: Send + 'static, D: Future<Output = Result<T, Refusal>> + Send + 'static>(
        &self,
        thread: &str,
        work: impl FnOnce(Thread<F>) -> D + Send + 'static,
    ) -> Result<T, Refusal> {
        remote_work::edit(&*self.threads, thread, work).await?
    }

    /// Where the published events of the thread end now. `None` if no reader needs them: then no piece of an answer arrives before
    /// the log has the whole of it.
    async fn newest_event(&self, thread: &str) -> Option<u64> {
        if !self.threads.has_event_log() {
            return None;
        }
        // A run does not depend on its events.
        self.threads.newest_event(thread).await.ok().flatten()
    }

    /// A run that the engine has begun, whose published events come after this one.
    fn run(&self, thread: &str, token: &CancelToken, published: Option<u64>) -> RunEvents {
        remote_run::events(&self.threads, thread, token, published)
    }
}

/// The outcome of a run that has stored what it begins with. The engine executes its supersteps.
fn stored<T>(outcome: Result<T, RunError>) -> Result<(), Refusal> {
    match outcome {
        Err(error)
            if !matches!(
                error.kind(),
                RunErrorKind::Drained { .. } | RunErrorKind::Rejected { .. }
            ) =>
        {
            Err(error.into())
        }
        _ => Ok(()),
    }
}

/// The thread, whose next turn undoes one that was stopped before its end.
fn instead<F: Flow>(thread: Thread<F>) -> Thread<F> {
    thread.on_busy(OnBusy::Rollback)
}

fn store_error(error: ThreadError) -> StoreError {
    match error {
        ThreadError::Store(error) => error,
        error => StoreError::Other(error.into()),
    }
}

#[async_trait]
impl<F: Flow<State: Storable>> ReadThreads for RemoteFlow<F> {
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
        let flow = Arc::clone(&self.flow);
        let work = async move |thread: Thread<F>| flow.view(&thread, checkpoint).await;
        let mut view = self.read(thread, work).await?;
        if checkpoint.is_none()
            && let Some(Value::Object(view)) = &mut view
            && view.get("status").and_then(Value::as_str) == Some(ThreadStatus::Running.as_str())
        {
            // A thread is shown also if the engine does not say why it does not go on.
            let trouble = self.threads.trouble(thread).await.unwrap_or_default();
            let trouble = trouble.map_or(Value::Null, |trouble| trouble.value());
            view.insert("trouble".into(), trouble);
        }
        Ok(view)
    }

    async fn history(
        &self,
        thread: &str,
        query: HistoryQuery,
    ) -> Result<Vec<CheckpointInfo>, Refusal> {
        let work = async move |thread: Thread<F>| Ok(thread.history(query).await?);
        self.read(thread, work).await
    }

    async fn export(&self, thread: &str) -> Result<ThreadFile, Refusal> {
        let flow = Arc::clone(&self.flow);
        let work = async move |thread: Thread<F>| {
            let secrets = &flow.facts.secrets;
            Ok(thread.export_without(secrets).await?)
        };
        self.read(thread, work).await
    }

    fn follow(&self, thread: &str, number: u64) -> FollowedEvents {
        self.threads.follow(thread, number)
    }
}

#[async_trait]
impl<F: Flow<State: Storable>> Elsewhere for RemoteFlow<F> {
    async fn info(&self, thread: &str) -> Result<Option<ThreadInfo>, StoreError> {
        self.threads.info(thread).await.map_err(store_error)
    }

    async fn list(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        self.threads.list(query).await.map_err(store_error)
    }

    async fn troubles(&self, threads: &[&str]) -> BTreeMap<String, Value> {
        // A list is shown also if the engine does not say why its threads do not go on.
        let troubles = self.threads.troubles(threads).await.unwrap_or_default();
        let shown = troubles
            .into_iter()
            .map(|(thread, trouble)| (thread, trouble.value()));
        shown.collect()
    }
}

#[async_trait]
impl<F: Flow<State: Storable>> ServedThreads for RemoteFlow<F> {
    fn elsewhere(&self) -> Option<&dyn Elsewhere> {
        Some(self)
    }

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
        let Input {
            mut labels,
            discards,
            rolls_back,
            message,
            ..
        } = input;
        let published = self.newest_event(thread).await;
        let work = async move |thread: Thread<F>| {
            if let Some(message) = message {
                let info = thread.info().await?.ok_or_else(no_thread)?;
                // Another process has begun its turn.
                if known_message::is_known(&info.labels, &message) {
                    return Ok(());
                }
                if labels.is_empty() {
                    labels = info.labels;
                }
                let newest = thread.history(HistoryQuery::all().limit(1)).await?;
                let newest = newest.first().map_or(0, |newest| newest.checkpoint);
                labels = known_message::with(labels, &message, newest);
            }
            if !labels.is_empty() {
                thread.set_labels(labels).await?;
            }
            let thread = if rolls_back { instead(thread) } else { thread };
            let run = thread.run(value);
            let run = if discards { run.discard_pending() } else { run };
            stored(run.await)
        };
        self.change(thread, work).await?;
        Ok(self.run(thread, token, published))
    }

    async fn begin_at(&self, thread: &str, input: Input, at: SystemTime) -> Result<(), Refusal> {
        let value = self.flow.read_input(input.value)?;
        let labels = input.labels;
        let work = async move |thread: Thread<F>| {
            if !labels.is_empty() {
                thread.set_labels(labels).await?;
            }
            Ok(thread.begin_at(value, at).await?)
        };
        self.change(thread, work).await
    }

    async fn check_rollback(&self, thread: &str, value: InputValue) -> Result<(), Refusal> {
        let value = self.flow.read_input(value)?;
        let work = async move |thread: Thread<F>| stored(instead(thread).run(value).await);
        self.read(thread, work).await
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
        let published = self.newest_event(thread).await;
        let work = async move |thread: Thread<F>| {
            let begun = stored(thread.resume(with).await);
            begun.map_err(|refusal| refused.or(refusal))
        };
        self.change(thread, work).await?;
        Ok(self.run(thread, token, published))
    }

    async fn resume(&self, thread: &str, token: &CancelToken) -> Result<RunEvents, Refusal> {
        let work = async |thread: Thread<F>| stored(thread.resume(Resume::from(())).await);
        let published = self.newest_event(thread).await;
        if !self.threads.try_again(thread).await? {
            self.change(thread, work).await?;
        }
        Ok(self.run(thread, token, published))
    }

    /// The engine continues its threads itself.
    async fn recover(&self, thread: &str, token: &CancelToken) -> Result<RunEvents, RunError> {
        Ok(self.run(thread, token, None))
    }

    #[cfg(feature = "protocol")]
    fn follow_log(&self, thread: &str, number: u64) -> FollowedEvents {
        remote_log::follow(&self.threads, thread, number)
    }

    #[cfg(feature = "protocol")]
    async fn info(&self, thread: &str) -> Result<Option<ThreadInfo>, Refusal> {
        Ok(self.threads.info(thread).await?)
    }

    #[cfg(feature = "protocol")]
    async fn turn_view(
        &self,
        thread: &str,
        checkpoint: Option<u64>,
    ) -> Result<Option<TurnView>, Refusal> {
        let flow = Arc::clone(&self.flow);
        let work = async move |thread: Thread<F>| flow.turn_view(&thread, checkpoint).await;
        self.read(thread, work).await
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
        let work = async move |thread: Thread<F>| thread.events_since(number).await;
        remote_work::read(&*self.threads, thread, work).await?
    }

    #[cfg(feature = "protocol")]
    async fn last_event(&self, thread: &str) -> Result<u64, ThreadError> {
        let work = async move |thread: Thread<F>| thread.last_event().await;
        remote_work::read(&*self.threads, thread, work).await?
    }

    async fn edit(
        &self,
        thread: &str,
        keys: Map<String, Value>,
        node: Option<String>,
    ) -> Result<u64, Refusal> {
        let edit = edit_of(keys, node)?;
        let work = async move |thread: Thread<F>| Ok(thread.update(edit).await?);
        self.change(thread, work).await
    }

    async fn send(
        &self,
        thread: &str,
        key: String,
        value: Value,
        id: Option<String>,
    ) -> Result<Option<u64>, Refusal> {
        let copies = (key.clone(), value.clone(), id.clone());
        let work = async move |thread: Thread<F>| {
            let (key, value, id) = copies;
            Ok(thread.send_value(&key, value, id).await?)
        };
        match self.change(thread, work).await {
            Err(refusal) if refusal.is_of_busy_thread() => {
                self.threads.send(thread, &key, value, id).await?;
                Ok(None)
            }
            sent => sent.map(Some),
        }
    }

    async fn fork(&self, thread: &str, checkpoint: u64) -> Result<u64, Refusal> {
        let work = async move |thread: Thread<F>| Ok(thread.fork(checkpoint).await?);
        self.change(thread, work).await
    }

    async fn fork_to(&self, thread: &str, checkpoint: u64, to: &str) -> Result<(), ThreadError> {
        let other = to.to_string();
        let work = async move |thread: Thread<F>| thread.fork_to(checkpoint, other).await.map(drop);
        remote_work::make(&*self.threads, thread, to, work).await?
    }

    async fn copy(&self, thread: &str, to: &str) -> Result<(), ThreadError> {
        let other = to.to_string();
        let work = async move |thread: Thread<F>| thread.copy_to(other).await.map(drop);
        remote_work::make(&*self.threads, thread, to, work).await?
    }

    async fn set_labels(&self, thread: &str, labels: Labels) -> Result<(), Refusal> {
        let work = async move |thread: Thread<F>| Ok(thread.set_labels(labels).await?);
        self.change(thread, work).await
    }

    async fn delete(&self, thread: &str) -> Result<(), ThreadError> {
        self.threads.delete(thread).await
    }

    async fn stop(&self, thread: &str, stop: Stop) -> Result<ThreadStatus, Refusal> {
        match stop {
            Stop::Cancel => Ok(self.threads.cancel(thread).await?),
            Stop::Hold => {
                self.threads.hold(thread).await?;
                self.threads.wait(thread).await?;
                let info = self.threads.info(thread).await?.ok_or_else(no_thread)?;
                Ok(info.status)
            }
            Stop::Drain => {
                let text = "an engine runs the thread and continues it itself, so it cannot be drained: send `hold` or `cancel`";
                Err(Refusal::new(StatusCode::CONFLICT, text))
            }
        }
    }
}
