//! Calls with nothing in them, with all that there is, and twice.

use std::ops::Range;

use petalflow::BoxError;
use petalflow::checkpoint::{Address, Claim, StoreError, ThreadChange, ThreadQuery, ThreadStatus};

use super::claims::{busy, granted_soon};
use super::descriptions::{ALL, info, labels, status};
use super::samples::{THREAD, append, append_all, checkpoint, numbers, write};
use super::{CaseResult, Stores};

/// A range that ends before it begins, as a caller computes it from two numbers.
const TURNED: Range<u64> = Range { start: 5, end: 2 };

/// A number that only limits a search may be any number.
pub async fn a_history_is_limited_by_any_number(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    append_all(store, address, &[1, 2, 3]).await?;
    let history = async |before, limit| -> Result<Vec<u64>, BoxError> {
        let history = store.history(address, before, limit).await?;
        Ok(history.iter().map(|found| found.seq).collect())
    };
    assert_eq!(
        history(Some(u64::MAX), usize::MAX).await?,
        [3, 2, 1],
        "a history before the largest number has all checkpoints"
    );
    assert_eq!(
        history(Some(0), usize::MAX).await?,
        [0; 0],
        "no checkpoint is before number 0"
    );
    assert_eq!(
        history(None, 0).await?,
        [0; 0],
        "a history of at most 0 checkpoints is empty"
    );
    Ok(())
}

/// A range may have no end, and one that ends before it begins is empty.
pub async fn a_range_may_have_no_end_or_be_empty(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    append(store, address, 1, None).await?;
    for seq in [1, 3, 900] {
        let writes = [write(1, "result", "kept")];
        store.write(address, seq, &writes, None).await?;
    }
    let beside = async |range: Range<u64>| -> Result<Vec<u64>, BoxError> {
        let writes = store.writes(address, range).await?;
        Ok(writes.iter().map(|(seq, _)| *seq).collect())
    };
    assert_eq!(
        beside(TURNED).await?,
        [0; 0],
        "a range that ends before it begins has no writes"
    );
    let second = checkpoint(2);
    store
        .append(address, &second, Some(1), TURNED, None)
        .await?;
    assert_eq!(
        beside(0..u64::MAX).await?,
        [1, 3, 900],
        "a range that ends before it begins settles nothing"
    );
    let third = checkpoint(3);
    store
        .append(address, &third, Some(2), 0..u64::MAX, None)
        .await?;
    assert_eq!(
        beside(0..u64::MAX).await?,
        [0; 0],
        "a range without an end settles all writes"
    );
    Ok(())
}

/// Numbers of checkpoints grow by any amount.
pub async fn numbers_have_gaps(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    append_all(store, address, &[5, 6, 1_000, 1 << 40]).await?;
    assert_eq!(
        numbers(store, address).await?,
        [1 << 40, 1_000, 6, 5],
        "the numbers of checkpoints may have gaps"
    );
    Ok(())
}

/// A list of at most no thread is empty.
pub async fn a_list_of_no_thread_is_empty(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    append(store, Address::root(THREAD), 1, None).await?;
    let none = ThreadQuery {
        limit: Some(0),
        ..ALL
    };
    assert_eq!(
        store.threads(none).await?,
        [],
        "a list of at most 0 threads is empty"
    );
    Ok(())
}

/// A status and labels do not change each other.
pub async fn a_status_and_labels_are_apart(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    append(store, Address::root(THREAD), 1, None).await?;
    let user = labels([("user", "ann")]);
    let set_labels = async |labels| {
        store
            .describe(THREAD, ThreadChange::Labels(labels), None)
            .await
    };
    set_labels(&user).await?;
    let waiting = status("Talk", ThreadStatus::Waiting, Some(7));
    store.describe(THREAD, waiting, None).await?;
    assert_eq!(
        info(store).await?.labels,
        user,
        "a status leaves the labels"
    );
    let team = labels([("team", "press")]);
    set_labels(&team).await?;
    let found = info(store).await?;
    assert_eq!(
        (found.status, found.due_ms, &*found.flow),
        (ThreadStatus::Waiting, Some(7), "Talk"),
        "labels leave the status"
    );
    set_labels(&labels([])).await?;
    assert_eq!(
        info(store).await?.labels,
        labels([]),
        "no labels take the place of all others"
    );
    Ok(())
}

/// A thread may be named twice, and no thread may be named.
pub async fn threads_to_delete_may_be_named_twice(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    for thread in [THREAD, "other", "left"] {
        append(store, Address::root(thread), 1, None).await?;
    }
    store.delete_many(&[], None).await?;
    store.delete_many(&[THREAD, "other", THREAD], None).await?;
    let left = store.threads(ALL).await?;
    let left: Vec<&str> = left.iter().map(|info| &*info.id).collect();
    assert_eq!(left, ["left"], "each thread that is named is deleted");
    Ok(())
}

/// A call that changes nothing is checked as any other.
pub async fn a_call_with_nothing_needs_the_claim(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    append(store, address, 1, None).await?;
    let claimed = store.claim(THREAD, "one").await?;
    assert_eq!(claimed, Claim::Granted, "the thread is free");
    for (call, result) in [
        ("write", store.write(address, 1, &[], Some("two")).await),
        ("apply", store.apply(THREAD, &[], Some("two")).await),
    ] {
        assert!(
            matches!(result, Err(StoreError::ClaimLost { .. })),
            "`{call}` with nothing fails with `ClaimLost` for an owner without the claim: {result:?}"
        );
    }
    store.write(address, 1, &[], Some("one")).await?;
    store.apply(THREAD, &[], Some("one")).await?;
    store.release(THREAD, "one");
    Ok(())
}

/// An owner may have several threads, each with a claim of its own.
pub async fn an_owner_has_several_threads(stores: &Stores) -> CaseResult {
    let (store, other) = (&*stores.store, &*stores.other);
    for thread in [THREAD, "second"] {
        let claimed = store.claim(thread, "one").await?;
        assert_eq!(claimed, Claim::Granted, "the thread is free");
    }
    assert_eq!(
        other.claim(THREAD, "two").await?,
        busy("one"),
        "a claim on a second thread leaves that on the first"
    );
    store.release("second", "one");
    assert!(
        granted_soon(other, "second", "two").await?,
        "a thread that was released is free"
    );
    assert_eq!(
        other.claim(THREAD, "two").await?,
        busy("one"),
        "a release is about one thread"
    );
    store.release(THREAD, "one");
    other.release("second", "two");
    Ok(())
}

/// A call that fails leaves the claim.
pub async fn a_conflict_leaves_the_claim(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    append(store, address, 1, None).await?;
    let claimed = store.claim(THREAD, "one").await?;
    assert_eq!(claimed, Claim::Granted, "the thread is free");
    let next = checkpoint(3);
    let conflict = store
        .append(address, &next, Some(2), 0..0, Some("one"))
        .await;
    assert!(
        matches!(conflict, Err(StoreError::Conflict { .. })),
        "an append after another number is a `Conflict`: {conflict:?}"
    );
    assert!(
        store.confirm(THREAD, "one").await?,
        "an owner has its claim after a conflict"
    );
    store.release(THREAD, "one");
    Ok(())
}

/// A thread that has only writes has begun: the next one with its id is another.
pub async fn a_deleted_thread_without_checkpoints_is_counted(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    let before = store.incarnation(THREAD).await?;
    let writes = [write(1, "once/pay", "paid")];
    store.write(address, 1, &writes, None).await?;
    store.delete(THREAD, None).await?;
    assert_ne!(
        store.incarnation(THREAD).await?,
        before,
        "a thread that had writes is counted when it is deleted"
    );
    Ok(())
}
