//! What must hold of whatever bytes come out of a store. The tests here try mutations of good bytes, bounded and on stable;
//! `fuzz/` lets libFuzzer look for worse.
#![allow(clippy::missing_panics_doc, reason = "panics are what it is for")]

#[cfg(test)]
mod mutation;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_core::Serialize;
use serde_core::de::DeserializeOwned;
use serde_json::Value;

use super::{KeyEntry, Record};
use crate::codec::{CodecError, decode, depth, encode};

/// A checkpoint is refused, or is the same after it was written and read again.
pub fn record(bytes: &[u8]) {
    let Ok(record) = Record::decode(bytes) else {
        return;
    };
    let entries = record.keys.iter().map(|key| KeyEntry {
        id: &key.id,
        kind: key.kind,
        bytes: &key.bytes,
    });
    let mut written = record.header.begin();
    record.header.encode(entries, &mut written);
    assert_eq!(Record::decode(&written).ok(), Some(record));
}

/// A value of each of these types is refused, or is the same after it was written and read again.
pub fn values(bytes: &[u8]) {
    depth::exceeds(bytes, 4);
    value::<bool>(bytes);
    value::<i64>(bytes);
    value::<u128>(bytes);
    value::<f64>(bytes);
    value::<char>(bytes);
    value::<String>(bytes);
    value::<Option<(u8, ())>>(bytes);
    value::<Vec<()>>(bytes);
    value::<Vec<u64>>(bytes);
    value::<Vec<Vec<String>>>(bytes);
    value::<[Option<u16>; 3]>(bytes);
    value::<Result<u8, String>>(bytes);
    value::<std::time::Duration>(bytes);
    value::<std::net::IpAddr>(bytes);
    value::<BTreeMap<(u8, String), Vec<f32>>>(bytes);
    value::<BTreeMap<String, Value>>(bytes);
    value::<Value>(bytes);
}

fn value<T: Serialize + DeserializeOwned>(bytes: &[u8]) {
    let Ok(value) = decode::<T>(bytes) else {
        return;
    };
    let mut written = Vec::new();
    match encode(&value, &mut written) {
        Ok(()) => {}
        // Reading allows one level more than writing.
        Err(CodecError::Depth) => return,
        Err(error) => panic!("{error}"),
    }
    // Compared as bytes: a number may be none that is equal to itself.
    let mut again = Vec::new();
    let same = decode::<T>(&written).and_then(|value| encode(&value, &mut again));
    assert!(same.is_ok(), "{same:?}");
    assert_eq!(written, again);
}
