//! What fits into a message of Restate.

use petalflow::checkpoint::ThreadStatus;
use petalflow::engine::{Batch, PassEnd, ThreadRecords};

/// Restate takes at most 32 MiB in a message, an entry of a journal, and a value of an object. What is around the records has the
/// rest. Without this check, Restate would repeat for ever what it cannot store.
pub(crate) const MAX_BYTES: usize = 31 << 20;

/// Why so many bytes cannot be sent or stored. `None` if they can.
pub(crate) fn too_large(what: &str, bytes: usize) -> Option<String> {
    let megabytes = bytes.div_ceil(1_000_000);
    (bytes > MAX_BYTES).then(|| {
        format!(
            "{what} has {megabytes} MB, and Restate takes at most 32 MiB at once: set `RestateFlow::bodies`, or put large values into a \
             file or an object store, and their names into the state"
        )
    })
}

/// The number of bytes of the records.
pub(crate) fn size(records: &ThreadRecords) -> usize {
    let sizes = records.iter().map(|(key, value)| key.len() + value.len());
    sizes.sum()
}

/// The batch of a pass that fails with this text.
pub(crate) fn failed(failure: String) -> Batch {
    let end = PassEnd {
        status: ThreadStatus::Failed,
        due_ms: None,
        committed: false,
        failure: Some(failure),
    };
    Batch {
        end: Some(end),
        ..Batch::default()
    }
}
