//! A checkpoint with some of its keys.

use super::checkpoint::decode;
use super::merged::{combine, encode};
use crate::checkpoint::StoredCheckpoint;
use crate::durable::record::fingerprint::Fingerprint;

/// The last checkpoint of a chain with these keys, given by their stored names, so that it builds on no other. `None` if it cannot be
/// decoded, or if another program wrote it: a migration may need all keys.
pub(crate) fn slice(
    chain: &[StoredCheckpoint],
    program: &Fingerprint,
    keys: &[&str],
) -> Option<StoredCheckpoint> {
    let mut record = combine(decode(chain).ok()?)?;
    if !program.matches(&record.header) {
        return None;
    }
    record.keys.retain(|key| keys.contains(&&*key.id));
    let newest = chain.last()?;
    Some(StoredCheckpoint {
        seq: newest.seq,
        base: newest.seq,
        created_ms: newest.created_ms,
        bytes: encode(newest.seq, &record),
    })
}
