//! A call that names an owner has an effect only while this owner has the claim.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use petalflow::BoxError;
use petalflow::checkpoint::{
    Address, Claim, Store, StoreChange, StoreError, ThreadChange, ThreadQuery, ThreadStatus,
};

use super::samples::{THREAD, append_all, checkpoint, write};
use super::{CaseResult, Stores};

const INSIDE: Address<'static> = Address {
    thread: THREAD,
    namespace: "review",
};

const STATUS: ThreadChange<'static> = ThreadChange::Status {
    flow: "Talk",
    status: ThreadStatus::Finished,
    due_ms: None,
};

/// Everything that is stored of the thread.
pub(super) async fn contents(store: &dyn Store) -> Result<String, BoxError> {
    let mut contents = format!("{:?}", store.threads(ThreadQuery::default()).await?);
    for namespace in store.namespaces(THREAD).await? {
        let address = Address {
            thread: THREAD,
            namespace: &namespace,
        };
        let (history, writes) = (
            store.history(address, None, usize::MAX).await?,
            store.writes(address, 0..u64::MAX).await?,
        );
        let _ = write!(contents, "{namespace:?}: {history:?} {writes:?}");
    }
    Ok(contents)
}

/// Makes each call that writes. Returns the names of those that were not refused.
async fn accepted(store: &dyn Store, owner: Option<&str>) -> Result<Vec<&'static str>, BoxError> {
    let (root, labels) = (Address::root(THREAD), BTreeMap::new());
    let write = [write(1, "result", "late")];
    let together = [
        StoreChange::Append {
            namespace: "together".into(),
            checkpoint: checkpoint(1),
            after: None,
            settled: 0..0,
        },
        StoreChange::Write {
            namespace: String::new(),
            seq: 2,
            writes: write.to_vec(),
        },
        StoreChange::Status {
            flow: "Talk".into(),
            status: ThreadStatus::Held,
            due_ms: None,
        },
    ];
    let results = [
        (
            "append",
            store
                .append(root, &checkpoint(9), Some(2), 0..9, owner)
                .await,
        ),
        (
            "append, first of a namespace",
            store
                .append(INSIDE, &checkpoint(9), None, 0..0, owner)
                .await,
        ),
        ("write", store.write(root, 2, &write, owner).await),
        ("write", store.write(INSIDE, 2, &write, owner).await),
        ("describe", store.describe(THREAD, STATUS, owner).await),
        (
            "describe",
            store
                .describe(THREAD, ThreadChange::Labels(&labels), owner)
                .await,
        ),
        ("apply", store.apply(THREAD, &together, owner).await),
        ("apply", store.apply(THREAD, &[], owner).await),
        ("prune", store.prune(root, 2, 2, owner).await),
        ("delete_many", store.delete_many(&[THREAD], owner).await),
        ("delete", store.delete(THREAD, owner).await),
    ];
    let mut accepted = Vec::new();
    for (call, result) in results {
        match result {
            Ok(()) => accepted.push(call),
            Err(StoreError::ClaimLost { thread }) if thread == THREAD => {}
            Err(error) => return Err(format!("`{call}` failed: {error}").into()),
        }
    }
    Ok(accepted)
}

/// A thread with a checkpoint, a write, a status and labels.
async fn begin(store: &dyn Store) -> CaseResult {
    append_all(store, Address::root(THREAD), &[1, 2]).await?;
    let beside = [write(1, "result", "first")];
    store.write(Address::root(THREAD), 2, &beside, None).await?;
    let labels = BTreeMap::from([("user".to_string(), "ann".to_string())]);
    let labels = ThreadChange::Labels(&labels);
    Ok(store.describe(THREAD, labels, None).await?)
}

/// Without the claim, an owner changes nothing: if nobody has it, if another owner has it, and if it was released.
pub async fn a_write_without_the_claim_changes_nothing(stores: &Stores) -> CaseResult {
    let (store, other) = (&*stores.store, &*stores.other);
    begin(store).await?;
    let before = contents(other).await?;
    let refused = async |why: &str| -> CaseResult {
        for handle in [store, other] {
            assert_eq!(
                accepted(handle, Some("one")).await?,
                Vec::<&str>::new(),
                "a call of an owner without the claim is `ClaimLost`, {why}"
            );
            assert_eq!(
                contents(other).await?,
                before,
                "a call that is `ClaimLost` changes nothing, {why}"
            );
        }
        Ok(())
    };
    refused("where the thread is free").await?;
    assert_eq!(
        store.claim(THREAD, "two").await?,
        Claim::Granted,
        "it is free"
    );
    refused("where another owner has the claim").await?;
    store.release(THREAD, "two");
    for owner in ["one", "two"] {
        assert_eq!(
            store.claim(THREAD, owner).await?,
            Claim::Granted,
            "it is free"
        );
        store.release(THREAD, owner);
    }
    assert_eq!(
        store.claim(THREAD, "ONE").await?,
        Claim::Granted,
        "it is free"
    );
    refused("where the claim was released and another owner has it").await?;
    let elsewhere = store.claim("essay", "one").await?;
    assert_eq!(elsewhere, Claim::Granted, "it is free");
    refused("where the owner has the claim on another thread").await
}

/// The owner of the claim writes, through any handle. So does a call without an owner.
pub async fn the_owner_of_the_claim_writes(stores: &Stores) -> CaseResult {
    for (owner, claimed_by) in [(Some("one"), "one"), (None, "two"), (None, "")] {
        let (store, other) = (&*stores.store, &*stores.other);
        begin(store).await?;
        if !claimed_by.is_empty() {
            let claim = store.claim(THREAD, claimed_by).await?;
            assert_eq!(claim, Claim::Granted, "it is free");
        }
        assert_eq!(
            accepted(other, owner).await?.len(),
            11,
            "a call of the owner of the claim, and one without an owner, is not refused"
        );
        let left = other.namespaces(THREAD).await?;
        assert!(
            left.is_empty(),
            "the last of these calls deletes the thread"
        );
        store.release(THREAD, claimed_by);
    }
    Ok(())
}

/// A claim holds while its thread is deleted, and the owner begins the thread anew.
pub async fn the_owner_writes_after_a_deletion(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    let owner = Some("one");
    assert_eq!(
        store.claim(THREAD, "one").await?,
        Claim::Granted,
        "it is free"
    );
    for _ in 0..2 {
        store
            .append(address, &checkpoint(1), None, 0..0, owner)
            .await?;
        store.delete(THREAD, owner).await?;
    }
    store.release(THREAD, "one");
    Ok(())
}

/// Of several threads, those are deleted that the owner has claimed.
pub async fn only_claimed_threads_are_deleted(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    let threads = ["a", "b", "c", "d"];
    for thread in threads {
        append_all(store, Address::root(thread), &[1]).await?;
    }
    for thread in ["a", "d"] {
        assert_eq!(
            store.claim(thread, "one").await?,
            Claim::Granted,
            "it is free"
        );
    }
    assert_eq!(store.claim("b", "two").await?, Claim::Granted, "it is free");
    let deleted = store.delete_many(&threads, Some("one")).await;
    assert!(
        matches!(&deleted, Err(StoreError::ClaimLost { thread }) if ["b", "c"].contains(&&**thread)),
        "`delete_many` names a thread whose claim the owner does not have, and was {deleted:?}"
    );
    let left = stores.other.threads(ThreadQuery::default()).await?;
    let left: Vec<&str> = left.iter().map(|info| &*info.id).collect();
    assert_eq!(
        left,
        ["b", "c"],
        "`delete_many` deletes the threads whose claims the owner has, and no others"
    );
    Ok(())
}

/// `confirm` says whether the owner has the claim, and grants nothing.
pub async fn a_claim_is_confirmed(stores: &Stores) -> CaseResult {
    let (store, other) = (&*stores.store, &*stores.other);
    for round in 0..2 {
        assert!(
            !store.confirm(THREAD, "one").await?,
            "a claim that was not granted, or was released, is not confirmed"
        );
        let free = store.claim(THREAD, "two").await?;
        assert_eq!(
            free,
            Claim::Granted,
            "`confirm` grants nothing (round {round})"
        );
        assert!(
            !store.confirm(THREAD, "one").await? && !other.confirm(THREAD, "one").await?,
            "the claim of another owner is not confirmed"
        );
        assert!(
            store.confirm(THREAD, "two").await?,
            "the owner's claim is confirmed"
        );
        store.release(THREAD, "two");
        assert_eq!(
            store.claim(THREAD, "one").await?,
            Claim::Granted,
            "it is free"
        );
        assert!(
            store.confirm(THREAD, "one").await?,
            "the owner's claim is confirmed"
        );
        store.release(THREAD, "one");
        // The release takes effect before a later claim, so this shows that it has.
        assert_eq!(
            store.claim(THREAD, "three").await?,
            Claim::Granted,
            "it is free"
        );
        store.release(THREAD, "three");
        assert_eq!(
            store.claim(THREAD, "four").await?,
            Claim::Granted,
            "it is free"
        );
        store.release(THREAD, "four");
    }
    Ok(())
}

/// A claim that is not renewed in time is lost, and its owner is refused. A confirmation renews it.
pub async fn an_expired_claim_is_lost(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    let Some(lasts) = store.claim_lasts() else {
        return Ok(());
    };
    assert_eq!(
        store.claim(THREAD, "one").await?,
        Claim::Granted,
        "it is free"
    );
    for _ in 0..3 {
        tokio::time::sleep(lasts * 2 / 3).await;
        assert!(
            store.confirm(THREAD, "one").await?,
            "`confirm` renews a claim for {lasts:?}"
        );
    }
    tokio::time::sleep(lasts + lasts / 2).await;
    assert!(
        !store.confirm(THREAD, "one").await?,
        "a claim that is not renewed for {lasts:?} is lost, also if no other owner has taken it"
    );
    let address = Address::root(THREAD);
    let late = store
        .append(address, &checkpoint(1), None, 0..0, Some("one"))
        .await;
    assert!(
        matches!(late, Err(StoreError::ClaimLost { .. })),
        "a write under a claim that has expired is `ClaimLost`, and was {late:?}"
    );
    Ok(())
}

/// While one owner writes and another takes the thread over, no write of the first comes after those of the second.
pub async fn nothing_is_written_after_another_owner_has_the_claim(stores: &Stores) -> CaseResult {
    let (store, other) = (&*stores.store, &*stores.other);
    let address = Address::root(THREAD);
    for round in 0..20_u8 {
        assert_eq!(
            store.claim(THREAD, "one").await?,
            Claim::Granted,
            "it is free"
        );
        let (first, handle) = (stores.store.clone(), tokio::runtime::Handle::current());
        let writer = tokio::task::spawn_blocking(move || {
            handle.block_on(async move {
                for number in 0..200_u8 {
                    let late = [write(number, "result", "of the first")];
                    match first.write(address, 1, &late, Some("one")).await {
                        Ok(()) => {}
                        Err(StoreError::ClaimLost { .. }) => return Ok(()),
                        Err(error) => return Err(error),
                    }
                }
                Ok(())
            })
        });
        tokio::time::sleep(Duration::from_micros(u64::from(round) * 100)).await;
        store.release(THREAD, "one");
        assert_eq!(
            store.claim(THREAD, "two").await?,
            Claim::Granted,
            "it is free"
        );
        other.delete(THREAD, Some("two")).await?;
        writer.await??;
        let late = other.writes(address, 0..u64::MAX).await?;
        assert!(
            late.is_empty(),
            "a write that is refused, or that was made before another owner had the claim, is not there after that owner has \
             deleted the thread: found {late:?}"
        );
        store.release(THREAD, "two");
        assert_eq!(
            store.claim(THREAD, "three").await?,
            Claim::Granted,
            "it is free"
        );
        store.release(THREAD, "three");
    }
    Ok(())
}

/// A thread that begins after a deletion has another incarnation.
pub async fn deletions_change_the_incarnation(stores: &Stores) -> CaseResult {
    let (store, other) = (&*stores.store, &*stores.other);
    let address = Address::root(THREAD);
    let mut known = vec![store.incarnation(THREAD).await?];
    assert_eq!(
        known,
        [0],
        "the incarnation is zero until a thread is deleted"
    );
    for number in 0..4 {
        append_all(store, address, &[1]).await?;
        match number {
            0 => store.delete(THREAD, None).await?,
            1 => store.delete_many(&["unknown", THREAD], None).await?,
            2 => other.delete_many(&[THREAD, THREAD], None).await?,
            _ => {
                // Only with a write.
                store.prune(address, 5, 5, None).await?;
                store
                    .write(address, 7, &[write(1, "result", "a")], None)
                    .await?;
                other.delete(THREAD, None).await?;
            }
        }
        let next = store.incarnation(THREAD).await?;
        assert!(
            !known.contains(&next) && other.incarnation(THREAD).await? == next,
            "a thread that begins after a deletion has an incarnation that no earlier one had, through any handle: {next} \
             after {known:?}"
        );
        known.push(next);
    }
    let last = store.incarnation(THREAD).await?;
    append_all(store, address, &[1]).await?;
    store.prune(address, 1, 1, None).await?;
    store.reclaim().await?;
    assert_eq!(
        other.incarnation(THREAD).await?,
        last,
        "the incarnation changes with deletions only"
    );
    Ok(())
}
