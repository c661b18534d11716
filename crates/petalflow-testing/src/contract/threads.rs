//! The lists of threads and of their namespaces.

use petalflow::BoxError;
use petalflow::checkpoint::{Address, Store, StoredCheckpoint, ThreadInfo, ThreadQuery};

use super::samples::{THREAD, append_all, checkpoint};
use super::{CaseResult, Stores};

/// Ids in the order of their bytes. A store that uses patterns, or another order, gets some of them wrong.
const ODD: [&str; 30] = [
    " a", "\"a\"", "%", "%a", "'a'", "*", "*a", "/", "A", "B", "[a-z]", "[a]", "\\", "\\%", "_",
    "_a", "a", "a ", "a%b", "a*b", "a_b", "ab", "axb", "b", "z", "{1}", "\u{7f}", "é", "\u{ffff}",
    "🌸",
];

async fn ids(store: &dyn Store, query: ThreadQuery<'_>) -> Result<Vec<String>, BoxError> {
    let threads = store.threads(query).await?;
    Ok(threads.into_iter().map(|thread| thread.id).collect())
}

/// A thread is listed with the number and the size of its checkpoints.
pub async fn threads_are_listed_with_what_they_hold(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    let sized = |seq, created_ms, size: usize| StoredCheckpoint {
        created_ms,
        bytes: vec![7; size],
        ..checkpoint(seq)
    };
    let root = Address::root("b");
    let review = Address {
        namespace: "review",
        ..root
    };
    store
        .append(root, &sized(1, 50, 10), None, 0..0, None)
        .await?;
    store
        .append(review, &sized(1, 90, 100), None, 0..0, None)
        .await?;
    store
        .append(root, &sized(2, 70, 1_000), Some(1), 0..0, None)
        .await?;
    store
        .append(Address::root("a"), &sized(1, 1, 0), None, 0..0, None)
        .await?;
    let info = |id: &str, checkpoints, bytes, created_ms, updated_ms| ThreadInfo {
        id: id.into(),
        checkpoints,
        bytes,
        created_ms,
        updated_ms,
        ..ThreadInfo::default()
    };
    assert_eq!(
        stores.other.threads(ThreadQuery::default()).await?,
        [info("a", 1, 0, 1, 1), info("b", 3, 1_110, 50, 90)],
        "a thread is listed once, with its checkpoints and bytes in all namespaces and the times of the first and the newest of them"
    );
    Ok(())
}

/// A prefix is compared by bytes and is not a pattern.
pub async fn a_prefix_is_compared_by_bytes(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    for id in ODD.iter().rev() {
        append_all(store, Address::root(id), &[1]).await?;
    }
    assert_eq!(
        ids(store, ThreadQuery::default()).await?,
        ODD,
        "threads are listed in the order of the bytes of their ids"
    );
    let prefixes = [
        "",
        " ",
        "%",
        "'",
        "\"",
        "*",
        "A",
        "[",
        "[a",
        "\\",
        "_",
        "a",
        "a%",
        "a*",
        "a_",
        "ab",
        "é",
        "e",
        "\u{ffff}",
        "🌸",
        "🌸 ",
        "\u{10ffff}",
        "zz",
        "?",
        "a?b",
        ".*",
    ];
    for prefix in prefixes {
        let expected: Vec<&str> = ODD
            .into_iter()
            .filter(|id| id.starts_with(prefix))
            .collect();
        let query = ThreadQuery {
            prefix,
            ..ThreadQuery::default()
        };
        assert_eq!(
            ids(store, query).await?,
            expected,
            "the prefix {prefix:?} is compared by bytes and is not a pattern"
        );
    }
    Ok(())
}

/// All pages together have each thread once.
pub async fn threads_are_paged(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    for id in ODD {
        append_all(store, Address::root(id), &[1]).await?;
    }
    for (prefix, limit) in [("", 1), ("", 7), ("", 100), ("a", 2)] {
        let expected: Vec<&str> = ODD
            .into_iter()
            .filter(|id| id.starts_with(prefix))
            .collect();
        let (mut found, mut after) = (Vec::new(), None::<String>);
        loop {
            let query = ThreadQuery {
                prefix,
                after: after.as_deref(),
                limit: Some(limit),
                ..ThreadQuery::default()
            };
            let page = ids(store, query).await?;
            assert!(
                page.len() <= limit,
                "a page has at most {limit} threads, and this one has {}",
                page.len()
            );
            let Some(last) = page.last().cloned() else {
                break;
            };
            after = Some(last);
            found.extend(page);
        }
        assert_eq!(
            found, expected,
            "pages of {limit} have each thread with the prefix {prefix:?} once, in order"
        );
    }
    Ok(())
}

/// A page can begin after an id that no thread has.
pub async fn a_page_may_begin_anywhere(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    for id in ["a1", "a2", "b1", "b2", "c1"] {
        append_all(store, Address::root(id), &[1]).await?;
    }
    for (prefix, after, limit, expected) in [
        ("", None, Some(0), &[][..]),
        ("", Some("a15"), None, &["a2", "b1", "b2", "c1"]),
        ("", Some(""), None, &["a1", "a2", "b1", "b2", "c1"]),
        ("", Some("zzz"), None, &[]),
        ("b", Some("a1"), None, &["b1", "b2"]),
        ("b", Some("b1"), None, &["b2"]),
        ("b", Some("b2"), None, &[]),
        ("b", Some("c1"), None, &[]),
        ("b", Some("b"), Some(1), &["b1"]),
        ("b", None, Some(usize::MAX), &["b1", "b2"]),
    ] {
        let query = ThreadQuery {
            prefix,
            after,
            limit,
            ..ThreadQuery::default()
        };
        assert_eq!(
            ids(store, query).await?,
            expected,
            "{query:?} returns the threads with that prefix and after that id, which need not exist"
        );
    }
    Ok(())
}

/// The namespaces of a thread are listed in order, each once.
pub async fn namespaces_are_listed(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    let namespaces = [
        "",
        "Review",
        "review",
        "review/dig[10]",
        "review/dig[3]",
        "réview",
        "%",
    ];
    for namespace in namespaces {
        let address = Address {
            thread: THREAD,
            namespace,
        };
        append_all(store, address, &[1, 2]).await?;
    }
    let elsewhere = Address {
        thread: "another",
        namespace: "elsewhere",
    };
    append_all(store, elsewhere, &[1]).await?;
    let mut expected = namespaces;
    expected.sort_unstable();
    assert_eq!(
        stores.other.namespaces(THREAD).await?,
        expected,
        "the namespaces of a thread are listed once each, in the order of their bytes"
    );
    Ok(())
}
