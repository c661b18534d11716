//! At most one owner at a time works on a thread.

use std::time::Duration;

use petalflow::BoxError;
use petalflow::checkpoint::{Address, Claim, Store, ThreadQuery};

use super::samples::{THREAD, append_all};
use super::threads_at_once::at_once;
use super::under_test::report_skip;
use super::{CaseResult, Stores};

/// Claims until it is granted: a release through another handle may take a moment to be seen.
async fn granted_soon(store: &dyn Store, thread: &str, owner: &str) -> Result<bool, BoxError> {
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

/// One has it, the others wait for it.
pub async fn a_claimed_thread_is_busy(stores: &Stores) -> CaseResult {
    let (store, other) = (&*stores.store, &*stores.other);
    // One thread that is known and one that is not: a claim needs no checkpoint.
    append_all(store, Address::root(THREAD), &[1]).await?;
    for thread in [THREAD, "unknown"] {
        assert_eq!(
            store.claim(thread, "one").await?,
            Claim::Granted,
            "a free thread is granted to who claims it, whether it has checkpoints or not"
        );
        for store in [store, other] {
            assert_eq!(
                store.claim(thread, "two").await?,
                busy("one"),
                "a claimed thread is busy for any other owner, through whatever handle"
            );
        }
        assert_eq!(
            store.claim(thread, "one").await?,
            Claim::Granted,
            "claiming again what one has renews it"
        );
        assert_eq!(
            other.claim(thread, "two").await?,
            busy("one"),
            "a renewed claim is still a claim"
        );
    }
    assert_eq!(
        other.claim("free", "two").await?,
        Claim::Granted,
        "a claim is on one thread only"
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

/// A claim makes no thread.
pub async fn a_claim_is_no_thread(stores: &Stores) -> CaseResult {
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
        "a claim makes no namespace"
    );
    store.release(THREAD, "one");
    Ok(())
}

/// A claim that was given back is free: at once through the same store, soon through another.
pub async fn a_released_thread_is_free(stores: &Stores) -> CaseResult {
    let (store, other) = (&*stores.store, &*stores.other);
    for _ in 0..10 {
        for owner in ["one", "two"] {
            assert_eq!(
                store.claim(THREAD, owner).await?,
                Claim::Granted,
                "a release is done before any later claim through the same store"
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
        "a release is seen through another handle within seconds"
    );
    other.release(THREAD, "two");
    Ok(())
}

/// Only the owner can give a claim back.
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
            "a release of {thread:?} by {owner:?} does not take {THREAD:?} from \"one\""
        );
    }
    store.release(THREAD, "one");
    Ok(())
}

/// Of many who claim at once, one is granted.
pub async fn one_of_many_is_granted(stores: &Stores) -> CaseResult {
    for round in 0..20 {
        let thread = format!("essay-{round}");
        let claims = at_once(8, |index| {
            let (stores, thread) = (stores.clone(), thread.clone());
            let store = if index % 2 == 0 {
                stores.store
            } else {
                stores.other
            };
            async move { Ok(store.claim(&thread, &format!("owner-{index}")).await?) }
        })
        .await?;
        let granted = claims
            .iter()
            .filter(|claim| **claim == Claim::Granted)
            .count();
        assert_eq!(
            granted, 1,
            "of eight who claim the same free thread at once, exactly one is granted"
        );
    }
    Ok(())
}

/// A claim that is not renewed ends when the store says so; without such a time there is nothing to test.
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
        "who did not renew in time has lost the claim"
    );
    other.release(THREAD, "two");
    Ok(())
}
