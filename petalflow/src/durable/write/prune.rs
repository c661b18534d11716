//! Removes the checkpoints of a thread that need not be retained.

use std::time::Duration;

use crate::checkpoint::{
    Retention, StoreChange, StoreError, StoredCheckpoint, ThreadInfo, ThreadStatus, ThreadStorage,
};
use crate::clock::now_ms;
use crate::durable::load::ended_call::{back_to_ended_call, is_end_of_call};
use crate::durable::load::merged::{encode, merged};
use crate::outcome::ThreadError;

/// The fewest checkpoints between two bases that are written so that a history is bounded.
pub(super) const FEWEST_BETWEEN_BASES: u64 = 64;

/// What was done to a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pruned {
    /// How many checkpoints are retained, and were read for it.
    pub(crate) retained: u64,
    /// Whether more can be removed with [`NewBase::Allowed`].
    pub(crate) needs_base: bool,
}

/// Whether a flow gets a copy of its newest checkpoint that builds on no other, if most of its history could not be removed
/// otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewBase {
    /// Nothing else writes to the thread.
    Allowed,
    /// A run is in progress, which knows the newest checkpoints. With a retention it writes bases itself.
    No,
}

/// Removes the checkpoints that need not be retained.
///
/// What a run in progress needs is newer than what is removed here. Of a sub-flow that retains its state, also the checkpoint
/// before a call that has not ended remains: if the call fails, the next one begins with that state.
pub(crate) async fn prune(
    storage: &ThreadStorage,
    retention: Retention,
    new_base: NewBase,
) -> Result<Pruned, ThreadError> {
    let mut pruned = Pruned::default();
    if !retention.is_limited() {
        return Ok(pruned);
    }
    for namespace in storage.flows().await? {
        let Some(mut window) = Window::read(storage, &namespace, retention).await? else {
            continue;
        };
        let has_call = window.include_ended_call(storage, &namespace).await?;
        let mut needed = window.oldest.base;
        if !has_call && window.newest.seq.saturating_sub(needed) > window.longest_chain() {
            if let Some(base) = window.oldest_base {
                needed = base;
            } else if new_base == NewBase::Allowed {
                needed = add_base(storage, &namespace, &window.newest).await?;
            } else {
                pruned.needs_base = true;
            }
        }
        let writes = window.needed_writes(storage, &namespace, needed).await?;
        storage.prune(&namespace, needed, writes).await?;
        pruned.retained += window.count;
    }
    Ok(pruned)
}

/// The checkpoints of a flow that are to be retained.
struct Window {
    count: u64,
    newest: StoredCheckpoint,
    oldest: StoredCheckpoint,
    /// The oldest of them that builds on no other.
    oldest_base: Option<u64>,
}

impl Window {
    /// `None` if there is no checkpoint.
    async fn read(
        storage: &ThreadStorage,
        namespace: &str,
        retention: Retention,
    ) -> Result<Option<Self>, StoreError> {
        let now = now_ms();
        // One more than is retained shows that there are others.
        let page = retention
            .max_checkpoints
            .map_or(100, |most| most.saturating_add(1).min(100));
        let (mut before, mut newer, mut bytes) = (None, 0, 0);
        let mut window: Option<Window> = None;
        loop {
            let page = storage.history(namespace, before, page).await?;
            let Some(last) = page.last() else {
                return Ok(window);
            };
            before = Some(last.seq);
            for checkpoint in page {
                bytes += checkpoint.bytes.len() as u64;
                let age = Duration::from_millis(now.saturating_sub(checkpoint.created_ms));
                if !retention.covers(newer, bytes, age) {
                    return Ok(window);
                }
                newer += 1;
                let window = window.get_or_insert_with(|| Window {
                    count: 0,
                    newest: checkpoint.clone(),
                    oldest: checkpoint.clone(),
                    oldest_base: None,
                });
                window.count += 1;
                if checkpoint.base == checkpoint.seq {
                    window.oldest_base = Some(checkpoint.seq);
                }
                window.oldest = checkpoint;
            }
        }
    }

    /// Extends the window of a sub-flow that retains its state back to the state before a call that has not ended. Returns whether
    /// there is such a call.
    async fn include_ended_call(
        &mut self,
        storage: &ThreadStorage,
        namespace: &str,
    ) -> Result<bool, StoreError> {
        if namespace.is_empty() {
            return Ok(false);
        }
        let newest = std::slice::from_ref(&self.newest);
        let record = storage.records(namespace, newest).await?.pop();
        // Only a flow that retains its state has more than one turn.
        if record.is_none_or(|record| record.header.turn <= 1 || is_end_of_call(&record.header)) {
            return Ok(false);
        }
        let Some(mut newer) = back_to_ended_call(storage, namespace, None).await? else {
            return Ok(false);
        };
        if let Some(ended) = newer.pop().filter(|ended| ended.seq < self.oldest.seq) {
            self.count = newer.len() as u64 + 1;
            self.oldest = ended;
        }
        Ok(true)
    }

    /// The oldest number beside which the checkpoints from `needed` on need writes.
    async fn needed_writes(
        &self,
        storage: &ThreadStorage,
        namespace: &str,
        needed: u64,
    ) -> Result<u64, StoreError> {
        let oldest = if self.oldest.seq < needed {
            &self.newest
        } else {
            &self.oldest
        };
        let mut records = storage
            .records(namespace, std::slice::from_ref(oldest))
            .await?;
        let origin = records.pop().map(|record| record.header.origin);
        // Task results are stored under the origin of the frontier, which may be smaller than the number of the checkpoint.
        Ok(origin.map_or(needed, |origin| origin.min(needed)))
    }

    /// How many checkpoints may remain so that those in the window can be read.
    fn longest_chain(&self) -> u64 {
        self.count.max(FEWEST_BETWEEN_BASES).saturating_mul(3)
    }
}

/// Appends a copy of the newest checkpoint of a flow that builds on no other. Returns its number.
async fn add_base(
    storage: &ThreadStorage,
    namespace: &str,
    newest: &StoredCheckpoint,
) -> Result<u64, ThreadError> {
    let mut copy = merged(storage, namespace, newest.seq).await?;
    let seq = newest.seq + 1;
    copy.header.parent = Some(newest.seq);
    let mut changes = vec![StoreChange::Append {
        namespace: namespace.into(),
        checkpoint: StoredCheckpoint {
            seq,
            base: seq,
            created_ms: newest.created_ms,
            bytes: encode(seq, &copy),
        },
        after: Some(newest.seq),
        settled: 0..0,
    }];
    // The checkpoint ends the status.
    let listed = match namespace {
        "" => storage.info().await?,
        _ => None,
    };
    let has_status =
        |info: &ThreadInfo| info.status != ThreadStatus::Running || info.due_ms.is_some();
    changes.extend(listed.filter(has_status).map(|info| StoreChange::Status {
        flow: info.flow,
        status: info.status,
        due_ms: info.due_ms,
    }));
    storage.apply(changes).await?;
    Ok(seq)
}
