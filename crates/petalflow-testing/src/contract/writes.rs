//! Writes are stored beside checkpoints until an append settles them.

use std::pin::pin;
use std::task::{Context, Waker};

use petalflow::checkpoint::{Address, ThreadQuery};

use super::samples::{THREAD, append_all, write};
use super::{CaseResult, Stores};

/// A write replaces an earlier one of the same task and name.
pub async fn c90_a_write_takes_the_place_of_the_one_before(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    let first = write(1, "result", "first");
    store
        .write(address, 1, std::slice::from_ref(&first), None)
        .await?;
    store
        .write(address, 1, std::slice::from_ref(&first), None)
        .await?;
    assert_eq!(
        store.writes(address, 1..2).await?,
        [(1, first)],
        "the same write twice is one write"
    );
    let second = write(1, "result", "second, and longer");
    store
        .write(address, 1, std::slice::from_ref(&second), None)
        .await?;
    assert_eq!(
        stores.other.writes(address, 1..2).await?,
        [(1, second)],
        "a write replaces the earlier one of the same task and name"
    );
    // In one call the last one counts, as in several calls.
    let last = write(1, "result", "");
    let call = [write(1, "result", "lost"), last.clone()];
    store.write(address, 1, &call, None).await?;
    assert_eq!(
        store.writes(address, 1..2).await?,
        [(1, last)],
        "of two writes of the same task and name in one call the last counts"
    );
    Ok(())
}

/// Writes differ by number, task, name and address. They are returned in order.
pub async fn c90_writes_are_kept_apart_and_in_order(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    let elsewhere = Address {
        namespace: "review",
        ..address
    };
    // In the order of number, task and name, compared by bytes.
    let expected = [
        (2, write(0, "result", "0")),
        (2, write(1, "Z", "1")),
        (2, write(1, "a", "2")),
        (2, write(1, "a ", "3")),
        (2, write(1, "ab", "4")),
        (2, write(1, "é", "5")),
        (2, write(200, "a", "6")),
        (10, write(1, "a", "7")),
    ];
    for (seq, given) in expected.iter().rev() {
        store
            .write(address, *seq, std::slice::from_ref(given), None)
            .await?;
    }
    store
        .write(elsewhere, 2, &[write(1, "a", "elsewhere")], None)
        .await?;
    assert_eq!(
        store.writes(address, 0..u64::MAX).await?,
        expected,
        "writes differ by number, task and name, and are returned in that order"
    );
    assert_eq!(
        store.writes(elsewhere, 0..u64::MAX).await?,
        [(2, write(1, "a", "elsewhere"))],
        "each namespace has its own writes"
    );
    Ok(())
}

/// A write needs no checkpoint, and creates none.
pub async fn writes_may_come_before_their_checkpoint(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    let early = write(1, "answer", "yes");
    store
        .write(address, 1, std::slice::from_ref(&early), None)
        .await?;
    assert_eq!(
        store.read(address, None).await?,
        None,
        "a write creates no checkpoint"
    );
    assert_eq!(
        store.namespaces(THREAD).await?,
        [""],
        "a namespace that has only writes is listed"
    );
    assert_eq!(
        store.threads(ThreadQuery::default()).await?,
        [],
        "a thread without checkpoints is not listed"
    );
    append_all(store, address, &[1]).await?;
    let stored = store.read(address, Some(1)).await?.unwrap_or_default();
    assert_eq!(
        stored.writes,
        [early],
        "a write that was stored before its checkpoint is beside it"
    );
    Ok(())
}

/// A call without writes changes nothing.
pub async fn writing_nothing_changes_nothing(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    store.write(address, 1, &[], None).await?;
    assert_eq!(
        store.writes(address, 0..u64::MAX).await?,
        [],
        "`write` without writes stores none"
    );
    assert_eq!(
        store.namespaces(THREAD).await?,
        Vec::<String>::new(),
        "`write` without writes creates no namespace"
    );
    Ok(())
}

/// A range of numbers may be empty, and may end at the largest number.
pub async fn writes_are_read_by_ranges(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    let largest = i64::MAX.unsigned_abs();
    for seq in [0, 1, 5, largest] {
        store
            .write(address, seq, &[write(1, "result", "a")], None)
            .await?;
    }
    #[allow(clippy::reversed_empty_ranges, reason = "that is what is tested")]
    let ranges = [
        (0..u64::MAX, &[0, 1, 5, largest][..]),
        (0..largest, &[0, 1, 5]),
        (0..1, &[0]),
        (1..5, &[1]),
        (1..6, &[1, 5]),
        (largest..u64::MAX, &[largest]),
        (largest + 1..u64::MAX, &[]),
        (2..5, &[]),
        (1..1, &[]),
        (5..1, &[]),
        (u64::MAX..0, &[]),
        (u64::MAX..u64::MAX, &[]),
    ];
    for (range, expected) in ranges {
        let found = store.writes(address, range.clone()).await?;
        let found: Vec<u64> = found.iter().map(|(seq, _)| *seq).collect();
        assert_eq!(
            found, expected,
            "`writes` of {range:?} returns those beside numbers in the range; if the end is before the start, the range is empty"
        );
    }
    Ok(())
}

/// All writes of a call are stored.
pub async fn many_writes_in_one_call(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    let many: Vec<_> = (0..=u8::MAX)
        .flat_map(|task| ["answer", "effect", "result"].map(|name| write(task, name, [task])))
        .collect();
    store.write(address, 3, &many, None).await?;
    let found = stores.other.writes(address, 3..4).await?;
    assert!(
        found.iter().map(|(_, write)| write).eq(&many),
        "all {} writes of one call are returned, in order; found {}",
        many.len(),
        found.len()
    );
    Ok(())
}

/// A `write` whose future is dropped has added all of its writes or none.
pub async fn a_dropped_write_is_whole_or_nothing(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    let call: Vec<_> = (0..20).map(|task| write(task, "result", [task])).collect();
    for seq in 1..=20 {
        {
            let mut dropped = pin!(store.write(address, seq, &call, None));
            let _ = dropped
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()));
        }
        // It may still be in progress. All of its writes appear at once.
        let found = store.writes(address, seq..seq + 1).await?.len();
        assert!(
            found == 0 || found == call.len(),
            "`write` is atomic: a dropped call of {} writes has added {found} of them",
            call.len()
        );
    }
    Ok(())
}
