//! Names that are prefixes of each other are different names.

use petalflow::checkpoint::{Address, Claim};

use super::claims::busy;
use super::samples::{THREAD, append_all, checkpoint, numbers, write};
use super::{CaseResult, Stores};

/// Each of them begins with the one before.
const NAMES: [&str; 4] = ["a", "a/", "a/b", "a/b[1]"];

/// What changes one namespace leaves those that begin with its name, and those whose names it begins with.
pub async fn namespaces_are_not_prefixes(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    let addresses = ["", "a", "a/", "a/b", "a/b[1]"].map(|namespace| Address {
        thread: THREAD,
        namespace,
    });
    for changed in addresses {
        for address in addresses {
            append_all(store, address, &[1, 2]).await?;
            let beside = [write(1, "result", "a")];
            store.write(address, 2, &beside, None).await?;
        }
        for (step, of_changed) in [("append", (3, 0)), ("prune", (1, 0))] {
            if step == "append" {
                let next = checkpoint(3);
                store.append(changed, &next, Some(2), 2..3, None).await?;
            } else {
                store.prune(changed, 3, 3, None).await?;
            }
            for address in addresses {
                let found = (
                    numbers(&*stores.other, address).await?.len(),
                    stores.other.writes(address, 0..u64::MAX).await?.len(),
                );
                let expected = if address == changed {
                    of_changed
                } else {
                    (2, 1)
                };
                assert_eq!(
                    found, expected,
                    "`{step}` at the namespace {:?} changes no other: {address:?}",
                    changed.namespace
                );
            }
        }
        store.delete(THREAD, None).await?;
    }
    Ok(())
}

/// What changes one thread leaves those whose ids begin with its id, and those whose ids it begins with.
pub async fn threads_are_not_prefixes(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    for several in [false, true] {
        for deleted in NAMES {
            for thread in NAMES {
                append_all(store, Address::root(thread), &[1]).await?;
            }
            if several {
                store.delete_many(&[deleted], None).await?;
            } else {
                store.delete(deleted, None).await?;
            }
            for thread in NAMES {
                let left = numbers(&*stores.other, Address::root(thread)).await?.len();
                let expected = usize::from(thread != deleted);
                assert_eq!(
                    left, expected,
                    "a deletion of {deleted:?} removes no other thread: {thread:?}"
                );
                store.delete(thread, None).await?;
            }
        }
    }
    Ok(())
}

/// An owner is not one whose name begins with its name, or with whose name it begins. Neither is a thread.
pub async fn owners_are_not_prefixes(stores: &Stores) -> CaseResult {
    let (store, other) = (&*stores.store, &*stores.other);
    for owner in NAMES {
        assert_eq!(
            store.claim("a/b", owner).await?,
            Claim::Granted,
            "it is free"
        );
        for another in NAMES.into_iter().filter(|another| *another != owner) {
            assert_eq!(
                other.claim("a/b", another).await?,
                busy(owner),
                "the thread of {owner:?} is busy for {another:?}"
            );
            assert!(
                !other.confirm("a/b", another).await?,
                "the claim of {owner:?} is not that of {another:?}"
            );
            store.release("a/b", another);
            if another != "a/b" {
                store.release(another, owner);
            }
            assert!(
                store
                    .append(
                        Address::root("a/b"),
                        &checkpoint(1),
                        None,
                        0..0,
                        Some(another)
                    )
                    .await
                    .is_err(),
                "{another:?} cannot write under the claim of {owner:?}"
            );
        }
        assert!(
            store.confirm("a/b", owner).await?,
            "{owner:?} still has its claim after releases of other owners and of other threads"
        );
        for thread in NAMES.into_iter().filter(|thread| *thread != "a/b") {
            assert_eq!(
                store.claim(thread, "another").await?,
                Claim::Granted,
                "a claim on \"a/b\" is none on {thread:?}"
            );
            store.release(thread, "another");
        }
        store.release("a/b", owner);
        // The release takes effect before this.
        assert_eq!(
            store.claim("a/b", "last").await?,
            Claim::Granted,
            "it was released"
        );
        store.release("a/b", "last");
    }
    Ok(())
}

/// A task or a name of a write is not another that begins with it.
pub async fn names_of_writes_are_not_prefixes(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    let names = ["once/pay", "once/pay-again", "once/p", "once/", "once"];
    for (index, name) in names.iter().enumerate() {
        store
            .write(address, 1, &[write(1, name, [0])], None)
            .await?;
        store
            .write(address, 1, &[write(1, name, [1])], None)
            .await?;
        assert_eq!(
            store.writes(address, 1..2).await?.len(),
            index + 1,
            "a write replaces only one of the same name: {name:?}"
        );
    }
    Ok(())
}
