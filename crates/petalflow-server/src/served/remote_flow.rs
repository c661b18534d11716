//! A flow whose threads an engine keeps and runs in other processes.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::StatusCode;
use futures_util::future::BoxFuture;
use futures_util::{StreamExt as _, stream};
use petalflow::checkpoint::{StoreError, ThreadInfo, ThreadQuery, ThreadStatus};
use petalflow::interrupt::Resume;
use petalflow::run::{CancelToken, RunErrorKind};
use petalflow::state::Storable;
use petalflow::thread::{CheckpointInfo, FollowedEvents, HistoryQuery, Thread, ThreadError};
use petalflow::{Flow, RunError, async_trait};
use serde_json::{Map, Value};

use super::facts::Facts;
use super::question::AnswerBody;
use super::remote::RemoteThreads;
use super::threads::{Elsewhere, Input, Labels, ReadThreads, RunEvents, ServedThreads, no_thread};
use super::typed::edit_of;
use super::typed_flow::TypedFlow;
use crate::refusal::Refusal;

/// A flow with the threads of an engine.
pub(crate) struct RemoteFlow<F: Flow> {
    flow: Arc<TypedFlow<F>>,
    threads: Arc<dyn RemoteThreads<F>>,
}

/// What is done with a copy of a thread.
type Work<F, T> = Box<dyn FnOnce(Thread<F>) -> BoxFuture<'static, Result<T, Refusal>> + Send>;

impl<F: Flow<State: Storable>> RemoteFlow<F> {
    pub(super) fn new(flow: TypedFlow<F>, threads: Arc<dyn RemoteThreads<F>>) -> Self {
        RemoteFlow {
            flow: Arc::new(flow),
            threads,
        }
    }

    /// Reads a thread.
    async fn read<T: Send + 'static>(&self, thread: &str, work: Work<F, T>) -> Result<T, Refusal> {
        let result = Arc::default();
        let work = storing(work, &result);
        self.threads.read(thread, work).await?;
        taken(&result)
    }

    /// Changes a thread.
    async fn change<T: Send + 'static>(
        &self,
        thread: &str,
        work: Work<F, T>,
    ) -> Result<T, Refusal> {
        let result = Arc::default();
        let work = storing(work, &result);
        self.threads.edit(thread, work).await?;
        taken(&result)
    }

    /// A run that the engine has begun. The stream has no events and ends with the run. A server that stops does not wait for it.
    fn run(&self, thread: &str, token: &CancelToken) -> RunEvents {
        let (threads, thread, token) =
            (Arc::clone(&self.threads), thread.to_string(), token.clone());
        let ended = async move {
            tokio::select! {
                // Clients see the state of the thread, whether this fails or not.
                _ = threads.wait(&thread) => {}
                () = drained(&token) => {}
                () = token.cancelled() => {
                    if !token.is_draining() {
                        let _ = threads.cancel(&thread).await;
                    }
                }
            }
        };
        stream::once(ended).filter_map(async |()| None).boxed()
    }
}

/// Completes when the server stops. A token does not wake anyone when it is drained, because runs look at it at their barriers.
async fn drained(token: &CancelToken) {
    while !token.is_draining() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// A place for the result of work on a copy.
type Place<T> = Arc<Mutex<Option<Result<T, Refusal>>>>;

/// The work, which stores its result.
fn storing<F: Flow, T: Send + 'static>(
    work: Work<F, T>,
    result: &Place<T>,
) -> super::remote::ThreadWork<F> {
    let result = Arc::clone(result);
    Box::new(move |thread| {
        Box::pin(async move {
            let done = work(thread).await;
            // Nothing under this lock can panic.
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        })
    })
}

fn taken<T>(result: &Place<T>) -> Result<T, Refusal> {
    let taken = result.lock().unwrap_or_else(PoisonError::into_inner).take();
    taken.unwrap_or_else(|| {
        let text = "the engine has not opened the thread";
        Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, text))
    })
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

fn cannot(what: &str) -> ThreadError {
    ThreadError::Request(format!("threads that an engine runs cannot {what}"))
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
        let work = move |thread: Thread<F>| -> BoxFuture<'static, _> {
            Box::pin(async move { flow.view(&thread, checkpoint).await })
        };
        self.read(thread, Box::new(work)).await
    }

    async fn history(
        &self,
        thread: &str,
        query: HistoryQuery,
    ) -> Result<Vec<CheckpointInfo>, Refusal> {
        let work = move |thread: Thread<F>| -> BoxFuture<'static, _> {
            Box::pin(async move { Ok(thread.history(query).await?) })
        };
        self.read(thread, Box::new(work)).await
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

    async fn cancel(&self, thread: &str) -> Result<bool, Refusal> {
        let info = self.threads.info(thread).await?.ok_or_else(no_thread)?;
        if info.status != ThreadStatus::Running {
            return Ok(false);
        }
        self.threads.cancel(thread).await?;
        Ok(true)
    }
}

#[async_trait]
impl<F: Flow<State: Storable>> ServedThreads for RemoteFlow<F> {
    fn elsewhere(&self) -> Option<&dyn Elsewhere> {
        Some(self)
    }

    #[cfg(feature = "schedules")]
    fn check_input(&self, value: Value) -> Result<(), Refusal> {
        self.flow.read_input(value.into()).map(drop)
    }

    async fn begin(
        &self,
        thread: &str,
        input: Input,
        token: &CancelToken,
    ) -> Result<RunEvents, Refusal> {
        let value = self.flow.read_input(input.value)?;
        let (labels, discards) = (input.labels, input.discards);
        let work = async move |thread: Thread<F>| {
            if !labels.is_empty() {
                thread.set_labels(labels).await?;
            }
            let run = thread.run(value);
            let run = if discards { run.discard_pending() } else { run };
            stored(run.await)
        };
        self.change(thread, Box::new(move |thread| Box::pin(work(thread))))
            .await?;
        Ok(self.run(thread, token))
    }

    async fn answer(
        &self,
        thread: &str,
        question: &str,
        answer: AnswerBody,
        token: &CancelToken,
    ) -> Result<RunEvents, Refusal> {
        let (flow, question) = (Arc::clone(&self.flow), question.to_string());
        let work = async move |thread: Thread<F>| {
            let with = flow.resume_with(&thread, &question, answer).await?;
            stored(thread.resume(with).await)
        };
        self.change(thread, Box::new(move |thread| Box::pin(work(thread))))
            .await?;
        Ok(self.run(thread, token))
    }

    async fn resume(&self, thread: &str, token: &CancelToken) -> Result<RunEvents, Refusal> {
        let work = async |thread: Thread<F>| stored(thread.resume(Resume::from(())).await);
        self.change(thread, Box::new(move |thread| Box::pin(work(thread))))
            .await?;
        Ok(self.run(thread, token))
    }

    /// The engine continues its threads itself.
    async fn recover(&self, thread: &str, token: &CancelToken) -> Result<RunEvents, RunError> {
        Ok(self.run(thread, token))
    }

    #[cfg(feature = "protocol")]
    async fn events_since(
        &self,
        _: &str,
        _: u64,
    ) -> Result<Vec<petalflow::event::LoggedEvent>, ThreadError> {
        Err(cannot("be served by the protocols of agents"))
    }

    #[cfg(feature = "protocol")]
    async fn last_event(&self, _: &str) -> Result<u64, ThreadError> {
        Err(cannot("be served by the protocols of agents"))
    }

    async fn edit(
        &self,
        thread: &str,
        keys: Map<String, Value>,
        node: Option<String>,
    ) -> Result<u64, Refusal> {
        let edit = edit_of(keys, node)?;
        let work = async move |thread: Thread<F>| Ok(thread.update(edit).await?);
        self.change(thread, Box::new(move |thread| Box::pin(work(thread))))
            .await
    }

    async fn fork(&self, thread: &str, checkpoint: u64) -> Result<u64, Refusal> {
        let work = move |thread: Thread<F>| -> BoxFuture<'static, _> {
            Box::pin(async move { Ok(thread.fork(checkpoint).await?) })
        };
        self.change(thread, Box::new(work)).await
    }

    async fn fork_to(&self, _: &str, _: u64, _: &str) -> Result<(), ThreadError> {
        Err(cannot(
            "be forked into another thread: leave out `id` to continue this one from the checkpoint",
        ))
    }

    async fn copy(&self, _: &str, _: &str) -> Result<(), ThreadError> {
        Err(cannot("be copied"))
    }

    async fn set_labels(&self, thread: &str, labels: Labels) -> Result<(), Refusal> {
        let work = async move |thread: Thread<F>| Ok(thread.set_labels(labels).await?);
        self.change(thread, Box::new(move |thread| Box::pin(work(thread))))
            .await
    }

    async fn delete(&self, thread: &str) -> Result<(), ThreadError> {
        self.threads.delete(thread).await
    }
}
