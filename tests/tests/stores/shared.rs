//! What is done to each store alike.

use petalflow::checkpoint::{Address, Claim, Store, StoreError, StoredCheckpoint};

use super::other_process::OtherProcess;

/// The thread of these tests.
pub(super) const ESSAY: Address<'static> = Address {
    thread: "essay",
    namespace: "",
};

pub(super) fn checkpoint(seq: u64) -> StoredCheckpoint {
    StoredCheckpoint {
        seq,
        base: seq,
        created_ms: 1_700_000_000_000 + seq,
        bytes: seq.to_be_bytes().to_vec(),
    }
}

pub(super) async fn append(
    store: &impl Store,
    seq: u64,
    after: Option<u64>,
) -> Result<(), StoreError> {
    store.append(ESSAY, &checkpoint(seq), after, 0..0).await
}

/// Appends 50 checkpoints, each after whatever is the newest.
pub(super) async fn append_many(store: &impl Store) {
    let mut newest = None;
    let mut appended = 0;
    while appended < 50 {
        let seq = newest.map_or(1, |newest| newest + 1);
        match append(store, seq, newest).await {
            Ok(()) => {
                appended += 1;
                newest = Some(seq);
            }
            Err(StoreError::Conflict { found, .. }) => newest = found,
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// Appends while another process does: all that either has appended is there.
pub(super) async fn contend(store: &impl Store, process: OtherProcess) {
    append_many(store).await;
    process.finish();
    let history = store.history(ESSAY, None, 1000).await.unwrap();
    let numbers: Vec<u64> = history.iter().rev().map(|found| found.seq).collect();
    assert_eq!(numbers, (1..=100).collect::<Vec<_>>());
}

pub(super) fn busy(owner: &str) -> Claim {
    Claim::Busy {
        owner: owner.into(),
    }
}

/// A server that is away: calls say so, and what a claim gives back meanwhile is given back later.
pub(super) async fn is_away(store: &impl Store) {
    let away = [
        append(store, 2, Some(1)).await.unwrap_err(),
        store.read(ESSAY, None).await.unwrap_err(),
        store.claim("other", "one").await.unwrap_err(),
    ];
    for error in away {
        assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    }
    store.release("other", "one");
}

/// The server is back: two stores on it go on.
pub(super) async fn is_back(store: &impl Store, other: &impl Store) {
    append(store, 2, Some(1)).await.unwrap();
    append(other, 3, Some(2)).await.unwrap();
    let read = store.read(ESSAY, None).await.unwrap();
    assert_eq!(read.unwrap().chain, [checkpoint(3)]);
}
