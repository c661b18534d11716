//! The result of a task in a file that people read.

use serde_json::{Map, Value, json};

use super::task_results::{StoredSend, TaskRecord};
use crate::durable::record::fingerprint::WrittenBy;
use crate::error::NodeError;
use petalflow_store::codec::{CodecError, from_form, to_form, unpack};

/// The kinds of ends of a task.
const KINDS: [&str; 3] = ["done", "caught", "ignored"];

/// What a task wrote, chose and sent, as JSON.
pub(crate) fn result_to_form(bytes: &[u8]) -> Result<Value, CodecError> {
    let record = TaskRecord::decode(bytes)?;
    let kind = KINDS.get(usize::from(record.kind));
    let kind = kind.ok_or_else(|| CodecError::Unknown("an unknown end of a task".into()))?;
    let mut form = Map::new();
    form.insert("end".into(), (*kind).into());
    let keys = record.keys.iter();
    let writes = keys.map(|(key, bytes)| json!({ "key": key, "writes": to_form(bytes) }));
    form.insert("keys".into(), writes.collect());
    match (record.chosen, &*record.routes) {
        (0, _) => {}
        (1, [route]) => drop(form.insert("route".into(), (*route).into())),
        (_, routes) => drop(form.insert("routes".into(), routes.iter().copied().collect())),
    }
    if !record.sends.is_empty() {
        let sends = record.sends.iter().map(
            |sent| json!({ "route": sent.route, "each": sent.list, "value": to_form(&sent.bytes) }),
        );
        form.insert("sends".into(), sends.collect());
    }
    if let Some(failure) = &record.failure {
        let mut bytes = Vec::new();
        failure.pack(&mut bytes);
        form.insert("failure".into(), to_form(&bytes));
    }
    let hashes: Vec<String> = record
        .by
        .keys
        .iter()
        .map(|hash| format!("{hash:016x}"))
        .collect();
    let by = json!({
        "version": record.by.version,
        "state": format!("{:016x}", record.by.schema),
        "keys": hashes,
    });
    form.insert("by".into(), by);
    Ok(form.into())
}

/// The record of a result, from its form.
pub(crate) fn result_from_form(form: &Value) -> Result<Vec<u8>, CodecError> {
    let missing =
        |name: &str| CodecError::Decode(format!("the result of a task has no valid `{name}`"));
    let text = |value: &Value, name: &str| {
        let text = value.get(name).and_then(Value::as_str);
        text.map(str::to_string).ok_or_else(|| missing(name))
    };
    let list = |name: &str| form.get(name).and_then(Value::as_array);
    let hash = |text: &str| u64::from_str_radix(text, 16).map_err(|_| missing("by"));
    let end = text(form, "end")?;
    let kind = KINDS.iter().position(|kind| *kind == end);
    let kind = kind.ok_or_else(|| missing("end"))?;
    let mut keys = Vec::new();
    for write in list("keys").ok_or_else(|| missing("keys"))? {
        let bytes = from_form(write.get("writes").ok_or_else(|| missing("writes"))?)?;
        keys.push((text(write, "key")?, bytes));
    }
    let names = list("routes").into_iter().flatten();
    let mut routes: Vec<&str> = names.filter_map(Value::as_str).collect();
    let route = form.get("route").and_then(Value::as_str);
    let chosen = match (route, list("routes")) {
        (Some(_), _) => 1,
        (None, Some(_)) => 2,
        (None, None) => 0,
    };
    routes.extend(route);
    let mut sends = Vec::new();
    for sent in list("sends").into_iter().flatten() {
        let bytes = from_form(sent.get("value").ok_or_else(|| missing("value"))?)?;
        sends.push(StoredSend {
            route: sent.get("route").and_then(Value::as_str),
            list: sent
                .get("each")
                .and_then(Value::as_bool)
                .ok_or_else(|| missing("each"))?,
            bytes: bytes.into(),
        });
    }
    let failure = form
        .get("failure")
        .map(|failure| unpack(&from_form(failure)?, NodeError::unpack));
    let by = form.get("by").ok_or_else(|| missing("by"))?;
    let version = by.get("version").and_then(Value::as_u64);
    let hashes = by
        .get("keys")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let record = TaskRecord {
        by: WrittenBy {
            version: version
                .and_then(|it| it.try_into().ok())
                .ok_or_else(|| missing("by"))?,
            schema: hash(&text(by, "state")?)?,
            keys: hashes
                .map(|text| hash(text.as_str().unwrap_or_default()))
                .collect::<Result<_, _>>()?,
        },
        // One of three.
        kind: u8::try_from(kind).unwrap_or_default(),
        keys: keys
            .iter()
            .map(|(key, bytes)| (&**key, bytes.into()))
            .collect(),
        chosen,
        routes,
        sends,
        failure: failure.transpose()?,
    };
    let mut bytes = Vec::new();
    record.encode(&mut bytes);
    Ok(bytes)
}
