//! Several changes of a thread take effect together.

use std::pin::pin;
use std::task::{Context, Waker};

use petalflow::BoxError;
use petalflow::checkpoint::{
    Address, Store, StoreChange, StoreError, StoredWrite, ThreadInfo, ThreadQuery, ThreadStatus,
};

use super::samples::{THREAD, append, append_all, checkpoint, numbers, write};
use super::{CaseResult, Stores};

fn appended(namespace: &str, seq: u64, after: Option<u64>) -> StoreChange {
    StoreChange::Append {
        namespace: namespace.into(),
        checkpoint: checkpoint(seq),
        after,
        settled: 0..seq,
    }
}

fn written(namespace: &str, seq: u64, write: StoredWrite) -> StoreChange {
    StoreChange::Write {
        namespace: namespace.into(),
        seq,
        writes: vec![write],
    }
}

fn held(due_ms: Option<u64>) -> StoreChange {
    StoreChange::Status {
        flow: "Talk".into(),
        status: ThreadStatus::Held,
        due_ms,
    }
}

async fn info(store: &dyn Store) -> Result<ThreadInfo, BoxError> {
    let listed = store.threads(ThreadQuery::default()).await?.pop();
    listed.ok_or_else(|| "a thread with a checkpoint is not listed".into())
}

fn review() -> Address<'static> {
    Address {
        thread: THREAD,
        namespace: "review",
    }
}

/// Changes take effect in their order, also several of one address.
pub async fn changes_take_effect_in_their_order(stores: &Stores) -> CaseResult {
    let (store, root) = (&*stores.store, Address::root(THREAD));
    append_all(store, root, &[1]).await?;
    store
        .write(root, 1, &[write(1, "result", "old")], None)
        .await?;
    let changes = [
        appended("review", 3, None),
        appended("review", 4, Some(3)),
        written("review", 4, write(2, "result", "first")),
        written("review", 4, write(2, "result", "second")),
        appended("", 2, Some(1)),
        held(Some(700)),
    ];
    store.apply(THREAD, &changes, None).await?;
    let other = &*stores.other;
    assert_eq!(numbers(other, root).await?, [2, 1]);
    assert_eq!(numbers(other, review()).await?, [4, 3]);
    let stored = other.read(review(), None).await?.unwrap_or_default();
    assert_eq!(
        (stored.chain, stored.writes),
        (vec![checkpoint(4)], vec![write(2, "result", "second")]),
        "a checkpoint and a write come back as they were given"
    );
    assert_eq!(
        other.writes(root, 0..u64::MAX).await?,
        [],
        "an append in a batch removes the settled writes"
    );
    let listed = info(other).await?;
    assert_eq!(
        (listed.status, listed.flow.as_str(), listed.due_ms),
        (ThreadStatus::Held, "Talk", Some(700)),
        "a status in a batch is that of the checkpoint before it in the batch"
    );
    assert_eq!(listed.checkpoints, 4, "each appended checkpoint is counted");
    append(store, root, 5, Some(2)).await?;
    assert_eq!(
        info(other).await?.status,
        ThreadStatus::Running,
        "the next checkpoint of the thread's own flow ends a status"
    );
    Ok(())
}

/// Nothing changes if one checkpoint cannot be appended, whichever it is.
pub async fn a_batch_with_a_conflict_changes_nothing(stores: &Stores) -> CaseResult {
    let (store, root) = (&*stores.store, Address::root(THREAD));
    append_all(store, root, &[1]).await?;
    store
        .write(root, 1, &[write(1, "result", "kept")], None)
        .await?;
    let before = info(store).await?;
    for (changes, expected, found) in [
        (
            vec![
                held(None),
                appended("review", 3, None),
                appended("", 2, None),
            ],
            None,
            Some(1),
        ),
        (
            vec![
                appended("", 2, Some(1)),
                appended("", 3, Some(1)),
                held(None),
            ],
            Some(1),
            Some(2),
        ),
        (
            vec![
                written("review", 1, write(1, "result", "new")),
                appended("review", 2, Some(1)),
            ],
            Some(1),
            None,
        ),
    ] {
        let refused = store.apply(THREAD, &changes, None).await;
        let Err(StoreError::Conflict {
            thread,
            expected: named,
            found: newest,
        }) = refused
        else {
            panic!("an append after another number must be a `Conflict`, and was {refused:?}")
        };
        // Where the batch itself appended before, the number after that is as good as the number without the batch.
        let found_in_store = newest == found || newest == Some(1);
        assert!(
            (thread.as_str(), named) == (THREAD, expected) && found_in_store,
            "a `Conflict` names the thread, the number expected and the number found"
        );
        assert_eq!(numbers(store, root).await?, [1]);
        assert_eq!(
            store.namespaces(THREAD).await?,
            [""],
            "`apply` is atomic: a batch that is refused has added nothing"
        );
        assert_eq!(info(store).await?, before);
        let kept = vec![(1, write(1, "result", "kept"))];
        assert_eq!(store.writes(root, 0..u64::MAX).await?, kept);
    }
    Ok(())
}

/// A thread may begin with a batch.
pub async fn a_thread_begins_with_a_batch(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    let changes: Vec<_> = (1..=150)
        .map(|seq| appended("", seq, (seq > 1).then(|| seq - 1)))
        .chain((1..=150).map(|seq| appended("review", seq, (seq > 1).then(|| seq - 1))))
        .chain([held(None)])
        .collect();
    store.apply(THREAD, &changes, None).await?;
    let listed = info(&*stores.other).await?;
    assert_eq!(
        (listed.checkpoints, listed.status),
        (300, ThreadStatus::Held),
        "a batch may have any number of changes"
    );
    let newest_first: Vec<u64> = (1..=150).rev().collect();
    assert_eq!(numbers(store, review()).await?, newest_first);
    store.apply(THREAD, &[], None).await?;
    Ok(())
}

/// A batch whose future is dropped takes effect completely or not at all.
pub async fn a_dropped_batch_is_whole_or_nothing(stores: &Stores) -> CaseResult {
    let (store, root) = (&*stores.store, Address::root(THREAD));
    append_all(store, root, &[1]).await?;
    append_all(store, review(), &[1]).await?;
    for polls in 1..=20 {
        let before = info(store).await?.checkpoints / 2;
        let seq = before + 1;
        let changes = [
            appended("review", seq, Some(before)),
            appended("", seq, Some(before)),
            held(None),
        ];
        {
            let mut dropped = pin!(store.apply(THREAD, &changes, None));
            for _ in 0..polls {
                let mut cx = Context::from_waker(Waker::noop());
                if dropped.as_mut().poll(&mut cx).is_ready() {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        // It may still be in progress. The next call of this handle comes after it.
        let again = store.apply(THREAD, &changes, None).await;
        assert!(
            matches!(again, Ok(()) | Err(StoreError::Conflict { .. })),
            "after a dropped batch the store accepts the next, unless the first took effect: {again:?}"
        );
        let listed = info(store).await?;
        assert_eq!(
            (
                numbers(store, root).await?[0],
                numbers(store, review()).await?[0],
                listed.checkpoints,
                listed.status
            ),
            (seq, seq, 2 * seq, ThreadStatus::Held),
            "`apply` is atomic: a dropped batch has made all of its changes, or none"
        );
    }
    Ok(())
}
