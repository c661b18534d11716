//! The messages to a thread in a file: those that reducers fold, and those of each key that nodes receive.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::error::FileError;
use super::fields::Fields;
use super::records;
use super::removed::Removed;
use super::secrets::SecretTexts;
use crate::checkpoint::{
    StoreChange, StoreError, StoredCheckpoint, StoredWrite, ThreadStorage, is_inbox,
};
use petalflow_store::codec::{CodecError, Unpack, unpack};

/// The inboxes of a thread by their namespaces.
pub(super) type Inboxes = BTreeMap<String, FileInbox>;

/// The messages of one namespace, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FileInbox {
    pub(super) messages: Vec<StoredCheckpoint>,
    /// Up to which message the thread has taken them.
    pub(super) taken: Vec<StoredWrite>,
}

/// Reads all inboxes of a thread.
pub(super) async fn read(storage: &ThreadStorage) -> Result<Inboxes, StoreError> {
    let mut inboxes = Inboxes::new();
    for namespace in storage.store.namespaces(&storage.thread).await? {
        if !is_inbox(&namespace) {
            continue;
        }
        let mut messages = storage.history(&namespace, None, usize::MAX).await?;
        messages.reverse();
        let taken = storage.writes(&namespace, 0).await?;
        inboxes.insert(namespace, FileInbox { messages, taken });
    }
    Ok(inboxes)
}

/// All inboxes of a file.
pub(super) fn from_json(inboxes: &Fields<'_>) -> Result<Inboxes, FileError> {
    let read = |namespace: &str| {
        let at = format!("/inboxes/{namespace}");
        let inbox = Fields::of(inboxes.value(namespace)?, at)?;
        let messages = inbox.objects("messages")?;
        let taken = inbox.objects("taken")?;
        Ok(FileInbox {
            messages: messages
                .iter()
                .map(records::message_from_json)
                .collect::<Result<_, _>>()?,
            taken: taken
                .iter()
                .map(records::from_json)
                .collect::<Result<_, _>>()?,
        })
    };
    inboxes
        .names()
        .map(|namespace| Ok((namespace.to_string(), read(namespace)?)))
        .collect()
}

impl FileInbox {
    /// The inbox as JSON, without the values of these keys.
    pub(super) fn to_json(&self, removed: &Removed<'_>) -> Result<Value, CodecError> {
        let messages = self.messages.iter();
        let messages = messages.map(|message| records::message_to_json(message, removed));
        let taken = self.taken.iter();
        let nothing = Removed::nothing();
        let taken = taken.map(|write| records::to_json(write, None, &nothing));
        Ok(json!({
            "messages": messages.collect::<Result<Vec<_>, _>>()?,
            "taken": taken.collect::<Vec<_>>(),
        }))
    }

    /// Adds the texts of messages to these keys, which may not be in the state yet.
    pub(super) fn add_secrets(
        &self,
        removed: &[String],
        texts: &mut SecretTexts,
    ) -> Result<(), CodecError> {
        for message in &self.messages {
            unpack(&message.bytes, |from| {
                from.tuple(3)?;
                from.option(Unpack::str)?;
                let (key, writes) = (from.str()?, from.bytes()?);
                if removed.iter().any(|id| id == key) {
                    texts.add_bytes(writes);
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The changes that make this inbox in an empty namespace.
    pub(super) fn changes(&self, namespace: &str) -> Vec<StoreChange> {
        let mut after = None;
        let mut changes = Vec::new();
        for message in &self.messages {
            changes.push(StoreChange::Append {
                namespace: namespace.into(),
                checkpoint: message.clone(),
                after: after.replace(message.seq),
                settled: 0..0,
            });
        }
        if !self.taken.is_empty() {
            changes.push(StoreChange::Write {
                namespace: namespace.into(),
                seq: 0,
                writes: self.taken.clone(),
            });
        }
        changes
    }
}
