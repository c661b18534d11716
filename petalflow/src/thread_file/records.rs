//! The records of tasks in a file, and the messages to a thread.

use serde_json::{Value, json};

use super::error::{FileError, REMOVED};
use super::fields::Fields;
use super::removed::Removed;
use crate::checkpoint::{StoredCheckpoint, StoredWrite, WriteName};
use crate::durable::{result_from_form, result_to_form};
use crate::ids::TaskId;
use petalflow_store::codec::{CodecError, Unpack, pack, to_form, unpack};

/// A record of a task, with the name of its node.
pub(super) fn to_json(write: &StoredWrite, node: Option<&str>, removed: &Removed<'_>) -> Value {
    let mut value = match write.contents() {
        Some(WriteName::Done) => {
            result_to_form(&write.bytes).unwrap_or_else(|_| to_form(&write.bytes))
        }
        Some(WriteName::Unfinished(key)) if removed.has(key) => REMOVED.into(),
        _ => to_form(&write.bytes),
    };
    if let Some(Value::Array(keys)) = value.get_mut("keys") {
        for entry in keys {
            let key = entry["key"].as_str().unwrap_or_default();
            if removed.has(key) {
                entry["writes"] = removed.write(key, true);
            }
        }
    }
    json!({ "task": write.task.to_string(), "node": node, "name": write.name, "value": value })
}

pub(super) fn from_json(record: &Fields<'_>) -> Result<StoredWrite, FileError> {
    let task = TaskId::from_bytes(record.id("task")?);
    let name = record.text("name")?.to_string();
    let value = record.value("value")?;
    let bytes = if name == WriteName::Done.to_string() && value.get("end").is_some() {
        result_from_form(value).map_err(|problem| record.wrong("value", problem))?
    } else {
        record.form("value")?
    };
    Ok(StoredWrite { task, name, bytes })
}

/// A message to the thread.
pub(super) fn message_to_json(
    message: &StoredCheckpoint,
    removed: &Removed<'_>,
) -> Result<Value, CodecError> {
    unpack(&message.bytes, |from| {
        from.tuple(3)?;
        let id = from.option(Unpack::str)?;
        let (key, writes) = (from.str()?, from.bytes()?);
        Ok(json!({
            "number": message.seq,
            "created_ms": message.created_ms,
            "id": id,
            "key": key,
            "writes": if removed.has(key) { removed.write(key, false) } else { to_form(writes) },
        }))
    })
}

pub(super) fn message_from_json(message: &Fields<'_>) -> Result<StoredCheckpoint, FileError> {
    let seq = message.number("number")?;
    let (id, key) = (message.optional_text("id")?, message.text("key")?);
    let writes = message.form("writes")?;
    let mut bytes = Vec::new();
    pack::array(3, &mut bytes);
    pack::option(id, &mut bytes, pack::text);
    pack::text(key, &mut bytes);
    pack::bytes(&writes, &mut bytes);
    Ok(StoredCheckpoint {
        seq,
        base: seq,
        created_ms: message.number("created_ms")?,
        bytes,
    })
}
