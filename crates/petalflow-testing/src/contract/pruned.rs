//! What is listed of a thread when some of its checkpoints are removed.

use petalflow::BoxError;
use petalflow::checkpoint::{Address, StoredCheckpoint, ThreadChange, ThreadQuery, ThreadStatus};

use super::descriptions::{ALL, ids, info, labels, status};
use super::samples::{THREAD, append, append_all, checkpoint, write};
use super::{CaseResult, Stores};

/// The time of the first checkpoint remains when that checkpoint is pruned.
pub async fn pruning_leaves_the_time_of_creation(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    for seq in 1..=4 {
        let next = StoredCheckpoint {
            created_ms: 100 * seq,
            ..checkpoint(seq)
        };
        let after = (seq > 1).then(|| seq - 1);
        store.append(address, &next, after, 0..0, None).await?;
        store.prune(address, seq, seq, None).await?;
        let found = info(&*stores.other).await?;
        assert_eq!(
            (found.created_ms, found.updated_ms, found.checkpoints),
            (100, 100 * seq, 1),
            "a thread was created with its first checkpoint, also after that was pruned"
        );
    }
    Ok(())
}

/// A thread is as old as its first checkpoint in any namespace, whatever else was set or removed before and after.
pub async fn a_thread_is_as_old_as_its_first_checkpoint(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    let at = |seq, created_ms| StoredCheckpoint {
        created_ms,
        ..checkpoint(seq)
    };
    let times = async || -> Result<_, BoxError> {
        let found = info(&*stores.other).await?;
        Ok((found.created_ms, found.updated_ms))
    };
    store
        .write(address, 1, &[write(1, "ask", "a")], None)
        .await?;
    let ann = labels([("user", "ann")]);
    store
        .describe(THREAD, ThreadChange::Labels(&ann), None)
        .await?;
    store.append(address, &at(1, 300), None, 0..0, None).await?;
    assert_eq!(
        times().await?,
        (300, 300),
        "the first checkpoint makes a thread"
    );
    let nested = Address {
        namespace: "review",
        ..address
    };
    store.append(nested, &at(1, 500), None, 0..0, None).await?;
    store
        .append(address, &at(2, 400), Some(1), 0..0, None)
        .await?;
    assert_eq!(
        times().await?,
        (300, 500),
        "a thread was created with its first checkpoint, and changed with the newest one of all namespaces"
    );
    store.prune(nested, 9, 9, None).await?;
    assert_eq!(
        times().await?,
        (300, 400),
        "what was pruned is not the newest any more"
    );
    store.append(nested, &at(9, 450), None, 0..0, None).await?;
    store.prune(address, 9, 9, None).await?;
    assert_eq!(
        times().await?,
        (300, 450),
        "the time of creation remains while the thread has any checkpoint"
    );
    store.prune(nested, 10, 10, None).await?;
    store
        .append(address, &at(10, 700), None, 0..0, None)
        .await?;
    assert_eq!(
        times().await?,
        (700, 700),
        "a thread that has had no checkpoint in between is created anew"
    );
    Ok(())
}

/// What is pruned changes no time of creation: in the thread, or in one of its sub-flows, the first checkpoint or others.
pub async fn no_prune_changes_the_time_of_creation(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    let root = Address::root(THREAD);
    let nested = Address {
        namespace: "review",
        ..root
    };
    for seq in 1..=4_u64 {
        for (address, created_ms) in [(root, 100 * seq), (nested, 100 * seq + 50)] {
            let next = StoredCheckpoint {
                created_ms,
                ..checkpoint(seq)
            };
            let after = (seq > 1).then(|| seq - 1);
            store.append(address, &next, after, 0..0, None).await?;
        }
    }
    for (address, below, updated_ms) in [
        (nested, 2, 450),
        (root, 3, 450),
        (nested, 3, 450),
        (root, 4, 450),
        (nested, 9, 400),
        (nested, 9, 400),
        (root, 4, 400),
    ] {
        store.prune(address, below, below, None).await?;
        let found = info(&*stores.other).await?;
        assert_eq!(
            (found.created_ms, found.updated_ms),
            (100, updated_ms),
            "`prune` below {below} of {address:?} leaves the time at which the thread was created"
        );
    }
    Ok(())
}

/// What is counted of a thread follows what is pruned, in each namespace.
pub async fn sizes_follow_what_is_pruned(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    let root = Address::root(THREAD);
    let nested = Address {
        namespace: "review",
        ..root
    };
    for address in [root, nested] {
        for seq in 1..=4_u64 {
            let sized = StoredCheckpoint {
                bytes: vec![7; 10 * usize::try_from(seq)?],
                ..checkpoint(seq)
            };
            let after = (seq > 1).then(|| seq - 1);
            store.append(address, &sized, after, 0..0, None).await?;
        }
    }
    for (address, below, expected) in [
        (root, 1, (8, 200)),
        (root, 3, (6, 170)),
        (nested, 4, (3, 110)),
        (nested, 4, (3, 110)),
        (nested, 5, (2, 70)),
        (root, 4, (1, 40)),
    ] {
        store.prune(address, below, below, None).await?;
        let found = info(&*stores.other).await?;
        assert_eq!(
            (found.checkpoints, found.bytes),
            expected,
            "a thread is listed with what is left after `prune` below {below} of {address:?}"
        );
    }
    append(store, root, 5, Some(4)).await?;
    assert_eq!(
        info(store).await?.checkpoints,
        2,
        "and with what is appended then"
    );
    Ok(())
}

/// `prune` leaves a status and a due time while the newest checkpoint remains.
pub async fn a_status_outlives_a_prune(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    let nested = Address {
        namespace: "review",
        ..address
    };
    append_all(store, address, &[1, 2, 3]).await?;
    append_all(store, nested, &[1, 2]).await?;
    let waits = status("Talk", ThreadStatus::Waiting, Some(500));
    store.describe(THREAD, waits, None).await?;
    for (pruned, below) in [(address, 2), (address, 3), (nested, 2), (nested, 9)] {
        store.prune(pruned, below, below, None).await?;
        let found = info(&*stores.other).await?;
        assert_eq!(
            (&*found.flow, found.status, found.due_ms),
            ("Talk", ThreadStatus::Waiting, Some(500)),
            "`prune` leaves the status of a thread whose newest checkpoint remains"
        );
        let due = ThreadQuery {
            status: Some(ThreadStatus::Waiting),
            due_by_ms: Some(500),
            ..ALL
        };
        assert_eq!(ids(store, due).await?, [THREAD], "and it is found by it");
    }
    Ok(())
}
