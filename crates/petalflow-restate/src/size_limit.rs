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

/// The text of an error is longer in no message and no list.
const MAX_TEXT: usize = 16 << 10;

/// The text of an error, which is in every message about its thread, without its end if it is long.
pub(crate) fn cut(text: String) -> String {
    let bytes = text.len();
    if bytes <= MAX_TEXT {
        return text;
    }
    let first = &text[..text.floor_char_boundary(MAX_TEXT)];
    format!("{first}… ({bytes} bytes, of which these are the first)")
}

/// The end of a pass that fails with this text.
pub(crate) fn failure(text: String) -> PassEnd {
    PassEnd {
        status: ThreadStatus::Failed,
        due_ms: None,
        committed: false,
        failure: Some(cut(text)),
    }
}

/// The batch of a pass that fails with this text.
pub(crate) fn failed(text: String) -> Batch {
    Batch {
        end: Some(failure(text)),
        ..Batch::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f42_a_long_text_is_cut_between_two_characters() {
        assert_eq!(cut("short".into()), "short");
        let text = cut("ä".repeat(20_000_000) + "x");
        assert_eq!(
            text,
            format!(
                "{}… (40000001 bytes, of which these are the first)",
                "ä".repeat(8_192)
            )
        );
    }
}
