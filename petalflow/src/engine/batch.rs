//! What a pass hands out at a time.

use super::record_changes::RecordChanges;
use super::record_form::{STATUS, own_checkpoints};
use super::records_error::RecordsError;
use crate::checkpoint::{CodecError, ThreadStatus};
use crate::ids::TaskId;
use petalflow_store::codec::{Unpack, pack, unpack};

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

/// A task of a placed node: another process has to run it.
///
/// ```
/// use petalflow::engine::TaskRequest;
/// use petalflow::event::TaskId;
///
/// let request = TaskRequest { task: TaskId::from_bytes([1; 16]), node: "fetch".into(), pool: "crawlers".into() };
/// assert_eq!(request.pool, "crawlers");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskRequest {
    /// The task.
    pub task: TaskId,
    /// The name of its node.
    pub node: String,
    /// The pool of processes that the node is placed on.
    pub pool: String,
}

impl Batch {
    /// The batch of a pass that ran one task, as a change of the whole thread, which has a status of its own.
    /// [`ThreadRecords::apply_task`](super::ThreadRecords::apply_task) makes the change.
    #[must_use]
    pub fn of_task(mut self) -> Self {
        // It has a part of the checkpoint at most.
        let own = own_checkpoints();
        self.changes
            .0
            .retain(|(key, _)| key != STATUS && !key.starts_with(&own));
        self
    }

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
