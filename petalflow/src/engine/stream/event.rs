//! An event with where it comes from, as it is published and as it is read.

use crate::checkpoint::CodecError;
use crate::engine::RecordsError;
use crate::event::LoggedEvent;
use crate::ids::TaskId;
use crate::state::RawValue;
use petalflow_store::codec::{pack, unpack};

/// An event of a thread that an engine runs, with where it comes from.
///
/// ```
/// use petalflow::engine::StreamedEvent;
///
/// let event = StreamedEvent::deleted("ann");
/// assert_eq!(event.kind, "deleted");
/// assert_eq!(StreamedEvent::from_bytes(&event.to_bytes())?, event);
/// # Ok::<(), petalflow::engine::RecordsError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamedEvent {
    /// The thread.
    pub thread: String,
    /// The checkpoint that the superstep builds on. It differs for each superstep of a thread, over all of its turns.
    pub checkpoint: u64,
    /// The superstep, as in [`Event`](crate::event::Event).
    pub superstep: u64,
    /// The task, for events of a node.
    pub task: Option<TaskId>,
    /// The attempt of a process to run the task or the superstep. Its number is random: a reader learns from the order of the
    /// events which attempt is the newest.
    pub attempt: u64,
    /// The number of the event in its attempt, from 0. A gap means that events were dropped.
    pub sequence: u64,
    /// When it happened, in milliseconds since 1970 (UTC), by the clock of the process.
    pub recorded_ms: u64,
    /// The name of its kind, with `_` between words: `node_finished`.
    pub kind: String,
    /// The event, as in [`LoggedEvent::value`].
    pub value: RawValue,
}

/// An event that counts, as a listener gets it from [`StreamReader::read`](super::StreamReader::read).
///
/// ```
/// use petalflow::engine::FollowedEvent;
///
/// fn print(event: &FollowedEvent) {
///     if event.restarts {
///         println!("the task begins again: what it said before does not count");
///     }
///     println!("{}: {}", event.event.number, event.event.value);
/// }
/// # let _ = print;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FollowedEvent {
    /// The event, with its number in the stream. A listener that connects again names the last number that it has.
    pub event: LoggedEvent,
    /// The task, for events of a node.
    pub task: Option<TaskId>,
    /// Whether the task begins again in another process: the listener discards what the task has said before.
    pub restarts: bool,
    /// How many events of the same attempt were dropped just before this one.
    pub missed: u64,
}

impl StreamedEvent {
    /// The event after which all earlier events of the thread do not count, because the thread was deleted. A sink publishes it
    /// in [`forget`](super::EventSink::forget).
    pub fn deleted(thread: impl Into<String>) -> Self {
        StreamedEvent {
            thread: thread.into(),
            checkpoint: 0,
            superstep: 0,
            task: None,
            attempt: 0,
            sequence: 0,
            recorded_ms: crate::clock::now_ms(),
            kind: super::DELETED.into(),
            value: RawValue::from_bytes(vec![NIL]),
        }
    }

    /// The event as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        pack::array(9, &mut out);
        pack::text(&self.thread, &mut out);
        pack::number(self.checkpoint, &mut out);
        pack::number(self.superstep, &mut out);
        pack::option(self.task, &mut out, |task, out| {
            pack::bytes(&task.to_bytes(), out);
        });
        pack::number(self.attempt, &mut out);
        pack::number(self.sequence, &mut out);
        pack::number(self.recorded_ms, &mut out);
        pack::text(&self.kind, &mut out);
        out.extend_from_slice(self.value.bytes());
        out
    }

    /// The event with these bytes.
    ///
    /// # Errors
    ///
    /// These are not bytes of an event.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordsError> {
        Ok(unpack(bytes, |from| {
            from.tuple(9)?;
            Ok(StreamedEvent {
                thread: from.text()?,
                checkpoint: from.number()?,
                superstep: from.number()?,
                task: from
                    .option(|from| Ok(<[u8; 16]>::try_from(from.bytes()?)))?
                    .transpose()
                    .map_err(|_| CodecError::Unknown("an id of a task with another length".into()))?
                    .map(TaskId::from_bytes),
                attempt: from.number()?,
                sequence: from.number()?,
                recorded_ms: from.number()?,
                kind: from.text()?,
                value: RawValue::from_bytes(from.value()?.into()),
            })
        })?)
    }
}

/// No value, in the format of values.
const NIL: u8 = 0xc0;
