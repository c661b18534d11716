//! What must hold for any bytes of a checkpoint. The fuzz target `record` and a test of `petalflow-store` call it.

use petalflow_store::codec::{KeyEntry, Record};

/// A checkpoint is refused, or is the same after it was encoded and decoded again.
pub(crate) fn record(bytes: &[u8]) {
    let Ok(record) = Record::decode(0, bytes, None) else {
        return;
    };
    let entries = record.keys.iter().map(|key| KeyEntry {
        id: &key.id,
        kind: key.kind,
        bytes: &key.bytes,
    });
    let mut written = Vec::new();
    record.header.encode(0, None, entries, &mut written);
    assert_eq!(Record::decode(0, &written, None).ok(), Some(record));
}
