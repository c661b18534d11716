//! Which of the published events count.

use std::collections::HashSet;
use std::collections::hash_map::{Entry, HashMap};

use super::event::{FollowedEvent, StreamedEvent};
use super::{DELETED, ENDS};
use crate::event::LoggedEvent;
use crate::ids::TaskId;

/// Reads the published events of a thread, from the oldest that remains, and leaves out those that do not count:
///
/// * those of an attempt after another attempt of the same task has begun: its process was lost, or is too late;
/// * those of a superstep that is committed;
/// * those that were published twice, and what a second attempt repeats about the superstep.
///
/// A listener has received the beginning of what a lost attempt said. [`FollowedEvent::restarts`] says when to discard it.
///
/// ```
/// use petalflow::engine::{StreamReader, StreamedEvent};
///
/// let mut reader = StreamReader::default();
/// assert_eq!(reader.read(1, StreamedEvent::deleted("ann")), None);
/// ```
#[derive(Debug, Default)]
pub struct StreamReader {
    /// The superstep in progress, or that has paused.
    superstep: Superstep,
    /// The checkpoint that the newest committed superstep builds on.
    committed: Option<u64>,
    /// The attempt that said how the thread rests.
    ended: Option<u64>,
}

/// What is known of a superstep.
#[derive(Debug, Default)]
struct Superstep {
    checkpoint: u64,
    /// The kinds of its own events that were read, which come once.
    kinds: HashSet<String>,
    tasks: HashMap<TaskId, Task>,
    /// The number of the next event of each attempt.
    next: HashMap<u64, u64>,
}

/// What is known of a task.
#[derive(Debug)]
struct Task {
    attempt: u64,
    /// Earlier attempts.
    superseded: HashSet<u64>,
    has_finished: bool,
}

impl StreamReader {
    /// Reads the next event. `None` if it does not count.
    pub fn read(&mut self, number: u64, event: StreamedEvent) -> Option<FollowedEvent> {
        if event.kind == DELETED {
            *self = StreamReader::default();
            return None;
        }
        if event.task.is_none() && ENDS.contains(&&*event.kind) {
            if self.ended.replace(event.attempt) == Some(event.attempt) {
                return None;
            }
            // The thread can go on in the same superstep.
            self.superstep.kinds.clear();
            return Some(followed_event(number, event, false, 0));
        }
        let is_late = self
            .committed
            .is_some_and(|committed| event.checkpoint <= committed);
        if is_late || event.checkpoint < self.superstep.checkpoint {
            return None;
        }
        if event.checkpoint > self.superstep.checkpoint {
            self.superstep = Superstep {
                checkpoint: event.checkpoint,
                ..Superstep::default()
            };
        }
        let missed = self.superstep.missed_before(&event)?;
        let restarts = match event.task {
            Some(task) => self.superstep.restarts(task, &event)?,
            None => self.is_new(&event).then_some(false)?,
        };
        Some(followed_event(number, event, restarts, missed))
    }

    /// Whether an event of the superstep itself is new. Each attempt repeats them.
    fn is_new(&mut self, event: &StreamedEvent) -> bool {
        if event.kind == "superstep_finished" {
            self.committed = Some(event.checkpoint);
        }
        self.superstep.kinds.insert(event.kind.clone())
    }
}

impl Superstep {
    /// How many events of the attempt are missing before this one. `None` if it was read before.
    fn missed_before(&mut self, event: &StreamedEvent) -> Option<u64> {
        let next = self.next.entry(event.attempt).or_default();
        let missed = event.sequence.checked_sub(*next)?;
        *next = event.sequence + 1;
        Some(missed)
    }

    /// Whether the task begins again. `None` if the event does not count.
    fn restarts(&mut self, task: TaskId, event: &StreamedEvent) -> Option<bool> {
        let has_finished = ["node_finished", "node_restored"].contains(&&*event.kind);
        let task = match self.tasks.entry(task) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                unknown.insert(Task {
                    attempt: event.attempt,
                    superseded: HashSet::new(),
                    has_finished,
                });
                return Some(false);
            }
        };
        if task.superseded.contains(&event.attempt) {
            return None;
        }
        let restarts = task.attempt != event.attempt;
        if restarts && task.has_finished && event.kind == "node_restored" {
            return None;
        }
        if restarts {
            task.superseded
                .insert(std::mem::replace(&mut task.attempt, event.attempt));
            task.has_finished = false;
        }
        task.has_finished |= has_finished;
        Some(restarts && event.kind != "node_restored")
    }
}

fn followed_event(number: u64, event: StreamedEvent, restarts: bool, missed: u64) -> FollowedEvent {
    FollowedEvent {
        task: event.task,
        restarts,
        missed,
        event: LoggedEvent {
            number,
            recorded_ms: event.recorded_ms,
            kind: event.kind,
            value: event.value,
        },
    }
}
