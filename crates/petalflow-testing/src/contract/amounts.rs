//! More than a page of everything, and large values.

use std::collections::BTreeMap;

use petalflow::checkpoint::{
    Address, Store, StoreChange, Stored, StoredCheckpoint, ThreadChange, ThreadQuery,
};

use super::at_once;
use super::samples::{THREAD, append_all, checkpoint, numbers, write};
use super::{CaseResult, Stores};

/// More than a store that reads pages of 1,000 has in two of them.
const MANY: u64 = 2_500;

/// How many changes are made in one step.
const BATCH: usize = 500;

/// How many workers make threads at the same time.
const WORKERS: usize = 8;

/// Makes changes of the thread, many in one step.
async fn apply(store: &dyn Store, changes: &[StoreChange]) -> CaseResult {
    for batch in changes.chunks(BATCH) {
        store.apply(THREAD, batch, None).await?;
    }
    Ok(())
}

/// The append of a checkpoint that settles nothing.
fn appended(namespace: &str, checkpoint: &StoredCheckpoint, after: Option<u64>) -> StoreChange {
    StoreChange::Append {
        namespace: namespace.into(),
        checkpoint: checkpoint.clone(),
        after,
        settled: 0..0,
    }
}

fn written(namespace: &str, seq: u64, writes: &[(u8, &str)]) -> StoreChange {
    let writes = writes.iter().map(|(task, name)| write(*task, name, "a"));
    StoreChange::Write {
        namespace: namespace.into(),
        seq,
        writes: writes.collect(),
    }
}

/// A history, a chain and a range of writes have no limit of their own.
pub async fn many_checkpoints_are_read(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    let (mut all, mut changes) = (Vec::new(), Vec::new());
    for seq in 1..=MANY {
        let next = StoredCheckpoint {
            base: 1,
            ..checkpoint(seq)
        };
        let after = (seq > 1).then(|| seq - 1);
        changes.push(appended("", &next, after));
        changes.push(written("", seq, &[(1, "result")]));
        all.push(next);
    }
    apply(store, &changes).await?;
    let stored = stores.other.read(address, None).await?.unwrap_or_default();
    assert_eq!(
        stored.chain, all,
        "a chain of {MANY} checkpoints is read as a whole"
    );
    let writes = stores.other.writes(address, 0..u64::MAX).await?;
    assert_eq!(writes.len() as u64, MANY, "all writes in a range are read");
    all.reverse();
    for limit in [usize::MAX, 10_000, 2_500] {
        let history = stores.other.history(address, None, limit).await?;
        assert_eq!(
            history, all,
            "a history of at most {limit} has all {MANY} checkpoints"
        );
    }
    let listed = store.threads(ThreadQuery::default()).await?;
    let bytes: usize = all.iter().map(|checkpoint| checkpoint.bytes.len()).sum();
    assert_eq!(
        (listed[0].checkpoints, listed[0].bytes),
        (MANY, bytes as u64),
        "all checkpoints are counted"
    );
    Ok(())
}

/// An append settles all writes in the range, and `prune` removes all checkpoints and writes below the number.
pub async fn many_writes_are_settled_and_pruned(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    for prunes in [false, true] {
        let (mut after, mut changes) = (None, Vec::new());
        for seq in 1..=MANY {
            changes.push(written("", seq, &[(1, "done"), (2, "once/pay")]));
            if prunes {
                changes.push(appended("", &checkpoint(seq), after));
                after = Some(seq);
            }
        }
        apply(store, &changes).await?;
        let last = checkpoint(MANY + 1);
        if prunes {
            store.append(address, &last, after, 0..0, None).await?;
            store.prune(address, MANY + 1, MANY + 1, None).await?;
        } else {
            store
                .append(address, &last, None, 1..MANY + 1, None)
                .await?;
        }
        let left = stores.other.writes(address, 0..u64::MAX).await?;
        assert!(
            left.is_empty(),
            "all {} writes are removed, however many they are; {} are left",
            2 * MANY,
            left.len()
        );
        assert_eq!(
            numbers(&*stores.other, address).await?,
            [MANY + 1],
            "all checkpoints below the number are removed"
        );
        store.delete(THREAD, None).await?;
    }
    Ok(())
}

/// All names of writes that a run uses are settled: results, failures, questions, effects, and what unfinished tasks have left.
pub async fn every_kind_of_write_is_settled(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    let names = [
        "done",
        "error",
        "ask/0123456789abcdef0123456789abcdef",
        "once/pay",
        "once/",
        "unfinished/spent",
    ];
    let beside = names.map(|name| write(1, name, name.as_bytes()));
    store.write(address, 1, &beside, None).await?;
    store
        .append(address, &checkpoint(1), None, 0..0, None)
        .await?;
    assert_eq!(
        store.writes(address, 1..2).await?.len(),
        names.len(),
        "an append leaves the writes that it does not settle, whatever their names are"
    );
    store
        .append(address, &checkpoint(2), Some(1), 1..2, None)
        .await?;
    assert_eq!(
        stores.other.writes(address, 0..u64::MAX).await?,
        [],
        "an append settles writes of every name"
    );
    Ok(())
}

/// All namespaces are listed in order, also those that have only writes, and all are deleted.
pub async fn many_namespaces_are_listed_and_deleted(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    let (mut expected, mut changes) = (Vec::new(), Vec::new());
    for index in 0..MANY {
        // Not in the order of their bytes.
        let namespace = format!("review/dig[{}]", (index * 37) % MANY);
        changes.push(if index % 2 == 0 {
            appended(&namespace, &checkpoint(1), None)
        } else {
            written(&namespace, 1, &[(1, "result")])
        });
        expected.push(namespace);
    }
    apply(store, &changes).await?;
    expected.sort_unstable();
    assert_eq!(
        stores.other.namespaces(THREAD).await?,
        expected,
        "all namespaces are listed in the order of their bytes, whether they have checkpoints or only writes"
    );
    store.delete(THREAD, None).await?;
    assert_eq!(
        stores.other.namespaces(THREAD).await?,
        Vec::<String>::new(),
        "`delete` removes all namespaces"
    );
    for namespace in expected.iter().step_by(10) {
        let address = Address {
            thread: THREAD,
            namespace,
        };
        let left = (
            numbers(store, address).await?.len(),
            store.writes(address, 0..u64::MAX).await?.len(),
        );
        assert_eq!(left, (0, 0), "`delete` removes what is in {namespace:?}");
    }
    Ok(())
}

/// A thread can have many labels.
pub async fn many_labels_are_listed(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    append_all(store, Address::root(THREAD), &[1]).await?;
    let labels = (0..MANY).map(|index| (format!("name-{index}"), format!("value-{index}")));
    let labels: BTreeMap<String, String> = labels.collect();
    store
        .describe(THREAD, ThreadChange::Labels(&labels), None)
        .await?;
    let listed = stores.other.threads(ThreadQuery::default()).await?;
    assert_eq!(listed[0].labels, labels, "all labels are listed");
    for (name, value) in labels.iter().step_by(50) {
        let query = ThreadQuery {
            label: Some((name, value)),
            ..ThreadQuery::default()
        };
        let found = store.threads(query).await?.len();
        assert_eq!(
            found, 1,
            "a thread is found by each of its labels: {name:?}"
        );
    }
    Ok(())
}

/// A list without a limit has all threads, and all of them can be deleted in one call, past ids that are unknown.
pub async fn many_threads_are_listed_and_deleted(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    let mut ids: Vec<String> = (0..MANY)
        .map(|index| format!("thread-{index:04}"))
        .collect();
    at_once(WORKERS, |worker| {
        let store = stores.for_worker(worker);
        let own = ids.iter().rev().skip(worker).step_by(WORKERS);
        let own: Vec<String> = own.cloned().collect();
        async move {
            for id in own {
                append_all(&*store, Address::root(&id), &[1]).await?;
            }
            Ok(())
        }
    })
    .await?;
    let listed = async |limit| {
        let query = ThreadQuery {
            limit,
            ..ThreadQuery::default()
        };
        let threads = stores.other.threads(query).await?;
        Ok::<Vec<String>, petalflow::BoxError>(threads.into_iter().map(|info| info.id).collect())
    };
    for limit in [None, Some(10_000), Some(usize::MAX)] {
        assert_eq!(
            listed(limit).await?,
            ids,
            "a list with the limit {limit:?} has all threads"
        );
    }
    let last = ids.pop().unwrap_or_default();
    let mut deleted = vec!["unknown".to_string()];
    for id in &ids {
        deleted.extend([id.clone(), format!("{id}-unknown")]);
    }
    let deleted: Vec<&str> = deleted.iter().map(String::as_str).collect();
    store.delete_many(&deleted, None).await?;
    assert_eq!(
        listed(None).await?,
        [last],
        "`delete_many` removes all threads that it names, past those that are unknown, and no other"
    );
    Ok(())
}

/// A checkpoint and a write of more than 32 MiB come back as they were given, beside small ones.
pub async fn large_values_are_stored(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    let mut bytes: Vec<u8> = (0..1024 * 1024_u32)
        .map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()[0])
        .collect();
    bytes = bytes.repeat(32);
    bytes.extend(b"the end");
    append_all(store, address, &[1]).await?;
    let large = StoredCheckpoint {
        base: 1,
        bytes: bytes.clone(),
        ..checkpoint(2)
    };
    store.append(address, &large, Some(1), 0..0, None).await?;
    let beside = [write(1, "result", bytes), write(2, "result", "small")];
    store.write(address, 2, &beside, None).await?;
    let stored = stores.other.read(address, None).await?;
    let expected = Stored {
        chain: vec![checkpoint(1), large.clone()],
        writes: beside.to_vec(),
    };
    assert!(
        stored == Some(expected),
        "a checkpoint and a write of more than 32 MiB come back as they were given"
    );
    let next = checkpoint(3);
    store.append(address, &next, Some(2), 2..3, None).await?;
    let history = stores.other.history(address, None, 2).await?;
    assert!(
        history == [next, large],
        "a large checkpoint is part of the history"
    );
    Ok(())
}
