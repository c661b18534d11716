//! A store over the records of threads, which knows what it has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::record_changes::RecordChanges;
use super::record_form::{
    STATUS, after_numbers, after_parts, key, number, pack_checkpoint, pack_status, unknown_record,
    unpack_checkpoint, write_of,
};
use super::records::{ThreadRecords, keys};
use super::records_error::RecordsError;
use crate::checkpoint::{
    Address, Claim, Store, StoreChange, StoreError, Stored, StoredCheckpoint, StoredWrite,
    ThreadChange, ThreadInfo, ThreadQuery, ThreadStatus,
};

/// A store over the records of threads. No call reads more records than it returns or removes.
#[derive(Default)]
pub(super) struct RecordStore(Mutex<Threads>);

#[derive(Default)]
struct Threads {
    threads: BTreeMap<String, RecordedThread>,
    /// How many threads were deleted.
    deleted: u64,
}

#[derive(Default)]
struct RecordedThread {
    records: ThreadRecords,
    /// The records when the changes were last taken.
    known: ThreadRecords,
    /// The keys that were set or removed since.
    touched: BTreeSet<String>,
    /// What was set of a thread that has no checkpoint: it is listed when it has one.
    unlisted: BTreeMap<String, Vec<u8>>,
    /// The owner of the claim.
    owner: Option<String>,
}

impl RecordStore {
    pub(super) fn new(thread: &str, records: ThreadRecords) -> Self {
        let recorded = RecordedThread {
            known: records.clone(),
            records,
            ..RecordedThread::default()
        };
        let threads = BTreeMap::from([(thread.to_string(), recorded)]);
        RecordStore(Mutex::new(Threads {
            threads,
            deleted: 0,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Threads> {
        // No panic leaves it inconsistent: each call only sets or removes records.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The records of a thread.
    pub(super) fn records(&self, thread: &str) -> ThreadRecords {
        let threads = self.lock();
        let thread = threads.threads.get(thread);
        thread
            .map(|thread| thread.records.clone())
            .unwrap_or_default()
    }

    /// What has changed since the last call.
    pub(super) fn take_changes(&self, thread: &str) -> RecordChanges {
        let mut threads = self.lock();
        let thread = threads.threads.get_mut(thread);
        thread.map(RecordedThread::take_changes).unwrap_or_default()
    }
}

impl Threads {
    fn of_owner(
        &mut self,
        thread: &str,
        owner: Option<&str>,
    ) -> Result<&mut RecordedThread, StoreError> {
        let found = self.threads.entry(thread.into()).or_default();
        if owner.is_none() || found.owner.as_deref() == owner {
            return Ok(found);
        }
        Err(StoreError::ClaimLost {
            thread: thread.into(),
        })
    }

    /// What the thread has; `None` if nothing is known of it.
    fn get(&self, thread: &str) -> Option<&RecordedThread> {
        self.threads.get(thread)
    }
}

impl RecordedThread {
    fn set(&mut self, key: String, value: Option<Vec<u8>>) {
        self.records.set(key.clone(), value);
        self.touched.insert(key);
    }

    fn take_changes(&mut self) -> RecordChanges {
        let touched = std::mem::take(&mut self.touched).into_iter();
        let changed = touched.filter_map(|key| {
            let now = self.records.get(&key);
            let is_changed = now != self.known.get(&key);
            is_changed.then(|| (key.clone(), now.map(<[u8]>::to_vec)))
        });
        let changes = RecordChanges(changed.collect());
        self.known = self.records.clone();
        changes
    }

    fn remove(&mut self, from: String, end: String) {
        let removed: Vec<String> = keys(self.records.range(from, end)).collect();
        for key in removed {
            self.set(key, None);
        }
    }

    fn append(
        &mut self,
        address: Address<'_>,
        checkpoint: &StoredCheckpoint,
        after: Option<u64>,
        settled: &Range<u64>,
    ) -> Result<(), StoreError> {
        let found = self.records.newest(address.namespace);
        if found != after {
            return Err(StoreError::Conflict {
                thread: address.thread.into(),
                expected: after,
                found,
            });
        }
        let own = key(&["c", address.namespace, &number(checkpoint.seq)]);
        self.set(own, Some(pack_checkpoint(checkpoint)));
        self.remove_writes(address.namespace, settled);
        for (key, value) in std::mem::take(&mut self.unlisted) {
            self.set(key, Some(value));
        }
        if address.namespace.is_empty() {
            self.end_status()?;
        }
        Ok(())
    }

    /// A status holds until the next checkpoint of the thread's own flow.
    fn end_status(&mut self) -> Result<(), StoreError> {
        let described = self.records.described().map_err(damaged(""))?;
        if let Some((flow, ..)) = described {
            let running = pack_status(&flow, ThreadStatus::Running, None);
            self.set(STATUS.into(), Some(running));
        }
        Ok(())
    }

    fn write(&mut self, namespace: &str, seq: u64, writes: &[StoredWrite]) {
        for write in writes {
            let task = write.task.to_string();
            let key = key(&["w", namespace, &number(seq), &task, &write.name]);
            self.set(key, Some(write.bytes.clone()));
        }
    }

    fn remove_writes(&mut self, namespace: &str, seqs: &Range<u64>) {
        if !seqs.is_empty() {
            let [from, end] =
                [seqs.start, seqs.end].map(|seq| key(&["w", namespace, &number(seq)]));
            self.remove(from, end);
        }
    }

    /// Sets what is listed of the thread.
    fn describe(&mut self, change: ThreadChange<'_>) {
        match change {
            ThreadChange::Status {
                flow,
                status,
                due_ms,
            } => self.list(STATUS.into(), pack_status(flow, status, due_ms)),
            ThreadChange::Labels(labels) => {
                self.unlisted.retain(|key, _| !key.starts_with("l\0"));
                self.remove(key(&["l", ""]), after_parts(&["l"]));
                for (name, value) in labels {
                    self.list(key(&["l", name]), value.clone().into_bytes());
                }
            }
        }
    }

    fn list(&mut self, key: String, value: Vec<u8>) {
        if self.has_checkpoint() {
            self.set(key, Some(value));
        } else {
            self.unlisted.insert(key, value);
        }
    }

    fn has_checkpoint(&self) -> bool {
        let (from, end) = (key(&["c", ""]), after_parts(&["c"]));
        self.records.range(from, end).next().is_some()
    }

    fn change(&mut self, thread: &str, change: &StoreChange) -> Result<(), StoreError> {
        match change {
            StoreChange::Append {
                namespace,
                checkpoint,
                after,
                settled,
            } => self.append(Address { thread, namespace }, checkpoint, *after, settled)?,
            StoreChange::Write {
                namespace,
                seq,
                writes,
            } => self.write(namespace, *seq, writes),
            StoreChange::Status {
                flow,
                status,
                due_ms,
            } => self.describe(ThreadChange::Status {
                flow,
                status: *status,
                due_ms: *due_ms,
            }),
            StoreChange::Attributes(attributes) => {
                self.unlisted.retain(|key, _| !key.starts_with("a\0"));
                self.remove(key(&["a", ""]), after_parts(&["a"]));
                for (name, value) in attributes {
                    self.list(key(&["a", name]), value.as_bytes().to_vec());
                }
            }
        }
        Ok(())
    }

    /// The checkpoints from one number to another.
    fn checkpoints(
        &self,
        address: Address<'_>,
        from: u64,
        to: u64,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        let from = key(&["c", address.namespace, &number(from)]);
        let end = after_numbers(&key(&["c", address.namespace, &number(to)]));
        let found = self.records.range(from, end);
        found
            .map(|(_, bytes)| unpack_checkpoint(bytes))
            .collect::<Result<_, _>>()
            .map_err(|error| damaged(address.thread)(error.into()))
    }

    fn read(&self, address: Address<'_>, seq: Option<u64>) -> Result<Option<Stored>, StoreError> {
        let Some(seq) = seq.or_else(|| self.records.newest(address.namespace)) else {
            return Ok(None);
        };
        let Some(newest) = self.checkpoints(address, seq, seq)?.pop() else {
            return Ok(None);
        };
        let mut chain = match newest.base.checked_sub(seq) {
            Some(_) => Vec::new(),
            None => self.checkpoints(address, newest.base, seq.saturating_sub(1))?,
        };
        chain.push(newest);
        let writes = self.writes(address, &(seq..seq.saturating_add(1)))?;
        let writes = writes.into_iter().map(|(_, write)| write).collect();
        Ok(Some(Stored { chain, writes }))
    }

    fn writes(
        &self,
        address: Address<'_>,
        seqs: &Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        let [from, end] =
            [seqs.start, seqs.end].map(|seq| key(&["w", address.namespace, &number(seq)]));
        let found = self.records.range(from, end);
        found
            .map(|(key, bytes)| write_of(key, bytes).ok_or_else(|| unknown_record(key)))
            .collect::<Result<_, _>>()
            .map_err(damaged(address.thread))
    }
}

fn damaged(thread: &str) -> impl Fn(RecordsError) -> StoreError {
    move |error| StoreError::Damaged {
        thread: thread.into(),
        problem: error.to_string(),
    }
}

#[async_trait]
impl Store for RecordStore {
    async fn append(
        &self,
        address: Address<'_>,
        checkpoint: &StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut threads = self.lock();
        let thread = threads.of_owner(address.thread, owner)?;
        thread.append(address, checkpoint, after, &settled)
    }

    async fn write(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: &[StoredWrite],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut threads = self.lock();
        let thread = threads.of_owner(address.thread, owner)?;
        thread.write(address.namespace, seq, writes);
        Ok(())
    }

    async fn apply(
        &self,
        thread: &str,
        changes: &[StoreChange],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut threads = self.lock();
        let recorded = threads.of_owner(thread, owner)?;
        let before = (recorded.records.clone(), recorded.unlisted.clone());
        for change in changes {
            if let Err(error) = recorded.change(thread, change) {
                (recorded.records, recorded.unlisted) = before;
                return Err(error);
            }
        }
        Ok(())
    }

    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        match self.lock().get(address.thread) {
            Some(thread) => thread.read(address, seq),
            None => Ok(None),
        }
    }

    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        match self.lock().get(address.thread) {
            Some(thread) => thread.writes(address, &seqs),
            None => Ok(Vec::new()),
        }
    }

    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        let threads = self.lock();
        let Some(thread) = threads.get(address.thread) else {
            return Ok(Vec::new());
        };
        let prefix = key(&["c", address.namespace, ""]);
        let end = match before {
            Some(before) => key(&["c", address.namespace, &number(before)]),
            None => after_numbers(&prefix),
        };
        let newest_first = thread.records.range(prefix, end).rev().take(limit);
        newest_first
            .map(|(_, bytes)| unpack_checkpoint(bytes))
            .collect::<Result<_, _>>()
            .map_err(|error| damaged(address.thread)(error.into()))
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError> {
        let threads = self.lock();
        let namespaces = threads
            .get(thread)
            .map(|thread| thread.records.namespaces());
        Ok(namespaces.into_iter().flatten().collect())
    }

    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        let threads = self.lock();
        let mut infos = Vec::new();
        for (id, thread) in &threads.threads {
            if !id.starts_with(query.prefix) || !thread.has_checkpoint() {
                continue;
            }
            let info = thread.records.info(id).map_err(damaged(id))?;
            infos.extend(info);
        }
        Ok(query.page(infos))
    }

    async fn describe(
        &self,
        thread: &str,
        change: ThreadChange<'_>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        self.lock().of_owner(thread, owner)?.describe(change);
        Ok(())
    }

    async fn prune(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: u64,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut threads = self.lock();
        let thread = threads.of_owner(address.thread, owner)?;
        let from = key(&["c", address.namespace, ""]);
        thread.remove(from, key(&["c", address.namespace, &number(seq)]));
        thread.remove_writes(address.namespace, &(0..writes));
        Ok(())
    }

    async fn delete(&self, thread: &str, owner: Option<&str>) -> Result<(), StoreError> {
        let mut threads = self.lock();
        let recorded = threads.of_owner(thread, owner)?;
        recorded.unlisted.clear();
        let held = keys(recorded.records.iter()).collect::<Vec<_>>();
        for key in &held {
            recorded.set(key.clone(), None);
        }
        threads.deleted += u64::from(!held.is_empty());
        Ok(())
    }

    async fn incarnation(&self, _: &str) -> Result<u64, StoreError> {
        Ok(self.lock().deleted)
    }

    async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError> {
        let mut threads = self.lock();
        let claimed = &mut threads.of_owner(thread, None)?.owner;
        let other = claimed.as_ref().filter(|other| *other != owner).cloned();
        if let Some(owner) = other {
            return Ok(Claim::Busy { owner });
        }
        *claimed = Some(owner.into());
        Ok(Claim::Granted)
    }

    async fn confirm(&self, thread: &str, owner: &str) -> Result<bool, StoreError> {
        Ok(self.lock().of_owner(thread, Some(owner)).is_ok())
    }

    fn release(&self, thread: &str, owner: &str) {
        if let Ok(recorded) = self.lock().of_owner(thread, Some(owner)) {
            recorded.owner = None;
        }
    }

    fn needs_checksums(&self) -> bool {
        false
    }

    fn is_shared(&self) -> bool {
        false
    }
}
