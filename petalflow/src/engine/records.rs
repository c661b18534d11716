//! All that a store has of one thread, as a map from keys to bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;

use rpds::RedBlackTreeMapSync;

use super::record_changes::RecordChanges;
use super::record_form::{
    SEPARATOR, STATUS, after_numbers, after_parts, attribute_of, key, log_record, number,
    number_in, pack_checkpoint, pack_status, unknown_record, unpack_checkpoint, unpack_numbers,
    unpack_status, write_of,
};
use super::records_error::RecordsError;
use super::thread_address::ThreadAddress;
use crate::checkpoint::{
    CodecError, EVENT_LOG, LINKS, Store, StoreChange, StoreError, StoredCheckpoint, StoredWrite,
    ThreadChange, ThreadInfo, ThreadQuery, ThreadStatus, ThreadStorage, WriteName,
};
use crate::durable::moved_after;
use crate::ids::TaskId;
use petalflow_store::codec::{pack, unpack};

/// All that a store has of one thread, as a map from keys to bytes: for an engine that keeps the records of a thread itself, and
/// to move a thread from one store to another.
///
/// A clone shares the records with the original, so it costs the same for one record and for a million. A change costs the same
/// too, up to a logarithm.
///
/// There is one key for each checkpoint, for each record of a task, for the status, and for each label and search attribute. A key
/// that has a value gets another value only if it is the status, a label or an attribute, or if a task records the same thing again. So an engine that stores
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
pub struct ThreadRecords {
    map: RedBlackTreeMapSync<String, Vec<u8>>,
    sizes: Sizes,
}

/// The sizes of all checkpoints, so that no list has to read them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sizes {
    checkpoints: u64,
    bytes: u64,
}

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
        let mut records = ThreadRecords::default();
        for namespace in store.namespaces(thread).await? {
            for checkpoint in storage.history(&namespace, None, usize::MAX).await? {
                let key = key(&["c", &namespace, &number(checkpoint.seq)]);
                records.set(key, Some(pack_checkpoint(&checkpoint)));
            }
            for (seq, write) in storage.writes_beside(&namespace, 0..u64::MAX).await? {
                let task = write.task.to_string();
                let key = key(&["w", &namespace, &number(seq), &task, &write.name]);
                records.set(key, Some(write.bytes));
            }
        }
        if let Some(info) = info(store, thread).await? {
            if !info.flow.is_empty() {
                let status = pack_status(&info.flow, info.status, info.due_ms);
                records.set(STATUS.into(), Some(status));
            }
            for (name, value) in info.attributes {
                let value = value.as_bytes().to_vec();
                records.set(key(&["a", &name]), Some(value));
            }
            for (name, value) in info.labels {
                records.set(key(&["l", &name]), Some(value.into_bytes()));
            }
        }
        Ok(records)
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
        let mut attributes = BTreeMap::new();
        for (key, bytes) in &self.map {
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
                    let seq = u64::from_str_radix(seq, 16).map_err(|_| unknown_record(key))?;
                    let task = TaskId::parse(task).ok_or_else(|| unknown_record(key))?;
                    let (name, bytes) = (name.into(), bytes.clone());
                    changes.push(StoreChange::Write {
                        namespace: namespace.into(),
                        seq,
                        writes: vec![StoredWrite { task, name, bytes }],
                    });
                }
                ["l", name] => {
                    let value =
                        String::from_utf8(bytes.clone()).map_err(|_| unknown_record(key))?;
                    labels.insert(name.into(), value);
                }
                ["a", name] => {
                    attributes.insert(name.into(), attribute_of(key, bytes)?);
                }
                [STATUS] => {}
                _ => return Err(unknown_record(key)),
            }
        }
        if let Some((flow, status, due_ms)) = self.described()? {
            changes.push(StoreChange::Status {
                flow,
                status,
                due_ms,
            });
        }
        if !attributes.is_empty() {
            changes.push(StoreChange::Attributes(attributes));
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

    pub(super) fn described(
        &self,
    ) -> Result<Option<(String, ThreadStatus, Option<u64>)>, RecordsError> {
        self.map
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
            checkpoints: self.sizes.checkpoints,
            bytes: self.sizes.bytes,
            ..ThreadInfo::default()
        };
        let mut created: Option<u64> = None;
        for namespace in self.namespaces() {
            let created_ms = |bytes: Option<(&str, &[u8])>| {
                let numbers = bytes.map(|(_, bytes)| unpack_numbers(bytes)).transpose();
                numbers.map(|numbers| numbers.map(|(checkpoint, _)| checkpoint.created_ms))
            };
            let first = created_ms(self.checkpoints_of(&namespace).next())?;
            let last = created_ms(self.checkpoints_of(&namespace).next_back())?;
            created = created.into_iter().chain(first).min();
            info.updated_ms = info.updated_ms.max(last.unwrap_or(0));
        }
        for (key, bytes) in self.range(key(&["l", ""]), after_parts(&["l"])) {
            if let Some((_, name)) = key.split_once(SEPARATOR) {
                let value = String::from_utf8_lossy(bytes).into_owned();
                info.labels.insert(name.into(), value);
            }
        }
        for (key, bytes) in self.range(key(&["a", ""]), after_parts(&["a"])) {
            if let Some((_, name)) = key.split_once(SEPARATOR) {
                info.attributes
                    .insert(name.into(), attribute_of(key, bytes)?);
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

    /// The threads that are stopped when a person holds this one, because its nodes have started them with
    /// [`cancel_with_parent`](crate::thread::StartChild::cancel_with_parent). They are in engines.
    pub fn cancelled_children(&self) -> impl Iterator<Item = ThreadAddress> {
        let links = self.range(key(&["w", LINKS, ""]), after_parts(&["w", LINKS]));
        let links = links.filter_map(|(key, bytes)| write_of(key, bytes));
        let children =
            links.filter(|(_, link)| matches!(link.contents(), Some(WriteName::Child(_))));
        children.filter_map(|(_, link)| ThreadAddress::parse(&String::from_utf8_lossy(&link.bytes)))
    }

    /// What one task needs to run: the checkpoint of its superstep with those that it builds on, the records of the task, and all
    /// that sub-flows have stored. Not the log of events.
    #[must_use]
    pub fn for_task(&self, task: TaskId) -> Self {
        let newest = self.checkpoints_of("").next_back();
        let base = newest.and_then(|(_, bytes)| unpack_numbers(bytes).ok());
        let base = base.map_or(0, |(newest, _)| newest.base);
        let task = task.to_string();
        let of_task = |key: &str| key.split(SEPARATOR).nth(3) == Some(&task);
        let own = self.range(key(&["c", "", &number(base)]), after_parts(&["c", ""]));
        // What the task logs is added to the log.
        let before_log = self.range(after_parts(&["c", ""]), key(&["c", EVENT_LOG, ""]));
        let after_log = self.range(after_parts(&["c", EVENT_LOG]), key(&["w", "", ""]));
        let writes = self.range(key(&["w", "", ""]), after_parts(&["w", ""]));
        let of_subflows = self.range(after_parts(&["w", ""]), after_parts(&["w"]));
        own.chain(before_log)
            .chain(after_log)
            .chain(writes.filter(|(key, _)| of_task(key)))
            .chain(of_subflows)
            .map(|(key, bytes)| (key.to_string(), bytes.to_vec()))
            .collect()
    }

    /// What a superstep comes to of which two parts have these statuses, and are due then: it has failed if one has, waits if one
    /// waits, and sleeps if one sleeps.
    #[must_use]
    pub fn worse(
        one: (ThreadStatus, Option<u64>),
        other: (ThreadStatus, Option<u64>),
    ) -> (ThreadStatus, Option<u64>) {
        let due_ms = one.1.into_iter().chain(other.1).min();
        let rank = |status| match status {
            ThreadStatus::Running | ThreadStatus::Finished => 0,
            ThreadStatus::Sleeping => 1,
            ThreadStatus::Waiting => 2,
            _ => 3,
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
            self.set(key.clone(), value.clone());
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
                _ => self.set(key.clone(), value.clone()),
            }
        }
        Ok(())
    }

    /// The record of the result of a task, with its key.
    pub(super) fn result_of(&self, task: TaskId) -> Option<(String, StoredWrite)> {
        let key = self.result_key(task)?;
        let bytes = self.get(&key)?.to_vec();
        Some((key, StoredWrite::new(task, WriteName::Done, bytes)))
    }

    /// The key of the record of the result of a task.
    pub(super) fn result_key(&self, task: TaskId) -> Option<String> {
        let end = key(&["", &task.to_string(), &WriteName::Done.to_string()]);
        let mut writes = self.range(key(&["w", "", ""]), after_parts(&["w", ""]));
        let found = writes.find(|(key, _)| key.ends_with(&end));
        found.map(|(key, _)| key.to_string())
    }

    /// The number of the last event in the log; 0 if there is none.
    pub(super) fn last_event(&self) -> u64 {
        let last = self.checkpoints_of(EVENT_LOG).next_back();
        last.map_or(0, |(key, _)| number_in(key))
    }

    /// Adds a record to the log.
    fn log(&mut self, record: StoredCheckpoint) {
        let (key, bytes) = log_record(&record);
        self.set(key, Some(bytes));
    }

    /// The changes that make these records from earlier ones.
    pub fn changes_since(&self, earlier: &Self) -> RecordChanges {
        let mut changes = Vec::new();
        let removed = earlier.map.keys();
        let removed = removed.filter(|key| !self.map.contains_key(*key));
        changes.extend(removed.map(|key| (key.clone(), None)));
        let changed = self.map.iter();
        let changed = changed.filter(|(key, value)| earlier.map.get(*key) != Some(*value));
        changes.extend(changed.map(|(key, value)| (key.clone(), Some(value.clone()))));
        RecordChanges(changes)
    }

    /// Whether there is no thread.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// The keys with their values, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.map.iter().map(|(key, value)| (&**key, &**value))
    }

    /// The checkpoints of the thread's own flow and of its sub-flows, without the time at which each was created: what two runs of
    /// the same flow have in common, byte for byte. Each is given by its namespace, its number and its bytes.
    ///
    /// # Errors
    ///
    /// A checkpoint is damaged.
    pub fn checkpoints(&self) -> Result<Vec<(String, u64, Vec<u8>)>, RecordsError> {
        let mut checkpoints = Vec::new();
        for (key, bytes) in &self.map {
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

    /// The checkpoints of the thread's own flow, decoded. Of the result of [`for_task`](Self::for_task), the newest and those that it
    /// builds on.
    pub(super) fn chain(&self) -> Result<Vec<StoredCheckpoint>, CodecError> {
        let own = self.checkpoints_of("");
        own.map(|(_, bytes)| unpack_checkpoint(bytes)).collect()
    }

    /// These records with one checkpoint of the thread's own flow in the place of all.
    pub(super) fn with_checkpoint(mut self, checkpoint: &StoredCheckpoint) -> Self {
        let own: Vec<String> = keys(self.checkpoints_of("")).collect();
        for key in own {
            self.set(key, None);
        }
        let key = key(&["c", "", &number(checkpoint.seq)]);
        self.set(key, Some(pack_checkpoint(checkpoint)));
        self
    }

    /// The number of the newest checkpoint of the thread's own flow; 0 if there is none.
    pub(super) fn newest_number(&self) -> u64 {
        self.newest("").unwrap_or(0)
    }

    /// The number of the newest checkpoint of a flow.
    pub(super) fn newest(&self, namespace: &str) -> Option<u64> {
        let newest = self.checkpoints_of(namespace).next_back();
        newest.map(|(key, _)| number_in(key))
    }

    /// The checkpoints of a flow, the oldest first.
    pub(super) fn checkpoints_of<'a>(
        &'a self,
        namespace: &str,
    ) -> impl DoubleEndedIterator<Item = (&'a str, &'a [u8])> + use<'a> {
        let prefix = key(&["c", namespace, ""]);
        let end = after_numbers(&prefix);
        self.range(prefix, end)
    }

    /// The namespaces that have a checkpoint or a write, in the order of their bytes.
    pub(super) fn namespaces(&self) -> BTreeSet<String> {
        let mut namespaces = BTreeSet::new();
        for kind in ["c", "w"] {
            let (mut from, end) = (key(&[kind, ""]), after_parts(&[kind]));
            while let Some(namespace) = self.first_namespace(from.clone(), end.clone()) {
                from = after_parts(&[kind, &namespace]);
                namespaces.insert(namespace);
            }
        }
        namespaces
    }

    fn first_namespace(&self, from: String, end: String) -> Option<String> {
        let (key, _) = self.range(from, end).next()?;
        key.split(SEPARATOR).nth(1).map(Into::into)
    }

    pub(super) fn get(&self, key: &str) -> Option<&[u8]> {
        self.map.get(key).map(|value| &**value)
    }

    /// The records whose keys are at least `from` and below `end`, in the order of the keys.
    pub(super) fn range(
        &self,
        from: String,
        end: String,
    ) -> impl DoubleEndedIterator<Item = (&str, &[u8])> {
        let range = if from < end {
            (Bound::Included(from), Bound::Excluded(end))
        } else {
            // Empty.
            (Bound::Included(from.clone()), Bound::Excluded(from))
        };
        let found = self.map.range::<String, _>(range);
        found.map(|(key, value)| (&**key, &**value))
    }

    /// Sets or removes a record.
    pub(super) fn set(&mut self, key: String, value: Option<Vec<u8>>) {
        if key.starts_with("c\0") {
            let of = |bytes: &[u8]| unpack_numbers(bytes).map_or(0, |(_, contents)| contents.len());
            if let Some(earlier) = self.map.get(&key) {
                self.sizes.checkpoints -= 1;
                self.sizes.bytes -= of(earlier) as u64;
            }
            if let Some(value) = &value {
                self.sizes.checkpoints += 1;
                self.sizes.bytes += of(value) as u64;
            }
        }
        match value {
            Some(value) => self.map.insert_mut(key, value),
            None => drop(self.map.remove_mut(&key)),
        }
    }

    /// Fails if there is a kind of record that this version does not know.
    pub(super) fn check_kinds(&self) -> Result<(), RecordsError> {
        // What is between the known kinds.
        let unknown = [
            (String::new(), key(&["c", ""])),
            (after_parts(&["c"]), key(&["l", ""])),
            (after_parts(&["l"]), STATUS.to_string()),
            (format!("{STATUS}\0"), key(&["w", ""])),
            (after_parts(&["w"]), char::MAX.to_string()),
        ];
        let mut unknown = unknown.iter();
        match unknown.find_map(|(from, end)| self.range(from.clone(), end.clone()).next()) {
            Some((key, _)) => Err(unknown_record(key)),
            None => Ok(()),
        }
    }

    /// The records as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        pack::list(self.map.iter(), &mut out, |(key, value), out| {
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
        let mut records = ThreadRecords::default();
        for (key, value) in entries {
            records.set(key, Some(value));
        }
        records
    }
}

/// The keys of these records.
pub(super) fn keys<'a>(
    records: impl Iterator<Item = (&'a str, &'a [u8])>,
) -> impl Iterator<Item = String> {
    records.map(|(key, _)| key.to_string())
}

/// What is listed of a thread.
async fn info(store: &dyn Store, thread: &str) -> Result<Option<ThreadInfo>, StoreError> {
    let query = ThreadQuery {
        prefix: thread,
        limit: Some(1),
        ..ThreadQuery::default()
    };
    let listed = store.threads(query).await?.into_iter();
    Ok(listed.into_iter().find(|info| info.id == thread))
}
