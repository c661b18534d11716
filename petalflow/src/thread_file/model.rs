//! The contents of a file: all that a store has of a thread, except for its events.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use super::checkpoint::{self, FileCheckpoint};
use super::error::FileError;
use super::fields::Fields;
use super::inbox::{self, Inboxes};
use super::records;
use super::removed::Removed;
use super::secrets::{self, SecretTexts};
use crate::checkpoint::{
    Attribute, Cause, Header, KeyEntry, StoreChange, StoredCheckpoint, StoredWrite, ThreadStatus,
    ThreadStorage, WriteName,
};
use crate::ids::TaskId;
use crate::outcome::ThreadError;
use petalflow_store::codec::{CodecError, Outline};

/// The version of the form.
const VERSION: u64 = 1;

/// All that a store has of a thread, except for its events.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FileThread {
    pub(crate) id: String,
    pub(crate) flow: String,
    pub(crate) status: ThreadStatus,
    due_ms: Option<u64>,
    labels: BTreeMap<String, String>,
    attributes: BTreeMap<String, Attribute>,
    /// The stored names of the keys whose values were removed.
    pub(crate) removed: Vec<String>,
    /// By namespace.
    pub(crate) flows: BTreeMap<String, FileFlow>,
    inboxes: Inboxes,
}

/// The checkpoints of one flow of the thread, oldest first, and the records of its tasks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FileFlow {
    pub(crate) checkpoints: Vec<FileCheckpoint>,
    pub(crate) writes: Vec<(u64, StoredWrite)>,
}

impl FileThread {
    /// Reads a thread. The values of the keys that are removed are still in it.
    pub(super) async fn read(
        storage: &ThreadStorage,
        removed: Vec<String>,
    ) -> Result<Self, ThreadError> {
        let info = storage.info().await?;
        let info = info.filter(|info| info.checkpoints > 0);
        let info = info.ok_or_else(|| ThreadError::Unknown {
            thread: storage.thread.to_string(),
        })?;
        let mut flows = BTreeMap::new();
        for namespace in storage.flows().await? {
            let mut stored = storage.history(&namespace, None, usize::MAX).await?;
            stored.reverse();
            let records = storage.records(&namespace, &stored).await?;
            let checkpoints = stored
                .iter()
                .zip(records)
                .map(|(stored, record)| FileCheckpoint {
                    seq: stored.seq,
                    base: stored.base,
                    created_ms: stored.created_ms,
                    record,
                });
            let flow = FileFlow {
                checkpoints: checkpoints.collect(),
                writes: storage.writes_beside(&namespace, 0..u64::MAX).await?,
            };
            flows.insert(namespace, flow);
        }
        // While the first run of a thread goes on, only its checkpoints name its flow.
        let newest = flows
            .get("")
            .and_then(|own: &FileFlow| own.checkpoints.last());
        let of_checkpoint = newest.map(|newest| newest.record.header.flow.to_string());
        let flow = Some(info.flow).filter(|flow| !flow.is_empty());
        Ok(FileThread {
            id: info.id,
            flow: flow.or(of_checkpoint).unwrap_or_default(),
            status: info.status,
            due_ms: info.due_ms,
            labels: info.labels,
            attributes: info.attributes,
            removed,
            flows,
            inboxes: inbox::read(storage).await?,
        })
    }

    /// The file, without the values that are removed.
    pub(super) fn to_json(&self) -> Result<Value, CodecError> {
        let nodes = self.nodes();
        let mut flows = Map::new();
        for (namespace, flow) in &self.flows {
            flows.insert(namespace.clone(), self.flow_to_json(flow, &nodes));
        }
        let mut inboxes = Map::new();
        let own = self.flows.get("").and_then(FileFlow::newest_outline);
        let removed = Removed::of(&self.removed, own);
        for (namespace, inbox) in &self.inboxes {
            inboxes.insert(namespace.clone(), inbox.to_json(&removed)?);
        }
        let mut json = json!({
            "petalflow": "thread",
            "version": VERSION,
            "thread": self.id,
            "flow": self.flow,
            "status": self.status.as_str(),
            "due_ms": self.due_ms,
            "labels": self.labels,
            "attributes": self.shown_attributes(),
            "removed": self.removed,
            "history": self.history(),
            "flows": flows,
            "inboxes": inboxes,
        });
        let mut texts = SecretTexts::default();
        for flow in self.flows.values() {
            texts.add_checkpoints(&flow.checkpoints, &self.removed);
            for (_, write) in &flow.writes {
                texts.add_record(write, &self.removed);
            }
        }
        for inbox in self.inboxes.values() {
            inbox.add_secrets(&self.removed, &mut texts)?;
        }
        let texts = texts.sorted();
        for part in ["flows", "inboxes", "labels", "attributes"] {
            if let Some(part) = json.get_mut(part) {
                secrets::remove(part, &texts);
            }
        }
        Ok(json)
    }

    /// The search attributes of keys whose values are not removed.
    fn shown_attributes(&self) -> BTreeMap<&String, &Attribute> {
        let attributes = self.attributes.iter();
        attributes
            .filter(|(name, _)| !self.removed.contains(name))
            .collect()
    }

    fn flow_to_json(&self, flow: &FileFlow, nodes: &HashMap<TaskId, String>) -> Value {
        let removed = Removed::of(&self.removed, flow.newest_outline());
        let record = |write: &StoredWrite| {
            let node = nodes.get(&write.task).map(|node| &**node);
            records::to_json(write, node, &removed)
        };
        let mut checkpoints = Vec::new();
        let mut with_checkpoint = BTreeSet::new();
        for checkpoint in &flow.checkpoints {
            let mut map = checkpoint::to_json(checkpoint, &self.removed);
            let beside = flow.writes.iter().filter(|(seq, _)| *seq == checkpoint.seq);
            let beside: Vec<Value> = beside.map(|(_, write)| record(write)).collect();
            if !beside.is_empty() {
                map.insert("records".into(), beside.into());
            }
            with_checkpoint.insert(checkpoint.seq);
            checkpoints.push(Value::from(map));
        }
        let others = flow.writes.iter();
        let others = others.filter(|(seq, _)| !with_checkpoint.contains(seq));
        let others = others.map(|(seq, write)| {
            let mut value = record(write);
            value["beside"] = (*seq).into();
            value
        });
        json!({ "checkpoints": checkpoints, "other_records": others.collect::<Vec<_>>() })
    }

    /// What is left of the history of the thread.
    fn history(&self) -> Value {
        let Some(own) = self.flows.get("") else {
            return Value::Null;
        };
        let oldest = own.checkpoints.first().map(|oldest| &oldest.record.header);
        let begins = oldest.is_some_and(|oldest| oldest.parent.is_none());
        let committed = own
            .checkpoints
            .iter()
            .filter(|checkpoint| checkpoint.record.header.cause == Cause::Superstep);
        let (mut supersteps, mut recorded) = (0, 0);
        for committed in committed {
            let before = own.checkpoints.iter().rev();
            let mut before = before.filter(|before| before.seq < committed.seq);
            let Some(before) = before.next() else {
                continue;
            };
            supersteps += 1;
            let header = &before.record.header;
            let of_superstep = || own.writes.iter().filter(|(seq, _)| *seq == header.origin);
            let has_result =
                |id: TaskId| of_superstep().any(|(_, write)| write.is(id, WriteName::Done));
            let mut tasks = header.frontier.iter();
            let id = |node: &str, send| self.task_id("", header, node, send);
            recorded += u64::from(tasks.all(|task| has_result(id(&task.node, task.send))));
        }
        json!({
            "begins": if begins { "with its input" } else { "later: older checkpoints were removed" },
            "supersteps": supersteps,
            "supersteps_with_results": recorded,
        })
    }

    /// The id of a task of a checkpoint.
    pub(crate) fn task_id(
        &self,
        namespace: &str,
        header: &Header,
        node: &str,
        send: Option<u32>,
    ) -> TaskId {
        let of = (&*self.id, header.incarnation);
        crate::ids::task_id(of.0, of.1, namespace, header.origin, node, send)
    }

    /// The nodes of all tasks.
    fn nodes(&self) -> HashMap<TaskId, String> {
        let mut nodes = HashMap::new();
        for (namespace, flow) in &self.flows {
            for checkpoint in &flow.checkpoints {
                let header = &checkpoint.record.header;
                for task in &header.frontier {
                    let id = self.task_id(namespace, header, &task.node, task.send);
                    nodes.insert(id, task.node.clone());
                }
            }
        }
        nodes
    }

    pub(super) fn from_json(json: &Value) -> Result<Self, FileError> {
        let file = Fields::of(json, String::new())?;
        if file.text("petalflow")? != "thread" {
            return Err(file.wrong("petalflow", "`thread` is expected"));
        }
        let version = file.number("version")?;
        if version != VERSION {
            let problem = format!(
                "version {version} is not known, and {VERSION} is: use the version of petalflow that wrote the file"
            );
            return Err(file.wrong("version", problem));
        }
        let status = ThreadStatus::named(file.text("status")?);
        let labels = Fields::of(file.value("labels")?, "/labels".into())?;
        let mut thread = FileThread {
            id: file.text("thread")?.into(),
            flow: file.text("flow")?.into(),
            status: status.ok_or_else(|| file.wrong("status", "an unknown status"))?,
            due_ms: file.optional_number("due_ms")?,
            labels: labels.all_texts()?,
            attributes: file.attributes("attributes")?,
            removed: file.texts("removed")?,
            flows: BTreeMap::new(),
            inboxes: inbox::from_json(&Fields::of(file.value("inboxes")?, "/inboxes".into())?)?,
        };
        let flows = Fields::of(file.value("flows")?, "/flows".into())?;
        for namespace in flows.names() {
            let flow = Fields::of(flows.value(namespace)?, format!("/flows/{namespace}"))?;
            let flow = read_flow(&flow, &thread.removed)?;
            thread.flows.insert(namespace.to_string(), flow);
        }
        Ok(thread)
    }

    /// The changes that make this thread in an empty store.
    pub(crate) fn changes(&self) -> Vec<StoreChange> {
        let mut changes = Vec::new();
        for (namespace, flow) in &self.flows {
            changes.extend(flow.changes(namespace));
        }
        for (namespace, inbox) in &self.inboxes {
            changes.extend(inbox.changes(namespace));
        }
        changes.push(StoreChange::Status {
            flow: self.flow.clone(),
            status: self.status,
            due_ms: self.due_ms,
        });
        if !self.attributes.is_empty() {
            changes.push(StoreChange::Attributes(self.attributes.clone()));
        }
        changes
    }

    /// The same thread with these flows and no messages, as one that runs.
    #[cfg(feature = "engine")]
    pub(crate) fn with_flows(&self, flows: BTreeMap<String, FileFlow>) -> Self {
        FileThread {
            id: self.id.clone(),
            flow: self.flow.clone(),
            status: ThreadStatus::Running,
            due_ms: None,
            labels: self.labels.clone(),
            attributes: self.attributes.clone(),
            removed: self.removed.clone(),
            flows,
            inboxes: Inboxes::new(),
        }
    }

    /// Whether any message was sent to the thread.
    #[cfg(feature = "engine")]
    pub(crate) fn has_inbox(&self) -> bool {
        !self.inboxes.is_empty()
    }

    /// Adds the messages up to a number, of which some were taken, and all that nodes receive: which one a task has received is
    /// in its records.
    #[cfg(feature = "engine")]
    pub(crate) fn set_messages(&mut self, from: &Self, until: u64, taken: u64) {
        self.inboxes.clone_from(&from.inboxes);
        let Some(inbox) = self.inboxes.get_mut(crate::checkpoint::INBOX) else {
            return;
        };
        inbox.messages.retain(|message| message.seq <= until);
        inbox.taken.clear();
        if !inbox.messages.is_empty() {
            let mut bytes = Vec::new();
            petalflow_store::codec::pack::number(taken, &mut bytes);
            let write = StoredWrite::new(TaskId::from_bytes([0; 16]), WriteName::Taken, bytes);
            inbox.taken.push(write);
        }
    }

    /// The stored names of the keys of the thread's flows.
    pub(super) fn keys(&self) -> BTreeSet<&str> {
        let checkpoints = self.flows.values().flat_map(|flow| &flow.checkpoints);
        let records = checkpoints.map(|checkpoint| &checkpoint.record);
        records
            .flat_map(|record| {
                let outline = record.header.outline.iter();
                let outlined = outline.flat_map(|outline| outline.keys.iter());
                let stored = record.keys.iter().map(|entry| &*entry.id);
                outlined.map(|key| &*key.id).chain(stored)
            })
            .collect()
    }

    pub(super) async fn write_to(&self, storage: &ThreadStorage) -> Result<(), ThreadError> {
        if !storage.store.namespaces(&self.id).await?.is_empty() {
            let thread = self.id.clone();
            return Err(ThreadError::Exists { thread });
        }
        storage.apply(self.changes()).await?;
        if !self.labels.is_empty() {
            storage.set_labels(&self.labels).await?;
        }
        Ok(())
    }
}

fn read_flow(flow: &Fields<'_>, removed: &[String]) -> Result<FileFlow, FileError> {
    let mut read = FileFlow::default();
    for fields in flow.objects("checkpoints")? {
        let base = fields.number("base")?;
        let base = read.checkpoints.iter().find(|found| found.seq == base);
        let base = base.map(|base| &base.record.header);
        let checkpoint = checkpoint::from_json(&fields, removed, base)?;
        for record in fields.objects("records")? {
            let record = records::from_json(&record)?;
            read.writes.push((checkpoint.seq, record));
        }
        read.checkpoints.push(checkpoint);
    }
    for record in flow.objects("other_records")? {
        let write = records::from_json(&record)?;
        read.writes.push((record.number("beside")?, write));
    }
    Ok(read)
}

impl FileFlow {
    /// The outline of the program that wrote the newest checkpoint.
    fn newest_outline(&self) -> Option<&Outline> {
        let mut checkpoints = self.checkpoints.iter().rev();
        checkpoints.find_map(|it| it.record.header.outline.as_ref())
    }

    /// The outline of the program that wrote a checkpoint.
    pub(crate) fn outline(&self, checkpoint: &FileCheckpoint) -> Option<&Outline> {
        let base = self
            .checkpoints
            .iter()
            .find(|base| base.seq == checkpoint.base);
        base?.record.header.outline.as_ref()
    }

    fn changes(&self, namespace: &str) -> Vec<StoreChange> {
        let (mut changes, mut after) = (Vec::new(), None);
        for checkpoint in &self.checkpoints {
            let mut bytes = Vec::new();
            let keys = checkpoint.record.keys.iter().map(|key| KeyEntry {
                id: &key.id,
                kind: key.kind,
                bytes: &key.bytes,
            });
            let is_base = checkpoint.seq == checkpoint.base;
            let names = self.outline(checkpoint).filter(|_| !is_base);
            let header = &checkpoint.record.header;
            header.encode(checkpoint.seq, names, keys, &mut bytes);
            changes.push(StoreChange::Append {
                namespace: namespace.into(),
                checkpoint: StoredCheckpoint {
                    seq: checkpoint.seq,
                    base: checkpoint.base,
                    created_ms: checkpoint.created_ms,
                    bytes,
                },
                after: after.replace(checkpoint.seq),
                settled: 0..0,
            });
        }
        for (seq, write) in &self.writes {
            changes.push(StoreChange::Write {
                namespace: namespace.into(),
                seq: *seq,
                writes: vec![write.clone()],
            });
        }
        changes
    }
}
