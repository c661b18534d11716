//! Checkpoints are read as they were appended.

use petalflow::checkpoint::{Address, Stored, StoredCheckpoint};

use super::samples::{THREAD, append, append_all, checkpoint, newest, numbers, write};
use super::{CaseResult, Stores};

/// A checkpoint is read by its number, as it was appended.
pub async fn c88_a_checkpoint_comes_back_as_it_was_given(stores: &Stores) -> CaseResult {
    let address = Address::root(THREAD);
    append_all(&*stores.store, address, &[1, 2, 3]).await?;
    for seq in [1, 2, 3] {
        let expected = Stored {
            chain: vec![checkpoint(seq)],
            writes: Vec::new(),
        };
        assert_eq!(
            stores.store.read(address, Some(seq)).await?,
            Some(expected),
            "`read` returns the checkpoint with the requested number, with all fields unchanged"
        );
    }
    Ok(())
}

/// Any bytes can be stored, and also no bytes.
pub async fn c88_bytes_are_opaque(stores: &Stores) -> CaseResult {
    let address = Address::root(THREAD);
    let every_byte: Vec<u8> = (0..=u8::MAX).collect();
    let large: Vec<u8> = (0..1_500_000_u32)
        .map(|i| i.wrapping_mul(2_654_435_761).to_be_bytes()[0])
        .collect();
    let mut after = None;
    for (seq, bytes) in [(1, Vec::new()), (2, every_byte), (3, large)] {
        let given = StoredCheckpoint {
            bytes: bytes.clone(),
            ..checkpoint(seq)
        };
        let beside = write(1, "result", bytes.clone());
        stores.store.write(address, seq, &[beside], None).await?;
        stores
            .store
            .append(address, &given, after, 0..0, None)
            .await?;
        after = Some(seq);
        let stored = stores.other.read(address, Some(seq)).await?;
        let stored = stored
            .unwrap_or_else(|| panic!("checkpoint {seq} was appended, and `read` found none"));
        assert!(
            stored.chain.len() == 1 && stored.chain[0].bytes == bytes,
            "a checkpoint of {} bytes is read as it was appended",
            bytes.len()
        );
        assert!(
            stored.writes.len() == 1 && stored.writes[0].bytes == bytes,
            "a write of {} bytes is read as it was written",
            bytes.len()
        );
    }
    Ok(())
}

/// Numbers and times go up to `i64::MAX`.
pub async fn c88_numbers_go_up_to_the_largest(stores: &Stores) -> CaseResult {
    let address = Address::root(THREAD);
    let largest = i64::MAX.unsigned_abs();
    let last = StoredCheckpoint {
        created_ms: largest,
        base: largest - 1,
        ..checkpoint(largest)
    };
    append_all(&*stores.store, address, &[0, largest - 1]).await?;
    stores
        .store
        .append(address, &last, Some(largest - 1), 0..0, None)
        .await?;
    let stored = stores.store.read(address, None).await?;
    let expected = Stored {
        chain: vec![checkpoint(largest - 1), last],
        writes: Vec::new(),
    };
    assert_eq!(
        stored,
        Some(expected),
        "numbers and times go up to 2^63 - 1"
    );
    Ok(())
}

/// A checkpoint is read with all checkpoints from its base on. Later checkpoints do not change this.
pub async fn c89_a_chain_begins_at_its_base(stores: &Stores) -> CaseResult {
    let address = Address::root(THREAD);
    let based = |seq, base| StoredCheckpoint {
        base,
        ..checkpoint(seq)
    };
    // Numbers may be left out, and a new base begins in the middle.
    let all = [
        based(1, 1),
        based(2, 1),
        based(5, 1),
        based(6, 6),
        based(9, 6),
    ];
    let mut after = None;
    for given in &all {
        stores
            .store
            .append(address, given, after, 0..0, None)
            .await?;
        after = Some(given.seq);
    }
    for (seq, chain) in [
        (1, &all[..1]),
        (2, &all[..2]),
        (5, &all[..3]),
        (6, &all[3..4]),
        (9, &all[3..]),
    ] {
        let stored = stores.store.read(address, Some(seq)).await?;
        assert_eq!(
            stored.map(|stored| stored.chain),
            Some(chain.to_vec()),
            "`read` of {seq} returns all checkpoints from its base to itself, in the order of their numbers"
        );
    }
    Ok(())
}

/// An address that was never written to has nothing.
pub async fn c92_an_unknown_thread_has_no_checkpoint(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    append_all(store, Address::root("another"), &[1]).await?;
    let unknown = [
        Address::root(THREAD),
        Address {
            thread: "another",
            namespace: "review",
        },
    ];
    for address in unknown {
        assert_eq!(
            store.read(address, None).await?,
            None,
            "nothing was written at {address:?}: there is no newest checkpoint"
        );
        assert_eq!(
            store.read(address, Some(1)).await?,
            None,
            "nothing was written at {address:?}: there is no checkpoint 1"
        );
        assert_eq!(
            store.history(address, None, 10).await?,
            [],
            "nothing was written at {address:?}: it has no history"
        );
        assert_eq!(
            store.writes(address, 0..u64::MAX).await?,
            [],
            "nothing was written at {address:?}: it has no writes"
        );
    }
    assert_eq!(
        store.namespaces(THREAD).await?,
        Vec::<String>::new(),
        "an unknown thread has no namespaces"
    );
    Ok(())
}

/// Without a number the newest checkpoint is read. A number that was left out has no checkpoint.
pub async fn c92_without_a_number_the_newest_is_read(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    let mut after = None;
    for seq in [3, 9, 10, 11, 100] {
        append(store, address, seq, after).await?;
        after = Some(seq);
        assert_eq!(
            newest(store, address).await?,
            after,
            "`read` without a number returns the newest checkpoint, compared by number and not by text"
        );
    }
    for seq in [0, 4, 99, 101, u64::MAX] {
        assert_eq!(
            store.read(address, Some(seq)).await?,
            None,
            "checkpoint {seq} was never appended: `read` returns none, and no neighbour"
        );
    }
    Ok(())
}

/// `read` returns the writes beside that checkpoint and no others.
pub async fn reading_gives_the_writes_beside_a_checkpoint(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    append_all(store, address, &[1, 2]).await?;
    let elsewhere = Address {
        namespace: "review",
        ..address
    };
    let (first, second) = (write(2, "result", "b"), write(1, "result", "a"));
    store
        .write(address, 1, &[write(9, "result", "old")], None)
        .await?;
    store
        .write(address, 2, &[first.clone(), second.clone()], None)
        .await?;
    store
        .write(address, 3, &[write(9, "result", "new")], None)
        .await?;
    store
        .write(elsewhere, 2, &[write(9, "result", "elsewhere")], None)
        .await?;
    let stored = store.read(address, None).await?.unwrap_or_default();
    assert_eq!(
        stored.writes,
        [second, first],
        "`read` returns the writes beside the checkpoint itself and no others, in the order of task and name"
    );
    Ok(())
}

/// Writes stay beside the checkpoint that they were written for, and are read with it also when it is an old one.
pub async fn an_older_checkpoint_is_read_with_its_writes(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    append_all(store, address, &[1, 2, 5, 6]).await?;
    for seq in [1, 2, 5, 6] {
        let beside = write(1, "result", [seq]);
        store.write(address, seq.into(), &[beside], None).await?;
    }
    for seq in [5_u8, 1, 6, 2] {
        let stored = stores.other.read(address, Some(seq.into())).await?;
        assert_eq!(
            stored.map(|stored| stored.writes),
            Some(vec![write(1, "result", [seq])]),
            "`read` of {seq} returns the writes beside it, whether or not it is the newest"
        );
    }
    Ok(())
}

/// The history has pages, newest first.
pub async fn history_is_paged_newest_first(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root(THREAD));
    append_all(store, address, &[1, 2, 4, 7, 11]).await?;
    for (before, limit, expected) in [
        (None, 100, &[11, 7, 4, 2, 1][..]),
        (None, usize::MAX, &[11, 7, 4, 2, 1]),
        (None, 2, &[11, 7]),
        (Some(7), 2, &[4, 2]),
        (Some(3), 2, &[2, 1]),
        (Some(1), 2, &[]),
        (Some(0), 2, &[]),
        (Some(u64::MAX), 1, &[11]),
        (None, 0, &[]),
    ] {
        let page = store.history(address, before, limit).await?;
        let expected: Vec<_> = expected.iter().map(|seq| checkpoint(*seq)).collect();
        assert_eq!(
            page, expected,
            "`history` before {before:?} returns at most {limit} checkpoints with a lower number, newest first"
        );
    }
    Ok(())
}

/// Two handles to the same data see what the other has written at once.
pub async fn handles_see_each_others_writes(stores: &Stores) -> CaseResult {
    let (store, other) = (&*stores.store, &*stores.other);
    let address = Address::root(THREAD);
    for round in 0..20 {
        let (one, two) = (2 * round + 1, 2 * round + 2);
        append(
            store,
            address,
            one,
            one.checked_sub(1).filter(|after| *after > 0),
        )
        .await?;
        assert_eq!(
            newest(other, address).await?,
            Some(one),
            "a call sees the effects of all calls that had returned before it began, through any handle"
        );
        append(other, address, two, Some(one)).await?;
        assert_eq!(
            newest(store, address).await?,
            Some(two),
            "a call sees the effects of all calls that had returned before it began, through any handle"
        );
    }
    assert_eq!(
        numbers(other, address).await?.len(),
        40,
        "all appends through both handles are stored"
    );
    Ok(())
}
