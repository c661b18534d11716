//! All that a store has of one thread, as a map from keys to bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::record_form::{
    SEPARATOR, STATUS, key, log_record, number, number_in, own_checkpoints, pack_checkpoint,
    pack_status, unknown, unpack_checkpoint, unpack_status,
};
use super::records_error::RecordsError;
use crate::checkpoint::{
    CodecError, EVENT_LOG, Store, StoreChange, StoreError, StoredCheckpoint, StoredWrite,
    ThreadChange, ThreadInfo, ThreadQuery, ThreadStatus, ThreadStorage, WriteName,
};
use crate::durable::moved_after;
use crate::ids::TaskId;
use petalflow_codec::{Unpack, pack, unpack};

/// All that a store has of one thread, as a map from keys to bytes: for an engine that keeps the records of a thread itself, and
/// to move a thread from one store to another.
///
/// There is one key for each checkpoint, for each record of a task, for the status, and for each label. A key that has a value
/// gets another value only if it is the status or a label, or if a task records the same thing again. So an engine that stores
/// each key by itself writes only what is new.
///
/// ```
/// use petalflow::checkpoint::InMemoryStore;
/// use petalflow::engine::ThreadRecords;
/// use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("petals".into()) }
/// # flow!(Write(Essay) { write });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let (here, there) = (InMemoryStore::new(), InMemoryStore::new());
/// Write::new().store(&here).thread("ann").run(()).await?;
///
/// ThreadRecords::read(&here, "ann").await?.write_to(&there, "ann").await?;
/// let moved = Write::new().store(&there).thread("ann").snapshot().await?.expect("it was moved");
/// assert_eq!(moved.state.draft, "petals");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadRecords(BTreeMap<String, Vec<u8>>);

/// What has changed in [`ThreadRecords`]: the new value of each key, or `None` if the key was removed.
///
/// ```
/// use petalflow::engine::{RecordChanges, ThreadRecords};
///
/// let mut records = ThreadRecords::default();
/// records.apply(&RecordChanges(vec![("key".into(), Some(vec![1]))]));
/// assert_eq!(records.iter().count(), 1);
/// records.apply(&RecordChanges(vec![("key".into(), None)]));
/// assert!(records.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordChanges(pub Vec<(String, Option<Vec<u8>>)>);

impl ThreadRecords {
    /// The records of a thread in a store, without its checksums. Empty if there is no such thread.
    ///
    /// # Errors
    ///
    /// The store fails, or the thread is damaged.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn read(store: &(impl Store + Clone), thread: &str) -> Result<Self, StoreError> {
        let storage = ThreadStorage::new(Arc::new(store.clone()), thread.into(), "".into());
        let mut records = BTreeMap::new();
        for namespace in store.namespaces(thread).await? {
            for checkpoint in storage.history(&namespace, None, usize::MAX).await? {
                let key = key(&["c", &namespace, &number(checkpoint.seq)]);
                records.insert(key, pack_checkpoint(&checkpoint));
            }
            for (seq, write) in storage.writes_beside(&namespace, 0..u64::MAX).await? {
                let task = write.task.to_string();
                let key = key(&["w", &namespace, &number(seq), &task, &write.name]);
                records.insert(key, write.bytes);
            }
        }
        if let Some(info) = info(store, thread).await? {
            if !info.flow.is_empty() {
                let status = pack_status(&info.flow, info.status, info.due_ms);
                records.insert(STATUS.into(), status);
            }
            for (name, value) in info.labels {
                records.insert(key(&["l", &name]), value.into_bytes());
            }
        }
        Ok(ThreadRecords(records))
    }

    /// Writes the records to a store that has no thread with this id, with checksums if the store needs them. Ids of tasks contain
    /// the id of the thread, so the thread keeps its id.
    ///
    /// # Errors
    ///
    /// The store has a thread with this id, or fails; or the records are damaged.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves no thread, or all of it without its labels, or all of it.
    pub async fn write_to(
        &self,
        store: &(impl Store + Clone),
        thread: &str,
    ) -> Result<(), RecordsError> {
        if !store.namespaces(thread).await?.is_empty() {
            return Err(RecordsError::Exists(thread.into()));
        }
        let (changes, labels) = self.as_changes()?;
        if !changes.is_empty() {
            let storage = ThreadStorage::new(Arc::new(store.clone()), thread.into(), "".into());
            storage.apply(changes).await?;
        }
        if !labels.is_empty() {
            let change = ThreadChange::Labels(&labels);
            store.describe(thread, change, None).await?;
        }
        Ok(())
    }

    /// The changes that make these records in an empty store, and the labels.
    fn as_changes(&self) -> Result<(Vec<StoreChange>, BTreeMap<String, String>), RecordsError> {
        let (mut changes, mut labels) = (Vec::new(), BTreeMap::new());
        let mut newest: BTreeMap<&str, u64> = BTreeMap::new();
        for (key, bytes) in &self.0 {
            let parts: Vec<&str> = key.split(SEPARATOR).collect();
            match parts[..] {
                ["c", namespace, _] => {
                    let checkpoint = unpack_checkpoint(bytes)?;
                    let after = newest.insert(namespace, checkpoint.seq);
                    changes.push(StoreChange::Append {
                        namespace: namespace.into(),
                        checkpoint,
                        after,
                        settled: 0..0,
                    });
                }
                ["w", namespace, seq, task, name] => {
                    let seq = u64::from_str_radix(seq, 16).map_err(|_| unknown(key))?;
                    let task = TaskId::parse(task).ok_or_else(|| unknown(key))?;
                    let (name, bytes) = (name.into(), bytes.clone());
                    changes.push(StoreChange::Write {
                        namespace: namespace.into(),
                        seq,
                        writes: vec![StoredWrite { task, name, bytes }],
                    });
                }
                ["l", name] => {
                    let value = String::from_utf8(bytes.clone()).map_err(|_| unknown(key))?;
                    labels.insert(name.into(), value);
                }
                [STATUS] => {}
                _ => return Err(unknown(key)),
            }
        }
        if let Some((flow, status, due_ms)) = self.described()? {
            changes.push(StoreChange::Status {
                flow,
                status,
                due_ms,
            });
        }
        Ok((changes, labels))
    }

    /// The status of the thread, and when it is due, in milliseconds since 1970 (UTC).
    ///
    /// # Errors
    ///
    /// The record is damaged.
    pub fn status(&self) -> Result<(ThreadStatus, Option<u64>), RecordsError> {
        let described = self.described()?;
        Ok(
            described.map_or((ThreadStatus::Running, None), |(_, status, due_ms)| {
                (status, due_ms)
            }),
        )
    }

    fn described(&self) -> Result<Option<(String, ThreadStatus, Option<u64>)>, RecordsError> {
        self.0
            .get(STATUS)
            .map(|bytes| unpack_status(bytes))
            .transpose()
    }

    /// What a store would list of the thread with this id. `None` if there is no thread.
    ///
    /// # Errors
    ///
    /// A record is damaged.
    pub fn info(&self, thread: &str) -> Result<Option<ThreadInfo>, RecordsError> {
        if self.is_empty() {
            return Ok(None);
        }
        let mut info = ThreadInfo {
            id: thread.into(),
            ..ThreadInfo::default()
        };
        let mut created: Option<u64> = None;
        for (key, bytes) in &self.0 {
            let parts: Vec<&str> = key.split(SEPARATOR).collect();
            match parts[..] {
                ["c", ..] => {
                    let checkpoint = unpack_checkpoint(bytes)?;
                    info.checkpoints += 1;
                    info.bytes += checkpoint.bytes.len() as u64;
                    info.updated_ms = info.updated_ms.max(checkpoint.created_ms);
                    let first = created.get_or_insert(checkpoint.created_ms);
                    *first = checkpoint.created_ms.min(*first);
                }
                ["l", name] => {
                    let value = String::from_utf8_lossy(bytes).into_owned();
                    info.labels.insert(name.into(), value);
                }
                _ => {}
            }
        }
        info.created_ms = created.unwrap_or(0);
        if let Some((flow, status, due_ms)) = self.described()? {
            (info.flow, info.status, info.due_ms) = (flow, status, due_ms);
        }
        Ok(Some(info))
    }

    /// The change that gives the thread another status.
    ///
    /// # Errors
    ///
    /// The record of the status is damaged.
    pub fn with_status(
        &self,
        status: ThreadStatus,
        due_ms: Option<u64>,
    ) -> Result<RecordChanges, RecordsError> {
        let flow = self.described()?.map(|(flow, ..)| flow);
        let bytes = pack_status(&flow.unwrap_or_default(), status, due_ms);
        Ok(RecordChanges(vec![(STATUS.into(), Some(bytes))]))
    }

    /// What one task needs to run: the checkpoint of its superstep with those that it builds on, the records of the task, and all
    /// that sub-flows have stored. Not the log of events.
    #[must_use]
    pub fn for_task(&self, task: TaskId) -> Self {
        let newest = self.own_checkpoints().next_back();
        let base = newest.and_then(|(_, bytes)| unpack_checkpoint(bytes).ok());
        let base = base.map_or_else(String::new, |newest| number(newest.base));
        let task = task.to_string();
        let needed = self.0.iter().filter(|(key, _)| {
            let parts: Vec<&str> = key.split(SEPARATOR).collect();
            match parts[..] {
                ["c", "", seq] => *seq >= *base,
                // What the task logs is added to it.
                ["c", EVENT_LOG, _] => false,
                ["w", "", _, of, _] => of == task,
                _ => true,
            }
        });
        ThreadRecords(
            needed
                .map(|(key, bytes)| (key.clone(), bytes.clone()))
                .collect(),
        )
    }

    /// What a superstep comes to of which two parts have these statuses, and are due then: it has failed if one has, and waits if
    /// one waits.
    #[must_use]
    pub fn worse(
        one: (ThreadStatus, Option<u64>),
        other: (ThreadStatus, Option<u64>),
    ) -> (ThreadStatus, Option<u64>) {
        let due_ms = one.1.into_iter().chain(other.1).min();
        let rank = |status| match status {
            ThreadStatus::Running | ThreadStatus::Finished => 0,
            ThreadStatus::Waiting => 1,
            _ => 2,
        };
        let worse = if rank(other.0) > rank(one.0) {
            other.0
        } else {
            one.0
        };
        (worse, due_ms)
    }

    /// Makes the changes.
    pub fn apply(&mut self, changes: &RecordChanges) {
        for (key, value) in &changes.0 {
            match value {
                Some(value) => self.0.insert(key.clone(), value.clone()),
                None => self.0.remove(key),
            };
        }
    }

    /// Makes the [changes](super::Batch::of_task) of a pass that ran one task. Its events follow those in the log.
    ///
    /// # Errors
    ///
    /// The changes are damaged.
    pub fn apply_task(&mut self, changes: &RecordChanges) -> Result<(), RecordsError> {
        for (key, value) in &changes.0 {
            let parts: Vec<&str> = key.split(SEPARATOR).collect();
            match (&parts[..], value) {
                (["c", EVENT_LOG, _], Some(bytes)) => {
                    let last = self.last_event();
                    self.log(moved_after(unpack_checkpoint(bytes)?, last)?);
                }
                // Its oldest events were removed, which are in the log already.
                (["c", EVENT_LOG, _], None) => {}
                (_, Some(bytes)) => drop(self.0.insert(key.clone(), bytes.clone())),
                (_, None) => drop(self.0.remove(key)),
            }
        }
        Ok(())
    }

    /// The number of the last event in the log; 0 if there is none.
    pub(super) fn last_event(&self) -> u64 {
        let prefix = key(&["c", EVENT_LOG, ""]);
        // Only hexadecimal digits follow.
        let end = format!("{prefix}~");
        let last = self.0.range(prefix..end).next_back();
        last.map_or(0, |(key, _)| number_in(key))
    }

    /// Adds a record to the log.
    fn log(&mut self, record: StoredCheckpoint) {
        let (key, bytes) = log_record(&record);
        self.0.insert(key, bytes);
    }

    /// The changes that make these records from earlier ones.
    pub fn changes_since(&self, earlier: &Self) -> RecordChanges {
        let mut changes = Vec::new();
        let removed = earlier.0.keys().filter(|key| !self.0.contains_key(*key));
        changes.extend(removed.map(|key| (key.clone(), None)));
        let changed = self
            .0
            .iter()
            .filter(|(key, value)| earlier.0.get(*key) != Some(*value));
        changes.extend(changed.map(|(key, value)| (key.clone(), Some(value.clone()))));
        RecordChanges(changes)
    }

    /// Whether there is no thread.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The keys with their values, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }

    /// The checkpoints of the thread's own flow and of its sub-flows, without the time at which each was created: what two runs of
    /// the same flow have in common, byte for byte. Each is given by its namespace, its number and its bytes.
    ///
    /// # Errors
    ///
    /// A checkpoint is damaged.
    pub fn checkpoints(&self) -> Result<Vec<(String, u64, Vec<u8>)>, RecordsError> {
        let mut checkpoints = Vec::new();
        for (key, bytes) in &self.0 {
            let parts: Vec<&str> = key.split(SEPARATOR).collect();
            if let ["c", namespace, _] = parts[..]
                && namespace != EVENT_LOG
            {
                let StoredCheckpoint { seq, bytes, .. } = unpack_checkpoint(bytes)?;
                checkpoints.push((namespace.to_string(), seq, bytes));
            }
        }
        Ok(checkpoints)
    }

    /// The key of the newest checkpoint of the thread's own flow.
    pub(super) fn newest(&self) -> Option<String> {
        self.own_checkpoints()
            .next_back()
            .map(|(key, _)| key.clone())
    }

    /// The checkpoints of the thread's own flow, the oldest first.
    fn own_checkpoints(&self) -> impl DoubleEndedIterator<Item = (&String, &Vec<u8>)> {
        let prefix = own_checkpoints();
        // Only hexadecimal digits follow.
        let end = format!("{prefix}~");
        self.0.range(prefix..end)
    }

    /// The checkpoints of the thread's own flow, decoded. Of the result of [`for_task`](Self::for_task), the newest and those that it
    /// builds on.
    pub(super) fn chain(&self) -> Result<Vec<StoredCheckpoint>, CodecError> {
        let own = self.own_checkpoints();
        own.map(|(_, bytes)| unpack_checkpoint(bytes)).collect()
    }

    /// These records with one checkpoint of the thread's own flow in the place of all.
    pub(super) fn with_checkpoint(mut self, checkpoint: &StoredCheckpoint) -> Self {
        let own = own_checkpoints();
        self.0.retain(|key, _| !key.starts_with(&own));
        let key = key(&["c", "", &number(checkpoint.seq)]);
        self.0.insert(key, pack_checkpoint(checkpoint));
        self
    }

    /// The number of the newest checkpoint of the thread's own flow; 0 if there is none.
    pub(super) fn newest_number(&self) -> u64 {
        self.newest().as_deref().map_or(0, number_in)
    }

    /// Whether the task has a result.
    pub(super) fn has_result(&self, task: TaskId) -> bool {
        let (task, done) = (task.to_string(), WriteName::Done.to_string());
        self.0.keys().any(|key| {
            let parts: Vec<&str> = key.split(SEPARATOR).collect();
            matches!(parts[..], ["w", "", _, of, name] if of == task && name == done)
        })
    }

    /// The records as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        pack::list(self.0.iter(), &mut out, |(key, value), out| {
            pack::array(2, out);
            pack::text(key, out);
            pack::bytes(value, out);
        });
        out
    }

    /// The records with these bytes.
    ///
    /// # Errors
    ///
    /// These are not bytes of records.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordsError> {
        let entries = unpack(bytes, |from| {
            from.list(|from| {
                from.tuple(2)?;
                Ok((from.text()?, from.bytes()?.to_vec()))
            })
        })?;
        Ok(entries.into_iter().collect())
    }
}

impl FromIterator<(String, Vec<u8>)> for ThreadRecords {
    fn from_iter<I: IntoIterator<Item = (String, Vec<u8>)>>(entries: I) -> Self {
        ThreadRecords(entries.into_iter().collect())
    }
}

impl RecordChanges {
    /// Whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn pack(&self, out: &mut Vec<u8>) {
        pack::list(self.0.iter(), out, |(key, value), out| {
            pack::array(2, out);
            pack::text(key, out);
            pack::option(value.as_deref(), out, pack::bytes);
        });
    }

    pub(super) fn unpack(from: &mut Unpack<'_>) -> Result<Self, CodecError> {
        let changes = from.list(|from| {
            from.tuple(2)?;
            let key = from.text()?;
            Ok((key, from.option(Unpack::bytes)?.map(<[u8]>::to_vec)))
        })?;
        Ok(RecordChanges(changes))
    }

    /// The changes as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.pack(&mut out);
        out
    }

    /// The changes with these bytes.
    ///
    /// # Errors
    ///
    /// These are not bytes of changes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordsError> {
        Ok(unpack(bytes, Self::unpack)?)
    }
}

/// What is listed of a thread.
pub(super) async fn info(
    store: &dyn Store,
    thread: &str,
) -> Result<Option<ThreadInfo>, StoreError> {
    let query = ThreadQuery {
        prefix: thread,
        limit: Some(1),
        ..ThreadQuery::default()
    };
    let listed = store.threads(query).await?.into_iter();
    Ok(listed.into_iter().find(|info| info.id == thread))
}
