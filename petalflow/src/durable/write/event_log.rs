//! The stored events of a thread, if the thread asks for them.
//!
//! They are beside the checkpoints, in a namespace of their own. Each write of them is one record, which has the number of its
//! last event. So every store can hold them, protects them like checkpoints, and refuses a second writer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::checkpoint::{EVENT_LOG, StoreError, StoredCheckpoint, ThreadStorage};
use crate::clock::now_ms;
use crate::durable::claim::live_runs::LiveRun;
use crate::event::{
    AnyEvent, AnyEventKind, EventKind, LogBuffer, LogRole, LogSettings, LoggedEvent, RunEnd,
    TimedEntry,
};
use crate::ids::Namespace;
use crate::outcome::{RunError, RunErrorKind, ThreadError};
use crate::state::RawValue;
use petalflow_store::codec::{CodecError, Json, pack, unpack};

/// The number of records that are read at once.
const PAGE: usize = 100;

/// Stores the events of one run of a thread.
pub(in crate::durable) struct EventLog {
    storage: ThreadStorage,
    pub(in crate::durable) buffer: Arc<LogBuffer>,
    /// How many events remain at least.
    limit: u64,
    role: LogRole,
    /// Wakes those who follow the thread.
    live: Option<LiveRun>,
    /// Empty while events are written. If the write is dropped, it is not known where the log ends.
    position: Mutex<Option<LogPosition>>,
}

#[derive(Clone, Copy)]
struct LogPosition {
    /// The number of the last event in the store.
    newest: Option<u64>,
    /// Events up to this number were removed.
    pruned: u64,
}

impl EventLog {
    /// The log of a thread that the run has claimed.
    pub(in crate::durable) fn new(
        storage: &ThreadStorage,
        settings: LogSettings,
        live: Option<LiveRun>,
    ) -> Self {
        EventLog {
            storage: storage.clone(),
            buffer: Arc::new(LogBuffer::new(settings.filter)),
            limit: settings.events.max(1),
            role: settings.role,
            live,
            position: Mutex::default(),
        }
    }

    /// Stores the events that have happened since the last call. Only the driver of the run calls this.
    pub(in crate::durable) async fn flush(&self) -> Result<(), StoreError> {
        let entries = self.buffer.take();
        if entries.is_empty() {
            return Ok(());
        }
        let position = self.position().take();
        let mut position = match position {
            Some(position) => position,
            None => LogPosition {
                newest: self.newest().await?,
                pruned: 0,
            },
        };
        let after = position.newest;
        let mut record = record_of(&entries, after.unwrap_or(0), now_ms());
        let seq = record.seq;
        let appended = self.storage.append(EVENT_LOG, &mut record, after, 0..0);
        appended.await?;
        position.newest = Some(seq);
        if let Some(live) = &self.live {
            live.events_stored();
        }
        // As many again are retained, so that not every write removes some.
        if seq - position.pruned >= self.limit.saturating_mul(2) {
            let oldest = seq.saturating_sub(self.limit) + 1;
            self.storage.prune(EVENT_LOG, oldest, oldest).await?;
            position.pruned = oldest - 1;
        }
        *self.position() = Some(position);
        Ok(())
    }

    /// Adds the events that say that a checkpoint was written, if the log lacks them because the process ended behind it. They are
    /// stored with the next events.
    pub(in crate::durable) async fn complete(
        &self,
        barrier: &LoadedBarrier,
    ) -> Result<(), StoreError> {
        let checkpoint = barrier.checkpoint;
        let mut events = vec![barrier.event(EventKind::Checkpoint { checkpoint })];
        if barrier.ends_superstep {
            events.push(barrier.event(EventKind::SuperstepFinished));
        }
        events.retain(|event| self.buffer.keeps(event));
        if !events.is_empty() && !self.knows(barrier).await? {
            events.iter().for_each(|event| self.buffer.record(event));
        }
        Ok(())
    }

    /// Whether the log has the checkpoint or what follows it, or begins after it.
    async fn knows(&self, barrier: &LoadedBarrier) -> Result<bool, StoreError> {
        let mut before = None;
        loop {
            let page = self.storage.history(EVENT_LOG, before, PAGE).await?;
            let Some(oldest) = page.last() else {
                // Without an event before, a run began the log, or it was not stored then.
                return Ok(before.is_none() && barrier.ends_superstep);
            };
            before = Some(oldest.seq);
            for record in &page {
                // What cannot be read is reported to those who read it.
                let events = decode(record).unwrap_or_default();
                let newest = events.iter().rev().find_map(LoadedBarrier::named_by);
                if let Some(checkpoint) = newest {
                    return Ok(checkpoint >= barrier.checkpoint);
                }
            }
        }
    }

    /// The number of the last event in the store.
    async fn newest(&self) -> Result<Option<u64>, StoreError> {
        let newest = self.storage.history(EVENT_LOG, None, 1).await?;
        Ok(newest.first().map(|newest| newest.seq))
    }

    fn position(&self) -> MutexGuard<'_, Option<LogPosition>> {
        // Nothing under this lock can panic.
        self.position.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what a task has recorded may be all that remains of the run.
    pub(in crate::durable) fn is_part(&self) -> bool {
        self.role == LogRole::Part
    }

    /// Stores how the run has ended, with its error, and what has happened before. `is_held`: a person has cancelled the run. A
    /// program that stops drains its runs, and drops those that take too long: the next process continues both.
    pub(in crate::durable) async fn end(
        &self,
        error: Option<&RunError>,
        is_held: bool,
    ) -> Result<(), StoreError> {
        let is_drained =
            error.is_some_and(|error| matches!(error.kind(), RunErrorKind::Drained { .. }));
        if self.role == LogRole::Part || (self.role == LogRole::Start && is_drained && !is_held) {
            return self.flush().await;
        }
        let end = match error {
            None => RunEnd::new("finished", self.buffer.newest_superstep.get()),
            Some(error) => match error.kind() {
                // The thread belongs to another run.
                RunErrorKind::Thread { .. } => return Ok(()),
                RunErrorKind::Interrupted { interrupts } => RunEnd {
                    interrupts,
                    wakes_ms: error.wakes_ms(),
                    ..RunEnd::new("interrupted", error.superstep())
                },
                RunErrorKind::Sleeping { .. } => RunEnd {
                    wakes_ms: error.wakes_ms(),
                    ..RunEnd::new("sleeping", error.superstep())
                },
                _ => RunEnd {
                    error: Some(error.to_string()),
                    reason: match error.kind() {
                        RunErrorKind::Cancelled | RunErrorKind::Drained { .. } if is_held => {
                            Some("cancelled")
                        }
                        RunErrorKind::Cancelled | RunErrorKind::Drained { .. } => Some("drained"),
                        _ => None,
                    },
                    ..RunEnd::new("failed", error.superstep())
                },
            },
        };
        if let Ok(value) = RawValue::new(&end) {
            self.buffer.push((end.kind.into(), value));
        }
        self.flush().await
    }
}

/// The checkpoint with which a thread was loaded, as far as its log has it.
pub(in crate::durable) struct LoadedBarrier {
    pub(in crate::durable) checkpoint: u64,
    pub(in crate::durable) superstep: u64,
    /// Whether a superstep was committed with it.
    pub(in crate::durable) ends_superstep: bool,
}

impl LoadedBarrier {
    fn event(&self, kind: AnyEventKind) -> AnyEvent {
        AnyEvent {
            namespace: Namespace::ROOT,
            superstep: self.superstep,
            task: None,
            kind,
        }
    }

    /// The checkpoint that an event of the thread's own flow names.
    fn named_by(event: &LoggedEvent) -> Option<u64> {
        if event.kind != "checkpoint" {
            return None;
        }
        let event = Json(event.value.bytes()).value().ok()?;
        let is_own = event["namespace"].as_str() == Some("");
        event["checkpoint"].as_u64().filter(|_| is_own)
    }
}

/// The record of these events, after the event with this number.
pub(crate) fn record_of(entries: &[TimedEntry], after: u64, created_ms: u64) -> StoredCheckpoint {
    let seq = after.saturating_add(entries.len() as u64);
    StoredCheckpoint {
        seq,
        base: seq,
        created_ms,
        bytes: encode(entries, created_ms),
    }
}

/// The record with its events after the event with this number.
#[cfg(feature = "engine")]
pub(crate) fn moved_after(
    record: StoredCheckpoint,
    after: u64,
) -> Result<StoredCheckpoint, CodecError> {
    let seq = after.saturating_add(decode(&record)?.len() as u64);
    Ok(StoredCheckpoint {
        seq,
        base: seq,
        ..record
    })
}

fn encode(entries: &[TimedEntry], created_ms: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    pack::list(
        entries.iter(),
        &mut bytes,
        |TimedEntry { at_ms, entry }, out| {
            let (kind, value) = entry;
            pack::array(3, out);
            pack::text(kind, out);
            out.extend_from_slice(value.bytes());
            pack::number(created_ms.saturating_sub(*at_ms), out);
        },
    );
    bytes
}

/// The number of the newest stored event of a thread; 0 if there is none.
pub(crate) async fn last_event(storage: &ThreadStorage) -> Result<u64, ThreadError> {
    let newest = storage.history(EVENT_LOG, None, 1).await?;
    Ok(newest.first().map_or(0, |record| record.seq))
}

/// The stored events of a thread with numbers above `after`, in the order of their numbers.
pub(crate) async fn events_since(
    storage: &ThreadStorage,
    after: u64,
) -> Result<Vec<LoggedEvent>, ThreadError> {
    let (mut records, mut before) = (Vec::new(), None);
    loop {
        let page = storage.history(EVENT_LOG, before, PAGE).await?;
        before = page.last().map(|oldest| oldest.seq);
        let is_last = before.is_none_or(|oldest| oldest <= after);
        records.extend(page.into_iter().filter(|record| record.seq > after));
        if is_last {
            break;
        }
    }
    let mut events: Vec<LoggedEvent> = Vec::new();
    for record in records.iter().rev() {
        let decoded = decode(record).map_err(ThreadError::value("the event log of the thread"))?;
        // Only the oldest events are removed.
        if let (Some(before), Some(next)) = (events.last(), decoded.first())
            && next.number.checked_sub(1) != Some(before.number)
        {
            return Err(ThreadError::Store(StoreError::Damaged {
                thread: storage.thread.to_string(),
                problem: format!(
                    "event {} of its log is followed by event {}; restore it from a backup",
                    before.number, next.number
                ),
            }));
        }
        events.extend(decoded);
    }
    events.retain(|event| event.number > after);
    Ok(events)
}

fn decode(record: &StoredCheckpoint) -> Result<Vec<LoggedEvent>, CodecError> {
    let mut events = unpack(&record.bytes, |from| {
        from.list(|from| {
            // Earlier versions stored no age.
            let len = from.tuple_of(2..=3)?;
            let kind = from.text()?;
            let value = RawValue::from_bytes(from.value()?.into());
            let age_ms = if len == 3 { from.number()? } else { 0 };
            Ok(LoggedEvent {
                number: 0,
                recorded_ms: record.created_ms.saturating_sub(age_ms),
                kind,
                value,
            })
        })
    })?;
    // The record has the number of its last event.
    for (age, event) in (0..).zip(events.iter_mut().rev()) {
        event.number = record.seq.saturating_sub(age);
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(name: &str) -> RawValue {
        RawValue::new(&name).unwrap()
    }

    #[test]
    fn f43_each_event_of_a_record_has_its_own_time() {
        let entries = [(5, "a"), (9, "b"), (12, "late")].map(|(at_ms, kind)| TimedEntry {
            at_ms,
            entry: (kind.into(), event(kind)),
        });
        let events = decode(&record_of(&entries, 7, 10)).unwrap();
        let read: Vec<_> = events
            .iter()
            .map(|event| (event.number, event.recorded_ms, &*event.kind))
            .collect();
        assert_eq!(read, [(8, 5, "a"), (9, 9, "b"), (10, 10, "late")]);
        assert_eq!(events[1].value, event("b"));
    }

    #[test]
    fn f43_events_of_earlier_versions_have_the_time_of_their_record() {
        let mut bytes = Vec::new();
        pack::list(["a", "b"].into_iter(), &mut bytes, |kind, out| {
            pack::array(2, out);
            pack::text(kind, out);
            out.extend_from_slice(event(kind).bytes());
        });
        let record = StoredCheckpoint {
            seq: 2,
            base: 2,
            created_ms: 10,
            bytes,
        };
        let events = decode(&record).unwrap();
        let read: Vec<_> = events
            .iter()
            .map(|event| (event.number, event.recorded_ms, &*event.kind))
            .collect();
        assert_eq!(read, [(1, 10, "a"), (2, 10, "b")]);
    }
}
