//! The data that the cases store.

use petalflow::checkpoint::{Address, Store, StoreError, StoredCheckpoint, StoredWrite};
use petalflow::event::TaskId;

use super::CaseResult;

/// The thread of most cases.
pub(super) const THREAD: &str = "essay-42";

/// A checkpoint that is its own base. It differs from the others in every field.
pub(super) fn checkpoint(seq: u64) -> StoredCheckpoint {
    StoredCheckpoint {
        seq,
        base: seq,
        created_ms: 1_750_000_000_000 + seq % 1_000,
        bytes: format!("checkpoint {seq}").into_bytes(),
    }
}

/// A write. The first byte of a task's id distinguishes it.
pub(super) fn write(task: u8, name: &str, bytes: impl Into<Vec<u8>>) -> StoredWrite {
    let mut id = [0; 16];
    id[0] = task;
    StoredWrite {
        task: TaskId::from_bytes(id),
        name: name.into(),
        bytes: bytes.into(),
    }
}

/// Appends a checkpoint that settles nothing.
pub(super) async fn append(
    store: &dyn Store,
    address: Address<'_>,
    seq: u64,
    after: Option<u64>,
) -> Result<(), StoreError> {
    store
        .append(address, &checkpoint(seq), after, 0..0, None)
        .await
}

/// Appends checkpoints with these numbers to an address that has none.
pub(super) async fn append_all(
    store: &dyn Store,
    address: Address<'_>,
    seqs: &[u64],
) -> CaseResult {
    let mut after = None;
    for &seq in seqs {
        append(store, address, seq, after).await?;
        after = Some(seq);
    }
    Ok(())
}

/// The numbers at an address, newest first.
pub(super) async fn numbers(
    store: &dyn Store,
    address: Address<'_>,
) -> Result<Vec<u64>, StoreError> {
    let history = store.history(address, None, usize::MAX).await?;
    Ok(history.iter().map(|checkpoint| checkpoint.seq).collect())
}

/// The number of the newest checkpoint.
pub(super) async fn newest(
    store: &dyn Store,
    address: Address<'_>,
) -> Result<Option<u64>, StoreError> {
    let stored = store.read(address, None).await?;
    Ok(stored.and_then(|stored| Some(stored.chain.last()?.seq)))
}
