//! Removes the values of secret keys from everything that may repeat them.

use serde_json::Value;

use super::checkpoint::FileCheckpoint;
use super::error::REMOVED;
use crate::checkpoint::KeyKind;
use petalflow_store::codec::{Json, hex, unhex};

/// A shorter text may occur by chance.
const SHORTEST: usize = 4;

/// The texts in the values of these keys.
pub(super) fn texts(checkpoints: &[FileCheckpoint], keys: &[String]) -> Vec<String> {
    let mut texts = Vec::new();
    for checkpoint in checkpoints {
        let entries = checkpoint.record.keys.iter();
        let entries = entries.filter(|entry| keys.contains(&entry.id));
        let stored = |kind| matches!(kind, KeyKind::Value | KeyKind::Delta);
        for entry in entries.filter(|entry| stored(entry.kind)) {
            if let Ok(value) = Json(&entry.bytes).value() {
                collect(&value, &mut texts);
            }
        }
    }
    // A longer one first: it may contain a shorter one.
    texts.sort_by_key(|text: &String| std::cmp::Reverse(text.len()));
    texts.dedup();
    texts
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if text.len() >= SHORTEST => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(map) => map.values().for_each(|item| collect(item, texts)),
        _ => {}
    }
}

/// Replaces these texts wherever they occur.
pub(super) fn remove(value: &mut Value, texts: &[String]) {
    match value {
        Value::String(text) => {
            for secret in texts.iter().filter(|secret| **secret != REMOVED) {
                if text.contains(&**secret) {
                    *text = text.replace(&**secret, REMOVED);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| remove(item, texts)),
        Value::Object(map) => {
            if let Some(bytes) = map.get("$bytes").and_then(Value::as_str).and_then(unhex)
                && texts
                    .iter()
                    .any(|text| hex(&bytes).contains(&hex(text.as_bytes())))
            {
                *value = REMOVED.into();
                return;
            }
            map.values_mut().for_each(|item| remove(item, texts));
        }
        _ => {}
    }
}
