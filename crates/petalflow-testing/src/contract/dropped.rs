//! A call whose future is dropped takes effect completely or not at all, and not after a later call.

use std::pin::pin;
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use petalflow::BoxError;
use petalflow::checkpoint::{Address, Claim, Store, ThreadQuery};

use super::claims::granted_soon;
use super::samples::{THREAD, append_all, checkpoint, numbers, write};
use super::{CaseResult, Stores};

const INSIDE: Address<'static> = Address {
    thread: THREAD,
    namespace: "review",
};

/// Longer than a call that was sent needs to take effect.
const A_WHILE: Duration = Duration::from_millis(20);

/// Longer than a call takes that a store makes in the background.
const AFTERWARDS: Duration = Duration::from_millis(1_500);

/// Polls a call and drops it.
fn poll_and_drop<T>(call: impl Future<Output = T>) {
    let mut call = pin!(call);
    let _ = call.as_mut().poll(&mut Context::from_waker(Waker::noop()));
}

/// A claim whose future is dropped is granted before a later claim of another owner is answered, or never.
pub async fn a_dropped_claim_is_not_granted_late(stores: &Stores) -> CaseResult {
    let (store, other) = (&*stores.store, &*stores.other);
    for round in 0..10 {
        poll_and_drop(store.claim(THREAD, "dropped"));
        match store.claim(THREAD, "later").await? {
            Claim::Granted => {
                tokio::time::sleep(A_WHILE).await;
                assert!(
                    store.confirm(THREAD, "later").await?
                        && !other.confirm(THREAD, "dropped").await?,
                    "a claim whose future was dropped is not granted after a later claim was (round {round})"
                );
            }
            Claim::Busy { owner } => assert_eq!(owner, "dropped", "no other owner has claimed it"),
        }
        store.release(THREAD, "dropped");
        store.release(THREAD, "later");
        assert!(
            granted_soon(other, THREAD, "next").await?,
            "a claim whose future was dropped can be released"
        );
        other.release(THREAD, "next");
        assert!(
            granted_soon(store, THREAD, "last").await?,
            "it was released"
        );
        store.release(THREAD, "last");
    }
    Ok(())
}

/// A claim whose future is dropped at any moment, after another claim was answered, is never granted: also not when the thread is
/// free.
pub async fn a_dropped_claim_is_never_granted_afterwards(stores: &Stores) -> CaseResult {
    let (store, other) = (&*stores.store, &*stores.other);
    let threads: Vec<String> = (0..10).map(|index| format!("essay-{index}")).collect();
    for (index, thread) in threads.iter().enumerate() {
        let claim = store.claim(thread, "dropped");
        if index < 4 {
            poll_and_drop(claim);
        } else {
            let moment = Duration::from_micros(250) * u32::try_from(index)?;
            let _ = tokio::time::timeout(moment, claim).await;
        }
        if let Claim::Busy { owner } = store.claim(thread, "later").await? {
            assert_eq!(owner, "dropped", "no other owner has claimed it");
            store.release(thread, "dropped");
            assert!(granted_soon(store, thread, "later").await?);
        }
        if index % 2 == 0 {
            store.release(thread, "later");
        }
    }
    let end = Instant::now() + AFTERWARDS;
    while Instant::now() < end {
        for (index, thread) in threads.iter().enumerate() {
            assert!(
                !other.confirm(thread, "dropped").await?,
                "a claim whose future was dropped is not granted after a later claim was answered"
            );
            assert!(
                index % 2 == 0 || store.confirm(thread, "later").await?,
                "the later claim remains"
            );
        }
        tokio::time::sleep(A_WHILE).await;
    }
    for thread in &threads {
        store.release(thread, "later");
    }
    Ok(())
}

/// Everything at both addresses of the thread, at a moment at which nothing changes.
async fn contents(store: &dyn Store) -> Result<Vec<(Vec<u64>, usize)>, BoxError> {
    let read = async || {
        let mut contents = Vec::new();
        for address in [Address::root(THREAD), INSIDE] {
            let writes = store.writes(address, 0..u64::MAX).await?.len();
            contents.push((numbers(store, address).await?, writes));
        }
        Ok::<_, BoxError>(contents)
    };
    let mut before = read().await?;
    loop {
        let now = read().await?;
        if now == before {
            return Ok(now);
        }
        before = now;
    }
}

/// Two addresses with two checkpoints and two writes each.
async fn begin(store: &dyn Store) -> CaseResult {
    for address in [Address::root(THREAD), INSIDE] {
        append_all(store, address, &[1, 2]).await?;
        for seq in [1, 2] {
            let beside = [write(1, "result", "a")];
            store.write(address, seq, &beside, None).await?;
        }
    }
    Ok(())
}

/// A `prune` whose future is dropped has removed checkpoints with their writes, or nothing.
pub async fn a_dropped_prune_is_whole_or_nothing(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    for _ in 0..10 {
        begin(store).await?;
        poll_and_drop(store.prune(Address::root(THREAD), 2, 2, None));
        let found = contents(store).await?;
        let (before, after) = ((vec![2, 1], 2), (vec![2], 1));
        assert!(
            found[0] == before || found[0] == after,
            "`prune` is atomic: a dropped call has left the checkpoints {:?} and {} writes",
            found[0].0,
            found[0].1
        );
        assert_eq!(found[1], before, "`prune` changes one address");
        store.delete(THREAD, None).await?;
    }
    Ok(())
}

/// A deletion whose future is dropped has removed the thread with all that belongs to it, or nothing.
pub async fn a_dropped_deletion_is_whole_or_nothing(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    for round in 0..10 {
        begin(store).await?;
        if round % 2 == 0 {
            poll_and_drop(store.delete(THREAD, None));
        } else {
            poll_and_drop(store.delete_many(&[THREAD], None));
        }
        let found = contents(store).await?;
        let (before, after) = (vec![(vec![2, 1], 2); 2], vec![(vec![], 0); 2]);
        assert!(
            found == before || found == after,
            "a deletion is atomic: a dropped call has left {found:?}"
        );
        store.delete(THREAD, None).await?;
    }
    Ok(())
}

/// A call whose future is dropped has no effect after a later call has returned.
pub async fn a_dropped_call_does_not_come_late(stores: &Stores) -> CaseResult {
    let (store, root) = (&*stores.store, Address::root(THREAD));
    for round in 0..10 {
        begin(store).await?;
        let late = [write(9, "late", "a")];
        match round % 3 {
            0 => poll_and_drop(store.delete(THREAD, None)),
            1 => poll_and_drop(store.prune(root, 3, 3, None)),
            _ => poll_and_drop(store.write(root, 2, &late, None)),
        }
        // A deletion that comes first, or last, of the two makes no difference to this.
        store.delete(THREAD, None).await?;
        store.append(root, &checkpoint(1), None, 0..0, None).await?;
        store
            .write(root, 1, &[write(1, "result", "a")], None)
            .await?;
        tokio::time::sleep(A_WHILE).await;
        let found = contents(store).await?;
        assert_eq!(
            found[0],
            (vec![1], 1),
            "a call whose future was dropped has no effect after later calls have returned"
        );
        assert_eq!(
            store.threads(ThreadQuery::default()).await?.len(),
            1,
            "it is listed"
        );
        store.delete(THREAD, None).await?;
    }
    Ok(())
}
