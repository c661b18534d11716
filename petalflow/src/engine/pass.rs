//! A pass: a run over the records of a thread, which ends after one superstep.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::batch::{Batch, PassEnd};
use super::law::Law;
use super::pass_store::{PassStore, Sent};
use super::records_error::RecordsError;
use super::stream::Publisher;
use crate::checkpoint::{StoreError, ThreadStatus};
use crate::erased::StateBox;
use crate::outcome::{RunError, RunErrorKind};
use crate::run::AnyRun;

/// A run over the records of a thread, which ends after one superstep. Made by
/// [`ThreadEngine::advance`](super::ThreadEngine::advance) and [`run_task`](super::ThreadEngine::run_task), which have examples.
///
/// It runs on a task of tokio, which ends when the pass is dropped.
#[derive(Debug)]
pub struct Pass {
    batches: mpsc::UnboundedReceiver<Sent>,
    /// Tells the task that its last batch was recorded.
    recorded: Option<oneshot::Sender<()>>,
    heartbeats: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Pass {
    /// Runs the future as the run of a pass. `None`: there is nothing to do.
    pub(super) fn start(
        flow: String,
        law: Law,
        heartbeats: Arc<AtomicU64>,
        prepared: impl Future<Output = Result<Option<(PassStore, AnyRun)>, RecordsError>>
        + Send
        + 'static,
        publisher: Option<Arc<Publisher>>,
        sender: mpsc::UnboundedSender<Sent>,
        batches: mpsc::UnboundedReceiver<Sent>,
    ) -> Self {
        let task = tokio::spawn(async move {
            let batch = match drive(flow, law, prepared).await {
                Ok(batch) => batch,
                Err(error) => Batch {
                    end: Some(PassEnd {
                        status: ThreadStatus::Failed,
                        due_ms: None,
                        committed: false,
                        failure: Some(error.to_string()),
                    }),
                    ..Batch::default()
                },
            };
            if let Some(publisher) = publisher {
                // So that a listener gets the events of the pass before the event after it.
                publisher.flush().await;
            }
            // Of a pass that was dropped, nobody takes batches.
            let _ = sender.send((batch, None));
        });
        Pass {
            batches,
            recorded: None,
            heartbeats,
            task,
        }
    }

    /// How often nodes of the pass have said that they go on, with [`Context::heartbeat`](crate::Context::heartbeat) or an emitted
    /// value. A caller that stops passes without news compares it.
    pub fn heartbeats(&self) -> u64 {
        self.heartbeats.load(Ordering::Relaxed)
    }

    /// The next batch. The one before it counts as recorded. `None` after the last one.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, no batch is lost.
    pub async fn next(&mut self) -> Option<Batch> {
        if let Some(recorded) = self.recorded.take() {
            // The task of a run that has stopped no longer waits.
            let _ = recorded.send(());
        }
        let (batch, recorded) = self.batches.recv().await?;
        self.recorded = recorded;
        Some(batch)
    }
}

/// Runs to the end, if there is something to do, and returns the last batch.
async fn drive(
    flow: String,
    law: Law,
    prepared: impl Future<Output = Result<Option<(PassStore, AnyRun)>, RecordsError>>,
) -> Result<Batch, RecordsError> {
    let Some((store, run)) = prepared.await? else {
        return Ok(Batch {
            end: Some(PassEnd {
                status: ThreadStatus::Running,
                due_ms: None,
                committed: false,
                failure: None,
            }),
            ..Batch::default()
        });
    };
    let before = store.records().newest("");
    let mut run = pin!(run);
    let outcome = loop {
        let mut news = pin!(store.news());
        let next = poll_fn(|cx| match run.as_mut().poll(cx) {
            Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
            // Only of a run that waits: the last batch has all that is new.
            Poll::Pending => news.as_mut().poll(cx).map(|()| None),
        });
        match next.await {
            Some(outcome) => break outcome,
            None => store.send_news(),
        }
    };
    let failure = settle(&store, &flow, failure_of(outcome)).await?;
    let records = store.records();
    let (status, due_ms) = records.status()?;
    let mut end = PassEnd {
        status,
        due_ms,
        committed: records.newest("") != before,
        failure,
    };
    if let Some(problem) = law.broken(&store, &end) {
        store.set_status(&flow, ThreadStatus::Failed).await?;
        end.status = ThreadStatus::Failed;
        end.failure = Some(problem);
    }
    Ok(store.batch(Some(end)))
}

/// Sets the status of a thread whose run ended with this error, where the run has not. Returns the message if it failed.
pub(super) async fn settle(
    store: &PassStore,
    flow: &str,
    error: Option<RunError>,
) -> Result<Option<String>, StoreError> {
    let Some(error) = error else {
        return Ok(None);
    };
    match error.kind() {
        RunErrorKind::Drained { .. } => {
            store.set_status(flow, ThreadStatus::Running).await?;
            return Ok(None);
        }
        // The run has not described the thread, because it may belong to another run. Here it does not.
        RunErrorKind::Thread { .. } => store.set_status(flow, ThreadStatus::Failed).await?,
        _ => {}
    }
    Ok(Some(error.to_string()))
}

/// The error of a run that did not pause for a person.
pub(super) fn failure_of(ended: Result<StateBox, RunError>) -> Option<RunError> {
    ended.err()?.into_paused_any().err()
}
