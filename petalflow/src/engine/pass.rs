//! A pass: a run over the records of a thread, which ends after one superstep.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::pass_store::{PassStore, Sent};
use super::placement::TaskRequest;
use super::records::{RecordChanges, RecordsError};
use crate::checkpoint::{CodecError, StoreError, ThreadStatus};
use crate::ids::TaskId;
use crate::outcome::{RunError, RunErrorKind};
use crate::state::State;
use crate::thread::Outcome;
use petalflow_codec::{Unpack, pack, unpack};

/// A run over the records of a thread, which ends after one superstep. Made by
/// [`ThreadEngine::advance`](super::ThreadEngine::advance) and [`run_task`](super::ThreadEngine::run_task), which have examples.
///
/// It runs on a task of tokio, which ends when the pass is dropped.
#[derive(Debug)]
pub struct Pass {
    batches: mpsc::UnboundedReceiver<Sent>,
    /// Tells the task that its last batch was recorded.
    recorded: Option<oneshot::Sender<()>>,
    task: JoinHandle<()>,
}

/// What a pass hands out at a time. Its caller records it before it asks for the next one.
///
/// ```
/// use petalflow::engine::Batch;
///
/// let batch = Batch::default();
/// assert_eq!(Batch::from_bytes(&batch.to_bytes())?, batch);
/// # Ok::<(), petalflow::engine::RecordsError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// What has changed since the last batch.
    pub changes: RecordChanges,
    /// The tasks that other processes have to run.
    pub requests: Vec<TaskRequest>,
    /// How the pass ended. It is in the last batch.
    pub end: Option<PassEnd>,
}

/// How a pass ended.
///
/// ```
/// use petalflow::checkpoint::ThreadStatus;
/// use petalflow::engine::PassEnd;
///
/// let end = PassEnd { status: ThreadStatus::Finished, due_ms: None, committed: true, failure: None };
/// assert!(!end.continues());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassEnd {
    /// The status of the thread. [`Running`](ThreadStatus::Running): there is another superstep, or this one is not complete.
    pub status: ThreadStatus,
    /// When the thread has to be advanced although it waits, in milliseconds since 1970 (UTC): a question expires.
    pub due_ms: Option<u64>,
    /// Whether a checkpoint of the thread's own flow was made.
    pub committed: bool,
    /// Why the run failed.
    pub failure: Option<String>,
}

impl PassEnd {
    /// Whether the next superstep can begin.
    pub fn continues(&self) -> bool {
        self.committed && self.status == ThreadStatus::Running
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Pass {
    /// Runs the future as the run of a pass.
    pub(super) fn start<S: State>(
        flow: String,
        prepared: impl Future<Output = Result<(PassStore, BoxedRun<S>), RecordsError>> + Send + 'static,
        sender: mpsc::UnboundedSender<Sent>,
        batches: mpsc::UnboundedReceiver<Sent>,
    ) -> Self {
        let task = tokio::spawn(async move {
            let batch = match drive(flow, prepared).await {
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
            // Of a pass that was dropped, nobody takes batches.
            let _ = sender.send((batch, None));
        });
        Pass {
            batches,
            recorded: None,
            task,
        }
    }

    /// A pass that has nothing to do.
    pub(super) fn ended(end: PassEnd) -> Self {
        let (sender, batches) = mpsc::unbounded_channel();
        let batch = Batch {
            end: Some(end),
            ..Batch::default()
        };
        // Its receiver is here.
        let _ = sender.send((batch, None));
        let task = tokio::spawn(std::future::ready(()));
        Pass {
            batches,
            recorded: None,
            task,
        }
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

pub(super) type BoxedRun<S> = crate::future::BoxFuture<'static, Result<Outcome<S>, RunError>>;

/// Runs to the end, and returns the last batch.
async fn drive<S: State>(
    flow: String,
    prepared: impl Future<Output = Result<(PassStore, BoxedRun<S>), RecordsError>>,
) -> Result<Batch, RecordsError> {
    let (store, run) = prepared.await?;
    let before = store.known().await.newest();
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
            None => store.send_news().await?,
        }
    };
    let failure = settle(&store, &flow, outcome.err()).await?;
    let info = store.info().await?;
    let mut batch = store.batch(None).await?;
    batch.end = Some(PassEnd {
        status: info.status,
        due_ms: info.due_ms,
        committed: store.known().await.newest() != before,
        failure,
    });
    Ok(batch)
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

impl Batch {
    /// The batch as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        pack::array(3, &mut out);
        self.changes.pack(&mut out);
        pack::list(self.requests.iter(), &mut out, |request, out| {
            pack::array(3, out);
            pack::bytes(&request.task.to_bytes(), out);
            pack::text(&request.node, out);
            pack::text(&request.pool, out);
        });
        pack::option(self.end.as_ref(), &mut out, |end, out| {
            pack::array(4, out);
            pack::text(end.status.as_str(), out);
            pack::option(end.due_ms, out, pack::number);
            pack::boolean(end.committed, out);
            pack::option(end.failure.as_deref(), out, pack::text);
        });
        out
    }

    /// The batch with these bytes.
    ///
    /// # Errors
    ///
    /// These are not bytes of a batch.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordsError> {
        Ok(unpack(bytes, |from| {
            from.tuple(3)?;
            Ok(Batch {
                changes: RecordChanges::unpack(from)?,
                requests: from.list(unpack_request)?,
                end: from.option(unpack_end)?,
            })
        })?)
    }
}

fn unpack_request(from: &mut Unpack<'_>) -> Result<TaskRequest, CodecError> {
    from.tuple(3)?;
    let task = <[u8; 16]>::try_from(from.bytes()?);
    let task =
        task.map_err(|_| CodecError::Unknown("an id of a task with another length".into()))?;
    Ok(TaskRequest {
        task: TaskId::from_bytes(task),
        node: from.text()?,
        pool: from.text()?,
    })
}

fn unpack_end(from: &mut Unpack<'_>) -> Result<PassEnd, CodecError> {
    from.tuple(4)?;
    let status = from.str()?;
    let known = ThreadStatus::named(status);
    Ok(PassEnd {
        status: known.ok_or_else(|| CodecError::Unknown(format!("the status `{status}`")))?,
        due_ms: from.option(Unpack::number)?,
        committed: from.boolean()?,
        failure: from.option(Unpack::text)?,
    })
}
