//! Ids and names are any text within their limits.

use petalflow::checkpoint::{Address, Claim, Store, StoredCheckpoint, ThreadQuery};

use super::samples::{append, checkpoint, numbers, write};
use super::{CaseResult, Stores};

/// Text that a store could wrongly fold, trim, escape, split or cut.
fn odd() -> Vec<String> {
    let mut odd: Vec<String> = [
        "essay",
        "Essay",
        "ESSAY",
        " essay",
        "essay ",
        "essay\t",
        "essay\n",
        "essay\r\n",
        "é",
        "e\u{301}",
        "ß",
        "ss",
        "ı",
        "I",
        "🌸",
        "👩‍👩‍👧",
        "\u{10ffff}",
        "\u{feff}essay",
        "שלום",
        "'; DROP TABLE checkpoints; --",
        "\"essay\"",
        "`essay`",
        "$1",
        "?1",
        "{essay}",
        "essay:1",
        "essay/1",
        "../essay",
        "C:\\essay",
        "*",
        "%",
        "\\0",
        "\u{1}",
        "0",
        "00",
        "1e3",
        "null",
        "line one\nline two",
    ]
    .map(String::from)
    .into();
    odd.push("x".repeat(Address::LONGEST));
    odd.push(format!("{}y", "x".repeat(Address::LONGEST - 1)));
    odd.push("🌸".repeat(Address::LONGEST / 4));
    odd
}

/// Appends a different checkpoint to each address, and reads them.
async fn apart(store: &dyn Store, other: &dyn Store, addresses: &[Address<'_>]) -> CaseResult {
    let own = |address: &Address<'_>| StoredCheckpoint {
        bytes: format!("{address:?}").into_bytes(),
        ..checkpoint(1)
    };
    for address in addresses {
        store
            .append(*address, &own(address), None, 0..0, None)
            .await?;
    }
    for address in addresses {
        let stored = other.read(*address, None).await?.unwrap_or_default();
        assert_eq!(
            stored.chain,
            [own(address)],
            "ids are compared by bytes: {address:?} has its own checkpoint"
        );
    }
    Ok(())
}

/// Similar ids of threads are different ids.
pub async fn thread_ids_are_any_text(stores: &Stores) -> CaseResult {
    let odd = odd();
    let addresses: Vec<_> = odd.iter().map(|id| Address::root(id)).collect();
    apart(&*stores.store, &*stores.other, &addresses).await?;
    let threads = stores.store.threads(ThreadQuery::default()).await?;
    let mut expected = odd.clone();
    expected.sort_unstable();
    let found: Vec<String> = threads.into_iter().map(|thread| thread.id).collect();
    assert_eq!(
        found, expected,
        "threads are listed by their ids, unchanged, in the order of their bytes"
    );
    for id in &odd {
        stores.store.delete(id, None).await?;
    }
    assert_eq!(
        stores.store.threads(ThreadQuery::default()).await?,
        [],
        "every thread can be deleted by its id"
    );
    Ok(())
}

/// Similar namespaces are different namespaces.
pub async fn namespaces_are_any_text(stores: &Stores) -> CaseResult {
    let odd = odd();
    // Also the longest address.
    let longest = "t".repeat(Address::LONGEST);
    let mut addresses = Vec::new();
    for thread in ["essay", &longest] {
        addresses.extend(odd.iter().map(|namespace| Address { thread, namespace }));
    }
    apart(&*stores.store, &*stores.other, &addresses).await?;
    let mut expected = odd.clone();
    expected.sort_unstable();
    assert_eq!(
        stores.store.namespaces(&longest).await?,
        expected,
        "namespaces are listed unchanged, in the order of their bytes"
    );
    Ok(())
}

/// Similar names of writes are different names.
pub async fn names_of_writes_are_any_text(stores: &Stores) -> CaseResult {
    let (store, address) = (&*stores.store, Address::root("essay"));
    let mut names = odd();
    names.retain(|name| name.len() <= 255);
    names.extend([String::new(), "n".repeat(255), "é".repeat(127)]);
    names.sort_unstable();
    let writes: Vec<_> = names
        .iter()
        .map(|name| write(1, name, name.as_bytes()))
        .collect();
    store.write(address, 1, &writes, None).await?;
    let found = stores.other.writes(address, 1..2).await?;
    let found: Vec<_> = found.into_iter().map(|(_, write)| write).collect();
    assert_eq!(
        found, writes,
        "names of writes are compared and sorted by bytes, and are returned unchanged"
    );
    Ok(())
}

/// A thread and a namespace are two texts. Different pairs are different, also if the joined texts are equal.
pub async fn threads_and_namespaces_do_not_run_together(stores: &Stores) -> CaseResult {
    let pairs = [
        ("a", "b:c"),
        ("a:b", "c"),
        ("a:b:c", ""),
        ("a", "b/c"),
        ("a/b", "c"),
        ("a", "\u{1f}b"),
        ("a\u{1f}", "b"),
        ("a", " b"),
        ("a ", "b"),
        ("{a}", "b"),
        ("{a", "}b"),
        ("1", "23"),
        ("12", "3"),
    ];
    let addresses = pairs.map(|(thread, namespace)| Address { thread, namespace });
    apart(&*stores.store, &*stores.other, &addresses).await?;
    stores.store.delete("a", None).await?;
    for address in addresses {
        let expected = usize::from(address.thread != "a");
        assert_eq!(
            numbers(&*stores.store, address).await?.len(),
            expected,
            "`delete` of thread \"a\" removes its namespaces and nothing else; this is {address:?}"
        );
    }
    append(&*stores.store, addresses[0], 1, None).await?;
    Ok(())
}

/// Claims compare ids by bytes.
pub async fn claims_are_by_bytes_too(stores: &Stores) -> CaseResult {
    for id in &odd() {
        assert_eq!(
            stores.store.claim(id, id).await?,
            Claim::Granted,
            "{id:?} is free: claims compare ids by bytes"
        );
    }
    for id in &odd() {
        assert_eq!(
            stores.other.claim(id, "other").await?,
            super::claims::busy(id),
            "{id:?} is claimed by the owner of the same name"
        );
        stores.store.release(id, id);
    }
    Ok(())
}
