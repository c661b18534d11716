//! Calls at the same time have the same effect as calls in some order.

use std::sync::{Arc, Barrier};
use std::time::Duration;

use petalflow::checkpoint::{
    Address, Store, StoreError, StoredCheckpoint, ThreadChange, ThreadQuery, ThreadStatus,
};

use super::samples::{THREAD, append, append_all, checkpoint, newest, numbers, write};
use super::threads_at_once::at_once;
use super::{CaseResult, Stores};

const WORKERS: usize = 8;

/// Of several appends after the same number at the same time, one succeeds.
pub async fn one_of_many_appends_wins(stores: &Stores) -> CaseResult {
    let address = Address::root(THREAD);
    let mut after = None;
    for seq in 1..=25 {
        let results = at_once(WORKERS, |index| {
            let store = stores.for_worker(index);
            let mine = StoredCheckpoint {
                bytes: vec![u8::try_from(index).unwrap_or(u8::MAX)],
                ..checkpoint(seq)
            };
            async move { Ok(store.append(address, &mine, after, 0..0, None).await) }
        })
        .await?;
        let mut winners = Vec::new();
        for (index, result) in results.into_iter().enumerate() {
            match result {
                Ok(()) => winners.push(index),
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        assert_eq!(
            winners.len(),
            1,
            "of {WORKERS} appends after {after:?} at the same time, exactly one succeeds and the others get a `Conflict`"
        );
        let stored = stores.store.read(address, None).await?.unwrap_or_default();
        let bytes = stored
            .chain
            .last()
            .map(|checkpoint| checkpoint.bytes.clone());
        assert_eq!(
            bytes.map(|bytes| bytes.iter().map(|byte| usize::from(*byte)).collect()),
            Some(winners),
            "the checkpoint of the append that succeeded is stored"
        );
        after = Some(seq);
    }
    Ok(())
}

/// Appends that are repeated after a conflict all succeed in the end, and each number is used once.
pub async fn appends_that_retry_all_get_through(stores: &Stores) -> CaseResult {
    const EACH: usize = 10;
    let address = Address::root(THREAD);
    let conflicts = at_once(WORKERS, |index| {
        let store = stores.for_worker(index);
        async move {
            let (mut done, mut conflicts) = (0, 0_usize);
            let mut after = newest(&*store, address).await?;
            while done < EACH {
                let seq = after.map_or(1, |after| after + 1);
                match append(&*store, address, seq, after).await {
                    Ok(()) => {
                        done += 1;
                        after = Some(seq);
                    }
                    Err(StoreError::Conflict { found, .. }) => {
                        conflicts += 1;
                        after = found;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(conflicts)
        }
    })
    .await?;
    let expected: Vec<u64> = (1..=80).rev().collect();
    assert_eq!(
        numbers(&*stores.store, address).await?,
        expected,
        "each append that succeeded is stored once ({conflicts:?} conflicts)"
    );
    Ok(())
}

/// Work on different threads at the same time does not conflict.
pub async fn many_threads_at_once(stores: &Stores) -> CaseResult {
    at_once(WORKERS, |index| {
        let store = stores.for_worker(index);
        async move {
            for thread in 0..5 {
                let thread = format!("essay-{index}-{thread}");
                let address = Address::root(&thread);
                append_all(&*store, address, &[1]).await?;
                for seq in 1..=5 {
                    store
                        .write(
                            address,
                            seq,
                            &[write(1, "result", [1]), write(2, "result", [2])],
                            None,
                        )
                        .await?;
                    let next = checkpoint(seq + 1);
                    store
                        .append(address, &next, Some(seq), seq..seq + 1, None)
                        .await?;
                }
            }
            Ok(())
        }
    })
    .await?;
    let threads = stores.store.threads(ThreadQuery::default());
    let threads = threads.await?;
    assert_eq!(threads.len(), WORKERS * 5, "all threads are listed");
    for thread in threads {
        assert_eq!(
            thread.checkpoints, 6,
            "thread {:?} has all its checkpoints",
            thread.id
        );
        let writes = stores.other.writes(Address::root(&thread.id), 0..u64::MAX);
        assert_eq!(
            writes.await?,
            [],
            "all writes of {:?} are settled",
            thread.id
        );
    }
    Ok(())
}

/// Flows of one thread append to their namespaces at the same time. None conflicts, and all are counted.
pub async fn namespaces_of_a_thread_at_once(stores: &Stores) -> CaseResult {
    const LAST: u64 = 100;
    const NAMESPACES: [&str; 4] = ["", "review", "review/dig[0]", "review/dig[1]"];
    // Each append begins with those of the others. Otherwise a fast store would have made all of one worker before the next begins.
    let begin = Arc::new(Barrier::new(NAMESPACES.len()));
    let results = at_once(NAMESPACES.len(), |index| {
        let (store, begin) = (stores.for_worker(index), Arc::clone(&begin));
        async move {
            let address = Address {
                thread: THREAD,
                namespace: NAMESPACES[index],
            };
            let mut result = Ok(());
            for seq in 1..=LAST {
                begin.wait();
                // After an error, the others still wait for this worker.
                if result.is_ok() {
                    let after = seq.checked_sub(1).filter(|after| *after > 0);
                    result = append(&*store, address, seq, after).await;
                }
            }
            Ok(result)
        }
    });
    for result in results.await? {
        result?;
    }
    for namespace in NAMESPACES {
        let address = Address {
            thread: THREAD,
            namespace,
        };
        let found = stores.store.history(address, None, usize::MAX).await?;
        assert_eq!(
            found.len() as u64,
            LAST,
            "appends to two namespaces of a thread at the same time are all stored"
        );
    }
    let listed = stores.other.threads(ThreadQuery::default()).await?;
    assert_eq!(
        listed.first().map(|info| info.checkpoints),
        Some(4 * LAST),
        "appends to two namespaces of a thread at the same time are all counted"
    );
    Ok(())
}

/// A read returns a checkpoint and the writes beside it as of one moment.
pub async fn a_read_is_of_one_moment(stores: &Stores) -> CaseResult {
    const LAST: u64 = 60;
    let address = Address::root(THREAD);
    let beside = |seq: u64| write(1, "result", seq.to_be_bytes());
    stores.store.write(address, 1, &[beside(1)], None).await?;
    append(&*stores.store, address, 1, None).await?;
    at_once(3, |index| {
        let stores = stores.clone();
        async move {
            if index == 0 {
                for seq in 2..=LAST {
                    // Without this, a store in memory would have written everything before the others read.
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    // Written before its checkpoint, and removed by the append of the next one.
                    stores.store.write(address, seq, &[beside(seq)], None).await?;
                    let next = checkpoint(seq);
                    stores
                        .store
                        .append(address, &next, Some(seq - 1), 0..seq, None)
                        .await?;
                }
                return Ok(());
            }
            let store = stores.for_worker(index);
            let mut seen = 0;
            while seen < LAST {
                let stored = store.read(address, None).await?.unwrap_or_default();
                let found = stored.chain.last().map_or(0, |checkpoint| checkpoint.seq);
                assert!(
                    found >= seen,
                    "a call sees the effects of all calls that had returned before it began: checkpoint {found} was read after {seen}"
                );
                seen = found;
                assert_eq!(
                    stored.writes,
                    [beside(seen)],
                    "a read is of one moment: checkpoint {seen} is returned with the writes that were beside it then"
                );
            }
            Ok(())
        }
    })
    .await?;
    Ok(())
}

/// Readers see all writes of a call or none of them.
pub async fn writes_of_one_call_appear_together(stores: &Stores) -> CaseResult {
    const LAST: u64 = 40;
    let address = Address::root(THREAD);
    let call: Vec<_> = (0..50).map(|task| write(task, "result", [task])).collect();
    at_once(3, |index| {
        let (stores, call) = (stores.clone(), call.clone());
        async move {
            if index == 0 {
                for seq in 1..=LAST {
                    stores.store.write(address, seq, &call, None).await?;
                }
                return Ok(());
            }
            let store = stores.for_worker(index);
            for seq in 1..=LAST {
                let mut found = 0;
                while found == 0 {
                    found = store.writes(address, seq..seq + 1).await?.len();
                }
                assert_eq!(
                    found,
                    call.len(),
                    "`write` is atomic: a reader found only some of the writes of one call"
                );
            }
            Ok(())
        }
    })
    .await?;
    Ok(())
}

/// What is read while another handle appends, prunes and describes is of one moment: it fits together.
pub async fn what_is_read_fits_together(stores: &Stores) -> CaseResult {
    const LAST: u64 = 60;
    let address = Address::root(THREAD);
    at_once(2, |index| {
        let stores = stores.clone();
        async move {
            if index == 0 {
                return append_prune_and_describe(&*stores.store, LAST).await;
            }
            loop {
                let history = stores.other.history(address, None, usize::MAX).await?;
                assert!(
                    history.is_sorted_by(|newer, older| newer.seq == older.seq + 1),
                    "a history has no gaps: {history:?}"
                );
                stores.other.threads(ThreadQuery::default()).await?;
                stores.other.namespaces(THREAD).await?;
                if newest(&*stores.other, address).await? == Some(LAST) {
                    return Ok(());
                }
            }
        }
    })
    .await?;
    Ok(())
}

async fn append_prune_and_describe(store: &dyn Store, last: u64) -> CaseResult {
    let address = Address::root(THREAD);
    let finished = ThreadChange::Status {
        flow: "Write",
        status: ThreadStatus::Finished,
        due_ms: None,
    };
    for seq in 1..=last {
        // Without this, a store in memory would have written everything before the other reads.
        tokio::time::sleep(Duration::from_millis(1)).await;
        let after = seq.checked_sub(1).filter(|after| *after > 0);
        append(store, address, seq, after).await?;
        store.describe(THREAD, finished, None).await?;
        if seq % 10 == 0 {
            store.prune(address, seq - 5, seq - 5, None).await?;
        }
    }
    Ok(())
}
