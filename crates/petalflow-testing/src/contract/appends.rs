//! An append takes effect completely or not at all.

use std::pin::pin;
use std::task::{Context, Waker};

use petalflow::checkpoint::{Address, StoreError, ThreadQuery};

use super::samples::{THREAD, append, append_all, checkpoint, newest, numbers, write};
use super::{CaseResult, Stores};

/// An append must name the newest checkpoint. If it does not, the error names both numbers.
pub async fn an_append_after_another_number_is_a_conflict(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    let refused = async |seq, after, newest| {
        let result = append(store, address, seq, after).await;
        let Err(StoreError::Conflict {
            thread,
            expected,
            found,
        }) = &result
        else {
            panic!(
                "an append after {after:?}, where the newest number is {newest:?}, must be a `Conflict`, and was {result:?}"
            )
        };
        assert_eq!(
            (thread.as_str(), *expected, *found),
            (THREAD, after, newest),
            "a `Conflict` names the thread, the number expected and the number found"
        );
    };
    refused(2, Some(1), None).await;
    append(store, address, 5, None).await?;
    refused(6, None, Some(5)).await;
    refused(6, Some(4), Some(5)).await;
    refused(9, Some(8), Some(5)).await;
    // A gap is not a conflict.
    append(store, address, 8, Some(5)).await?;
    refused(9, Some(5), Some(8)).await;
    append(store, address, 9, Some(8)).await?;
    assert_eq!(
        numbers(store, address).await?,
        [9, 8, 5],
        "a refused append stores nothing, and every other append stores its checkpoint"
    );
    Ok(())
}

/// Threads and namespaces have numbers of their own.
pub async fn each_address_has_its_own_numbers(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    let addresses = [
        ("essay-42", ""),
        ("essay-42", "review"),
        ("essay-42", "review/dig[3]"),
        ("essay-4", "2"),
        ("essay-42review", ""),
    ]
    .map(|(thread, namespace)| Address { thread, namespace });
    for (address, seq) in addresses.into_iter().zip(1..) {
        append(store, address, seq, None).await?;
    }
    for (address, seq) in addresses.into_iter().zip(1..) {
        append(store, address, seq + 10, Some(seq)).await?;
        assert_eq!(
            numbers(store, address).await?,
            [seq + 10, seq],
            "each address has its own checkpoints: {address:?} has these two"
        );
    }
    Ok(())
}

/// A conflict changes nothing.
pub async fn a_conflict_changes_nothing(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    append_all(store, address, &[1, 2]).await?;
    store
        .write(address, 2, &[write(1, "result", "kept")], None)
        .await?;
    let before = (
        store.read(address, None).await?,
        store.history(address, None, 10).await?,
        store.writes(address, 0..u64::MAX).await?,
        store.threads(ThreadQuery::default()).await?,
    );
    let refused = store
        .append(address, &checkpoint(3), Some(1), 0..3, None)
        .await;
    assert!(
        matches!(refused, Err(StoreError::Conflict { .. })),
        "an append after 1, where the newest number is 2, must be a `Conflict`, and was {refused:?}"
    );
    let unknown = Address::root("unknown");
    let refused = store
        .append(unknown, &checkpoint(3), Some(1), 0..3, None)
        .await;
    assert!(
        matches!(refused, Err(StoreError::Conflict { found: None, .. })),
        "an append after 1, where there is no checkpoint, must be a `Conflict`, and was {refused:?}"
    );
    let after = (
        store.read(address, None).await?,
        store.history(address, None, 10).await?,
        store.writes(address, 0..u64::MAX).await?,
        store.threads(ThreadQuery::default()).await?,
    );
    assert_eq!(
        after, before,
        "a conflict changes nothing: no checkpoint, no writes, no thread"
    );
    Ok(())
}

/// An append removes the writes that it settles, and no others.
pub async fn c90_settled_writes_go_with_the_append(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    let elsewhere = Address {
        namespace: "review",
        ..address
    };
    append_all(store, address, &[1, 2, 3]).await?;
    for seq in 1..=5 {
        let beside = [write(1, "result", "a"), write(2, "result", "b")];
        store.write(address, seq, &beside, None).await?;
        store.write(elsewhere, seq, &beside, None).await?;
    }
    let left = async |address| -> Result<Vec<u64>, StoreError> {
        let writes = store.writes(address, 0..u64::MAX).await?;
        let mut seqs: Vec<u64> = writes.iter().map(|(seq, _)| *seq).collect();
        seqs.dedup();
        Ok(seqs)
    };
    for (seq, settled, expected) in [
        (4, 2..4, &[1, 4, 5][..]),
        (5, 0..0, &[1, 4, 5]),
        (6, 5..5, &[1, 4, 5]),
        (7, 4..5, &[1, 5]),
        (8, 0..u64::MAX, &[]),
    ] {
        let given = checkpoint(seq);
        store
            .append(address, &given, Some(seq - 1), settled.clone(), None)
            .await?;
        assert_eq!(
            left(address).await?,
            expected,
            "an append that settles {settled:?} removes the writes beside those numbers and no others"
        );
    }
    assert_eq!(
        left(elsewhere).await?,
        [1, 2, 3, 4, 5],
        "an append settles writes at its own address only"
    );
    Ok(())
}

/// An append whose future is dropped takes effect completely or not at all.
pub async fn a_dropped_append_is_whole_or_nothing(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    append(store, address, 1, None).await?;
    let mut newest_seen = 1;
    for _ in 0..30 {
        let seq = newest_seen + 1;
        store
            .write(address, newest_seen, &[write(1, "result", "open")], None)
            .await?;
        {
            let given = checkpoint(seq);
            let dropped = store.append(address, &given, Some(newest_seen), 0..seq, None);
            let mut dropped = pin!(dropped);
            let _ = dropped
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
        }
        // It may still be in progress. At any time, all of its effects are visible or none.
        let stored = store.read(address, None).await?.unwrap_or_default();
        let found = stored.chain.last().map(|checkpoint| checkpoint.seq);
        if found == Some(newest_seen) {
            assert_eq!(
                stored.writes.len(),
                1,
                "`append` is atomic: a dropped append has settled writes without adding its checkpoint"
            );
            // The second of the two appends is refused.
            match append(store, address, seq, Some(newest_seen)).await {
                Ok(()) | Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        } else {
            assert_eq!(
                found,
                Some(seq),
                "`append` is atomic: a dropped append has added its checkpoint, or nothing"
            );
            assert_eq!(
                store.writes(address, 0..u64::MAX).await?,
                [],
                "`append` is atomic: a dropped append has added its checkpoint, so it has settled the writes"
            );
        }
        newest_seen = seq;
        assert_eq!(
            newest(store, address).await?,
            Some(seq),
            "after a dropped append the store accepts the next append"
        );
    }
    Ok(())
}
