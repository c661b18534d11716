//! Removes the values of secret keys from everything that may repeat them.

use std::collections::BTreeSet;

use serde_json::Value;

use super::checkpoint::FileCheckpoint;
use super::error::REMOVED;
use crate::checkpoint::{KeyKind, StoredWrite, WriteName};
use crate::durable::result_to_form;
use petalflow_store::codec::{Json, hex, replace_texts, to_form, unhex};

/// A shorter text may occur by chance.
const SHORTEST: usize = 4;

/// The texts in the values of secret keys.
#[derive(Debug, Default)]
pub(super) struct SecretTexts(BTreeSet<String>);

impl SecretTexts {
    /// Adds those of the checkpoints of a flow.
    pub(super) fn add_checkpoints(&mut self, checkpoints: &[FileCheckpoint], keys: &[String]) {
        for checkpoint in checkpoints {
            let entries = checkpoint.record.keys.iter();
            let entries = entries.filter(|entry| keys.contains(&entry.id));
            let stored = |kind| matches!(kind, KeyKind::Value | KeyKind::Delta);
            for entry in entries.filter(|entry| stored(entry.kind)) {
                self.add_bytes(&entry.bytes);
            }
        }
    }

    /// Adds those that a task has written, which no checkpoint may have yet.
    pub(super) fn add_record(&mut self, write: &StoredWrite, keys: &[String]) {
        match write.contents() {
            Some(WriteName::Unfinished(key)) if keys.iter().any(|id| id == key) => {
                self.add_bytes(&write.bytes);
            }
            Some(WriteName::Done) => {
                let form = result_to_form(&write.bytes).unwrap_or_default();
                let entries = form.get("keys").and_then(Value::as_array);
                for entry in entries.into_iter().flatten() {
                    let key = entry["key"].as_str();
                    if key.is_some_and(|key| keys.iter().any(|id| id == key)) {
                        self.add(&entry["writes"]);
                    }
                }
            }
            _ => {}
        }
    }

    /// Adds those of an encoded value.
    pub(super) fn add_bytes(&mut self, bytes: &[u8]) {
        if let Ok(value) = Json(bytes).value() {
            self.add(&value);
        }
    }

    fn add(&mut self, value: &Value) {
        match value {
            Value::String(text) if text.len() >= SHORTEST => {
                // As it is in a text that is JSON, such as the arguments of a call.
                let quoted = Value::from(&**text).to_string();
                self.0.insert(quoted.trim_matches('"').into());
                self.0.insert(text.clone());
            }
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::Object(map) => map.values().for_each(|item| self.add(item)),
            _ => {}
        }
    }

    /// The texts, a longer one first: it may contain a shorter one.
    pub(super) fn sorted(self) -> Vec<String> {
        let mut texts = Vec::from_iter(self.0);
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        texts
    }
}

/// Replaces these texts wherever they occur.
pub(super) fn remove(value: &mut Value, texts: &[String]) {
    match value {
        Value::String(text) => remove_from_text(text, texts),
        Value::Array(items) => items.iter_mut().for_each(|item| remove(item, texts)),
        Value::Object(map) => {
            if let Some(bytes) = map.get("$bytes").and_then(Value::as_str).and_then(unhex)
                && has_any(&bytes, texts)
            {
                *value =
                    without(&bytes, texts).map_or_else(|| REMOVED.into(), |rest| to_form(&rest));
                return;
            }
            map.values_mut().for_each(|item| remove(item, texts));
            let has_secret = |name: &String| texts.iter().any(|text| name.contains(&**text));
            if map.keys().any(has_secret) {
                let entries = std::mem::take(map).into_iter();
                map.extend(entries.map(|(mut name, item)| {
                    remove_from_text(&mut name, texts);
                    (name, item)
                }));
            }
        }
        _ => {}
    }
}

/// Whether one of the texts is in the bytes.
fn has_any(bytes: &[u8], texts: &[String]) -> bool {
    let bytes = hex(bytes);
    let mut texts = texts.iter().filter(|text| **text != REMOVED);
    texts.any(|text| bytes.contains(&hex(text.as_bytes())))
}

/// The encoded value without these texts, so that it can still be read. `None` if one is in it as bytes.
fn without(bytes: &[u8], texts: &[String]) -> Option<Vec<u8>> {
    let replace = |text: &str| {
        let mut rest = text.to_string();
        remove_from_text(&mut rest, texts);
        (rest != text).then_some(rest)
    };
    let rest = replace_texts(bytes, &replace).ok()?;
    (!has_any(&rest, texts)).then_some(rest)
}

fn remove_from_text(text: &mut String, texts: &[String]) {
    for secret in texts.iter().filter(|secret| **secret != REMOVED) {
        if text.contains(&**secret) {
            *text = text.replace(&**secret, REMOVED);
        }
    }
}
