//! A thread has at most one owner at a time.

use std::time::Duration;

use petalflow::BoxError;
use petalflow::checkpoint::{Address, Claim, Store, ThreadQuery};

use super::samples::{THREAD, append_all};
use super::threads_at_once::at_once;
use super::under_test::report_skip;
use super::{CaseResult, Stores};

/// Claims until the claim is granted: a release through another handle may take a moment to be visible.
pub(super) async fn granted_soon(
    store: &dyn Store,
    thread: &str,
    owner: &str,
) -> Result<bool, BoxError> {
    for _ in 0..400 {
        if store.claim(thread, owner).await? == Claim::Granted {
            return Ok(true);
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(false)
}

/// Busy with this owner.
pub(super) fn busy(owner: &str) -> Claim {
    Claim::Busy {
        owner: owner.into(),
    }
}

/// A claimed thread is busy for other owners.
pub async fn a_claimed_thread_is_busy(stores: &Stores) -> CaseResult {
    let (store, other) = (&*stores.store, &*stores.other);
    // A thread with a checkpoint, and one without: a claim needs no checkpoint.
    append_all(store, Address::root(THREAD), &[1]).await?;
    for thread in [THREAD, "unknown"] {
        assert_eq!(
            store.claim(thread, "one").await?,
            Claim::Granted,
            "a claim on a free thread is granted, with or without checkpoints"
        );
        for store in [store, other] {
            assert_eq!(
                store.claim(thread, "two").await?,
                busy("one"),
                "a claimed thread is busy for any other owner, through any handle"
            );
        }
        assert_eq!(
            store.claim(thread, "one").await?,
            Claim::Granted,
            "the owner of a claim can renew it"
        );
        assert_eq!(
            other.claim(thread, "two").await?,
            busy("one"),
            "a renewed claim still excludes other owners"
        );
    }
    assert_eq!(
        other.claim("free", "two").await?,
        Claim::Granted,
        "a claim is about one thread only"
    );
    for (store, thread, owner) in [
        (store, THREAD, "one"),
        (store, "unknown", "one"),
        (other, "free", "two"),
    ] {
        store.release(thread, owner);
    }
    Ok(())
}

/// A claim creates no thread.
pub async fn a_claim_is_not_a_thread(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    assert_eq!(
        store.claim(THREAD, "one").await?,
        Claim::Granted,
        "the thread is free"
    );
    assert_eq!(
        store.threads(ThreadQuery::default()).await?,
        [],
        "a thread that is claimed but has no checkpoints is not listed"
    );
    assert_eq!(
        store.namespaces(THREAD).await?,
        Vec::<String>::new(),
        "a claim creates no namespace"
    );
    store.release(THREAD, "one");
    Ok(())
}

/// A released thread is free: at once through the same handle, soon through another.
pub async fn a_released_thread_is_free(stores: &Stores) -> CaseResult {
    let (store, other) = (&*stores.store, &*stores.other);
    for _ in 0..10 {
        for owner in ["one", "two"] {
            assert_eq!(
                store.claim(THREAD, owner).await?,
                Claim::Granted,
                "a release takes effect before any later claim through the same handle"
            );
            store.release(THREAD, owner);
        }
    }
    assert_eq!(
        store.claim(THREAD, "one").await?,
        Claim::Granted,
        "the thread is free"
    );
    store.release(THREAD, "one");
    assert!(
        granted_soon(other, THREAD, "two").await?,
        "a release is visible through another handle within four seconds"
    );
    other.release(THREAD, "two");
    Ok(())
}

/// Only the owner of a claim can release it.
pub async fn a_stranger_cannot_release(stores: &Stores) -> CaseResult {
    let (store, other) = (&*stores.store, &*stores.other);
    store.release(THREAD, "nobody");
    assert_eq!(
        store.claim(THREAD, "one").await?,
        Claim::Granted,
        "the thread is free"
    );
    for (store, thread, owner) in [
        (store, THREAD, "two"),
        (other, THREAD, "two"),
        (store, THREAD, "ONE"),
        (store, "another", "one"),
    ] {
        store.release(thread, owner);
        assert_eq!(
            store.claim(THREAD, "three").await?,
            busy("one"),
            "the claim of \"one\" on {THREAD:?} does not end with a release of {thread:?} by {owner:?}"
        );
    }
    store.release(THREAD, "one");
    Ok(())
}

/// Of many claims at the same time, one is granted.
pub async fn one_of_many_is_granted(stores: &Stores) -> CaseResult {
    for round in 0..20 {
        let thread = format!("essay-{round}");
        let claims = at_once(8, |index| {
            let (store, thread) = (stores.for_worker(index), thread.clone());
            async move { Ok(store.claim(&thread, &format!("owner-{index}")).await?) }
        })
        .await?;
        let granted = claims
            .iter()
            .filter(|claim| **claim == Claim::Granted)
            .count();
        assert_eq!(
            granted, 1,
            "of eight claims on the same free thread at the same time, exactly one is granted"
        );
    }
    Ok(())
}

/// A claim that is not renewed ends after the time that the store states. If it states none, there is nothing to test.
pub async fn a_claim_that_is_not_renewed_ends(stores: &Stores) -> CaseResult {
    let (store, other) = (&*stores.store, &*stores.other);
    let Some(lasts) = store.claim_lasts() else {
        report_skip("claims of this store need no renewal");
        return Ok(());
    };
    assert!(
        lasts <= Duration::from_secs(3),
        "claims last {lasts:?}: let those of the store under test last 3 seconds at most, so that the case can wait for their end"
    );
    assert_eq!(
        store.claim(THREAD, "one").await?,
        Claim::Granted,
        "the thread is free"
    );
    for _ in 0..3 {
        // From the second time on, the claim would have ended without its renewal.
        tokio::time::sleep(lasts * 2 / 3).await;
        assert_eq!(
            other.claim(THREAD, "two").await?,
            busy("one"),
            "a claim lasts {lasts:?} from its last renewal"
        );
        assert_eq!(
            store.claim(THREAD, "one").await?,
            Claim::Granted,
            "the owner of a claim can renew it"
        );
    }
    tokio::time::sleep(lasts + lasts / 2).await;
    assert_eq!(
        other.claim(THREAD, "two").await?,
        Claim::Granted,
        "a claim that is not renewed ends after {lasts:?}"
    );
    assert_eq!(
        store.claim(THREAD, "one").await?,
        busy("two"),
        "an owner that did not renew its claim in time has lost it"
    );
    other.release(THREAD, "two");
    Ok(())
}
