//! `prune` and `delete` remove what they should, and nothing else.

use petalflow::checkpoint::{Address, Claim, StoredCheckpoint, ThreadQuery};

use super::samples::{THREAD, append, append_all, checkpoint, numbers, write};
use super::{CaseResult, Stores};

/// `prune` removes what is below the number, at this address only.
pub async fn c94_pruning_forgets_what_is_older(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    let review = Address {
        namespace: "review",
        ..address
    };
    for address in [address, review] {
        append_all(store, address, &[1, 2, 5, 6]).await?;
        for seq in [1, 2, 5, 6, 7] {
            store
                .write(address, seq, &[write(1, "result", "a")], None)
                .await?;
        }
    }
    for (below, kept) in [
        (0, &[1, 2, 5, 6][..]),
        (1, &[1, 2, 5, 6]),
        (2, &[2, 5, 6]),
        (4, &[5, 6]),
        (6, &[6]),
    ] {
        store.prune(address, below, below, None).await?;
        let mut found = numbers(store, address).await?;
        found.reverse();
        assert_eq!(
            found, kept,
            "`prune` below {below} removes the checkpoints with a lower number and no others"
        );
        let beside = store.writes(address, 0..u64::MAX).await?;
        let beside: Vec<u64> = beside.iter().map(|(seq, _)| *seq).collect();
        assert_eq!(
            beside,
            [kept, &[7]].concat(),
            "`prune` below {below} removes the writes beside lower numbers and no others"
        );
    }
    append(store, address, 7, Some(6)).await?;
    assert_eq!(
        (
            numbers(store, review).await?.len(),
            store.writes(review, 0..u64::MAX).await?.len()
        ),
        (4, 5),
        "`prune` removes nothing in other namespaces"
    );
    Ok(())
}

/// A number above all others prunes everything, and the address can be used like a new one.
pub async fn pruning_everything_leaves_nothing(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    store.prune(address, 5, 5, None).await?;
    append_all(store, address, &[1, 2]).await?;
    store
        .write(address, 2, &[write(1, "result", "a")], None)
        .await?;
    store.prune(address, u64::MAX, u64::MAX, None).await?;
    assert_eq!(
        store.read(address, None).await?,
        None,
        "`prune` below a number above all others removes all checkpoints"
    );
    assert_eq!(
        store.threads(ThreadQuery::default()).await?,
        [],
        "a thread without checkpoints is not listed"
    );
    assert_eq!(
        store.namespaces(THREAD).await?,
        Vec::<String>::new(),
        "a namespace without checkpoints and writes is not listed"
    );
    append(store, address, 1, None).await?;
    Ok(())
}

/// `prune` removes writes below another number than checkpoints: those of a frontier may be older than its checkpoint.
pub async fn writes_are_pruned_by_their_own_number(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    append_all(store, address, &[1, 2, 3, 4]).await?;
    for seq in 1..=5 {
        let beside = [write(1, "result", "a")];
        store.write(address, seq, &beside, None).await?;
    }
    for (below, writes, left, left_writes) in [
        (3, 0, &[4, 3][..], &[1, 2, 3, 4, 5][..]),
        (3, 2, &[4, 3], &[2, 3, 4, 5]),
        (0, 3, &[4, 3], &[3, 4, 5]),
        (4, 3, &[4], &[3, 4, 5]),
        (4, 5, &[4], &[5]),
    ] {
        store.prune(address, below, writes, None).await?;
        let found = stores.other.writes(address, 0..u64::MAX).await?;
        let found: Vec<u64> = found.iter().map(|(seq, _)| *seq).collect();
        assert_eq!(
            (numbers(&*stores.other, address).await?, found),
            (left.to_vec(), left_writes.to_vec()),
            "`prune` removes checkpoints below {below} and writes beside numbers below {writes}"
        );
    }
    Ok(())
}

/// `delete` removes one thread with all its namespaces and writes, and no other thread.
pub async fn c93_deleting_takes_one_thread_and_all_of_it(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    let threads = [
        "essay",
        "essay-42",
        "essay-42 ",
        "Essay-42",
        "essay-421",
        "essay_42",
        "%",
    ];
    let addresses =
        |thread| ["", "review", "review/dig[3]"].map(|namespace| Address { thread, namespace });
    for address in threads.into_iter().flat_map(addresses) {
        append_all(store, address, &[1, 2]).await?;
        store
            .write(address, 2, &[write(1, "result", "a")], None)
            .await?;
    }
    // Deleting an unknown thread does nothing, and `%` is not a pattern.
    store.delete("essay%", None).await?;
    store.delete(THREAD, None).await?;
    store.delete("%", None).await?;
    for address in threads.into_iter().flat_map(addresses) {
        let gone = [THREAD, "%"].contains(&address.thread);
        let found = (
            numbers(&*stores.other, address).await?.len(),
            store.writes(address, 0..u64::MAX).await?.len(),
        );
        let expected = if gone { (0, 0) } else { (2, 1) };
        assert_eq!(
            found, expected,
            "`delete` of {THREAD:?} and \"%\" removes those threads in all namespaces, and no other thread: {address:?} has \
             {} checkpoints and {} writes",
            found.0, found.1
        );
    }
    assert_eq!(
        store.namespaces(THREAD).await?,
        Vec::<String>::new(),
        "a deleted thread has no namespaces"
    );
    let listed = store.threads(ThreadQuery::default()).await?;
    assert!(
        !listed.iter().any(|thread| thread.id == THREAD),
        "a deleted thread is not listed"
    );
    Ok(())
}

/// The id of a deleted thread can be used again, with nothing of the old thread.
pub async fn a_deleted_thread_can_begin_anew(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    append_all(store, address, &[1, 2, 3]).await?;
    store
        .write(address, 3, &[write(1, "result", "old")], None)
        .await?;
    store.delete(THREAD, None).await?;
    store.delete(THREAD, None).await?;
    let fresh = StoredCheckpoint {
        bytes: b"new".to_vec(),
        base: 1,
        ..checkpoint(3)
    };
    store.append(address, &fresh, None, 0..0, None).await?;
    let stored = store.read(address, None).await?.unwrap_or_default();
    assert_eq!(
        (stored.chain, stored.writes),
        (vec![fresh], vec![]),
        "a new thread has nothing of a deleted thread of the same id"
    );
    Ok(())
}

/// A claim remains when its thread is deleted.
pub async fn a_claim_survives_deletion(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    append_all(store, Address::root(THREAD), &[1]).await?;
    assert_eq!(
        store.claim(THREAD, "one").await?,
        Claim::Granted,
        "the thread is free"
    );
    store.delete(THREAD, None).await?;
    assert_eq!(
        stores.other.claim(THREAD, "two").await?,
        super::claims::busy("one"),
        "`delete` does not end a claim on the thread"
    );
    store.release(THREAD, "one");
    Ok(())
}
