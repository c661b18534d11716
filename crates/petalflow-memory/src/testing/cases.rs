//! The test cases of the [`MemoryBackend`] contract.
//!
//! [`memory_contract!`](crate::testing::memory_contract) runs all of them. To run one, such as the one that fails:
//!
//! ```
//! use petalflow_memory::InMemory;
//! use petalflow_memory::testing::{MemoryUnderTest, cases, run};
//!
//! run(async || Ok(MemoryUnderTest::new(InMemory::new())), cases::entries_are_listed_in_order);
//! ```

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use super::Memories;
use crate::{Cursor, Filter, MemoryBackend, MemoryError, Namespace, Query};
use petalflow_testing::contract::{CaseResult, at_once};

const HOUR: Duration = Duration::from_hours(1);

/// Texts that caused errors in the past.
const TEXTS: [&str; 14] = [
    "",
    " ",
    "\0",
    "\0\0",
    "\u{1}",
    "%",
    "_",
    "/",
    "a",
    "a\0",
    "a ",
    "A",
    "é",
    "日本\u{10ffff}",
];

fn users() -> Namespace {
    "users".into()
}

/// Returns the namespace and key of all entries of a query, in pages of this limit.
async fn places(
    store: &dyn MemoryBackend,
    query: &Query,
    limit: usize,
) -> Result<Vec<(Namespace, String)>, MemoryError> {
    let mut found = Vec::new();
    let mut query = query.clone().limit(limit);
    loop {
        let page = store.query(query.clone()).await?;
        assert!(page.entries.len() <= limit, "a page is at most its limit");
        let entries = page.entries.into_iter();
        found.extend(entries.map(|entry| (entry.namespace, entry.key)));
        match page.next {
            None => return Ok(found),
            next => query = query.after(next),
        }
    }
}

/// A value of any type is returned exactly as it was put.
pub async fn g086_a_value_comes_back_as_it_was_put(memories: &Memories) -> CaseResult {
    let users = users();
    let values = json!([
        null, true, 0, -1, i64::MIN, u64::MAX, 0.1, 1.0, -0.0, 5e-324, 1.797_693_134_862_315_7e308,
        123_456_789.123_456_79, "", "text", "\0\u{1f}\"\\\u{2028}日本", [], {}, [1, [2]],
        { "": null, "b": 1, "a": { "\0": [] } }
    ]);
    for (index, value) in values.as_array().into_iter().flatten().enumerate() {
        let key = index.to_string();
        memories
            .store
            .put(&users, &key, value.clone(), None)
            .await?;
        let entry = memories.other.get(&users, &key).await?;
        let entry = entry.ok_or("what was put is there")?;
        assert_eq!(entry.value, *value, "a value comes back as it was put");
        assert_eq!((&entry.namespace, &entry.key), (&users, &key));
    }
    Ok(())
}

/// An empty memory returns no entries.
pub async fn a_missing_entry_is_none(memories: &Memories) -> CaseResult {
    let store = &*memories.store;
    assert_eq!(store.get(&users(), "ann").await?, None);
    assert!(!store.delete(&users(), "ann").await?, "there was nothing");
    let page = store.query(Query::new()).await?;
    assert!(page.entries.is_empty() && page.next.is_none());
    store.put(&users(), "ann", json!(1), None).await?;
    assert_eq!(store.get(&Namespace::ROOT, "ann").await?, None);
    assert_eq!(store.get(&users().child("x"), "ann").await?, None);
    Ok(())
}

/// A key has one value: the last one that was put.
pub async fn a_value_takes_the_place_of_the_one_before(memories: &Memories) -> CaseResult {
    let store = &*memories.store;
    for value in [json!({ "a": 1 }), json!("b"), json!(null)] {
        store.put(&users(), "ann", value.clone(), None).await?;
        let page = store.query(Query::new()).await?;
        let values: Vec<_> = page.entries.into_iter().map(|entry| entry.value).collect();
        assert_eq!(values, [value], "one key has one value");
    }
    Ok(())
}

/// A delete removes only the named entry.
pub async fn g086_deleting_takes_one_entry(memories: &Memories) -> CaseResult {
    let store = &*memories.store;
    for key in ["a", "b", "a "] {
        store.put(&users(), key, json!(key), None).await?;
    }
    store.put(&users().child("a"), "a", json!(0), None).await?;
    assert!(store.delete(&users(), "a").await?, "it was there");
    assert!(!store.delete(&users(), "a").await?, "it is gone");
    assert_eq!(memories.other.get(&users(), "a").await?, None);
    let left = places(store, &Query::new(), 10).await?;
    assert_eq!(left.len(), 3, "nothing else goes");
    Ok(())
}

/// Names and keys may be any text, and are compared by bytes.
pub async fn names_and_keys_are_any_text(memories: &Memories) -> CaseResult {
    let mut expected = Vec::new();
    for one in TEXTS {
        for other in TEXTS {
            expected.push((Namespace::from(one), other.to_string()));
            expected.push((Namespace::from([one, other]), "key".into()));
        }
    }
    for (namespace, key) in &expected {
        let value = json!([namespace, key]);
        memories.store.put(namespace, key, value, None).await?;
    }
    for (namespace, key) in &expected {
        let entry = memories.other.get(namespace, key).await?;
        let entry = entry.ok_or_else(|| format!("{namespace:?} {key:?} is there"))?;
        assert_eq!(entry.value, json!([namespace, key]));
    }
    expected.sort();
    let found = places(&*memories.other, &Query::new(), 7).await?;
    assert_eq!(
        found, expected,
        "each place is its own, in the order of bytes"
    );
    Ok(())
}

/// A namespace and a key of 10,000 bytes and a value of one megabyte are stored.
pub async fn long_keys_and_values(memories: &Memories) -> CaseResult {
    let (namespace, key) = (
        Namespace::from(vec!["é".repeat(2_500); 2]),
        "k".repeat(10_000),
    );
    let value = json!("v".repeat(1 << 20));
    memories
        .store
        .put(&namespace, &key, value.clone(), None)
        .await?;
    let other = format!("{key}l");
    memories
        .store
        .put(&namespace, &other, json!(2), None)
        .await?;
    let entry = memories.other.get(&namespace, &key).await?;
    assert_eq!(entry.map(|entry| entry.value), Some(value));
    let entry = memories.other.get(&namespace, &other).await?;
    assert_eq!(entry.map(|entry| entry.value), Some(json!(2)));
    Ok(())
}

/// A deeply nested value is either stored and readable, or refused.
pub async fn deep_values_come_back_or_are_refused(memories: &Memories) -> CaseResult {
    let store = &*memories.store;
    let nested = |levels| {
        (0..levels).fold(json!(1), |value, level| {
            if level % 2 == 0 {
                Value::Array(vec![value])
            } else {
                Value::Object(Map::from_iter([("in".to_string(), value)]))
            }
        })
    };
    store.put(&users(), "deep", nested(100), None).await?;
    let entry = store.get(&users(), "deep").await?;
    assert_eq!(entry.map(|entry| entry.value), Some(nested(100)));
    for levels in [101, 127, 128, 129, 1_000] {
        match store.put(&users(), "deeper", nested(levels), None).await {
            Ok(()) => {
                let entry = store.get(&users(), "deeper").await?;
                assert_eq!(entry.map(|entry| entry.value), Some(nested(levels)));
            }
            Err(MemoryError::Refused(_)) => {}
            Err(other) => panic!("a value too deep is `Refused`, not {other:?}"),
        }
    }
    Ok(())
}

/// Entries are ordered by namespace, name by name, and then by key.
pub async fn entries_are_listed_in_order(memories: &Memories) -> CaseResult {
    let store = &*memories.store;
    let mut expected = vec![
        (Namespace::ROOT, "z".to_string()),
        (Namespace::from("a"), "z".into()),
        (Namespace::from(["a", ""]), "k".into()),
        (Namespace::from(["a", "z"]), "k".into()),
        (Namespace::from("a\0"), "k".into()),
        (Namespace::from("a b"), "B".into()),
        (Namespace::from("a b"), "a".into()),
        (Namespace::from("aa"), "k".into()),
        (Namespace::from("é"), "k".into()),
    ];
    for (namespace, key) in expected.iter().rev() {
        store.put(namespace, key, json!(key), None).await?;
    }
    assert_eq!(places(store, &Query::new(), 100).await?, expected);
    expected.retain(|(namespace, _)| namespace.starts_with(&"a".into()));
    assert_eq!(
        places(store, &Query::new().under("a"), 100).await?,
        expected
    );
    Ok(())
}

/// `users` is not a prefix of `users-old`.
pub async fn a_prefix_is_whole_names(memories: &Memories) -> CaseResult {
    let store = &*memories.store;
    let under = [users(), users().child("ann"), users().child("")];
    let beside = ["user", "users ", "users-old", "users\0", "Users"];
    for namespace in under.iter().cloned().chain(beside.map(Namespace::from)) {
        store.put(&namespace, "k", json!(1), None).await?;
    }
    let found = places(store, &Query::new().under("users"), 100).await?;
    let mut expected: Vec<_> = under.map(|namespace| (namespace, "k".to_string())).into();
    expected.sort();
    assert_eq!(found, expected);
    assert!(
        places(store, &Query::new().under("use"), 100)
            .await?
            .is_empty()
    );
    Ok(())
}

/// Pages of any size return each entry once.
pub async fn pages_go_on_where_the_last_ended(memories: &Memories) -> CaseResult {
    let store = &*memories.store;
    let mut expected = Vec::new();
    for namespace in [Namespace::ROOT, users(), users().child("ann")] {
        for key in 0..7 {
            expected.push((namespace.clone(), key.to_string()));
        }
    }
    for (namespace, key) in &expected {
        store.put(namespace, key, json!(0), None).await?;
    }
    for limit in [1, 2, 7, 20, 21, 22] {
        let found = places(store, &Query::new(), limit).await?;
        assert_eq!(found, expected, "in pages of {limit}");
    }
    let last = store.query(Query::new().limit(21)).await?;
    assert_eq!(last.next, None, "the last page says so, though it is full");
    Ok(())
}

/// The entry of a cursor may be missing or outside the prefix.
pub async fn a_page_may_begin_anywhere(memories: &Memories) -> CaseResult {
    let store = &*memories.store;
    for key in ["a", "c"] {
        store.put(&users(), key, json!(0), None).await?;
    }
    let cursor = |namespace: Namespace, key: &str| Cursor {
        namespace,
        key: key.into(),
    };
    for (after, expected) in [
        (cursor(users(), "b"), 1),
        (cursor(users(), "c"), 0),
        (cursor(users(), ""), 2),
        (cursor(Namespace::ROOT, "z"), 2),
        (cursor("a".into(), "z"), 2),
        (cursor("z".into(), ""), 0),
        (cursor(users().child(""), ""), 0),
    ] {
        let query = Query::new().under("users").after(after.clone());
        let found = store.query(query).await?.entries.len();
        assert_eq!(found, expected, "after {after:?}");
    }
    Ok(())
}

/// A limit counts matching entries only.
pub async fn filters_come_before_limits(memories: &Memories) -> CaseResult {
    let store = &*memories.store;
    for number in 0..20 {
        let value = json!({ "n": number, "of": { "even": number % 2 == 0 } });
        store
            .put(&users(), &format!("{number:02}"), value, None)
            .await?;
    }
    let even = Query::new().filter(Filter::eq("of.even", true));
    let page = store.query(even.clone().limit(3)).await?;
    assert_eq!(page.entries.len(), 3);
    assert_eq!(page.next.map(|next| next.key).as_deref(), Some("04"));
    assert_eq!(places(store, &even, 3).await?.len(), 10);
    let page = store.query(even.limit(10)).await?;
    assert_eq!(page.next, None, "what follows does not fit");
    Ok(())
}

/// The times of creation and change are in milliseconds since 1970.
pub async fn times_are_kept(memories: &Memories) -> CaseResult {
    let store = &*memories.store;
    let now = || {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| {
            u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
        })
    };
    let before = now();
    store.put(&users(), "ann", json!(1), None).await?;
    let first = store.get(&users(), "ann").await?.ok_or("it is there")?;
    // The clock of a server may differ, but not by hours.
    let close = before.abs_diff(first.created_ms);
    assert!(close < 3_600_000, "created {close} ms from now");
    assert_eq!(first.created_ms, first.updated_ms);
    assert_eq!(first.expires_ms, None);
    store.put(&users(), "ann", json!(2), Some(HOUR)).await?;
    let second = store.get(&users(), "ann").await?.ok_or("it is there")?;
    assert_eq!(second.created_ms, first.created_ms, "it is the same entry");
    assert!(second.updated_ms >= first.updated_ms);
    assert_eq!(second.expires_ms, Some(second.updated_ms + 3_600_000));
    Ok(())
}

/// An expired entry is not returned.
pub async fn an_expired_entry_is_missing(memories: &Memories) -> CaseResult {
    let store = &*memories.store;
    store.put(&users(), "ann", json!(1), Some(HOUR)).await?;
    store
        .put(&users(), "ann", json!(2), Some(Duration::ZERO))
        .await?;
    store.put(&users(), "bo", json!(3), Some(HOUR)).await?;
    assert_eq!(memories.other.get(&users(), "ann").await?, None);
    let found = places(store, &Query::new(), 10).await?;
    assert_eq!(found, [(users(), "bo".to_string())]);
    assert!(!store.delete(&users(), "ann").await?, "it was gone before");
    store.put(&users(), "ann", json!(4), None).await?;
    let entry = store.get(&users(), "ann").await?.ok_or("it is there")?;
    assert_eq!(entry.created_ms, entry.updated_ms, "it is a new entry");
    Ok(())
}

/// The last `put` sets the time to live.
pub async fn an_entry_lives_as_long_as_it_was_last_told(memories: &Memories) -> CaseResult {
    let store = &*memories.store;
    store.put(&users(), "ann", json!(1), Some(HOUR)).await?;
    store.put(&users(), "ann", json!(2), None).await?;
    let entry = store.get(&users(), "ann").await?.ok_or("it is there")?;
    assert_eq!(entry.expires_ms, None, "it lives for ever");
    store
        .put(&users(), "ann", json!(3), Some(Duration::MAX))
        .await?;
    let entry = store.get(&users(), "ann").await?;
    assert!(entry.is_some(), "the longest time is not over");
    Ok(())
}

/// An entry that one handle writes is visible to the other.
pub async fn handles_see_each_others_entries(memories: &Memories) -> CaseResult {
    for (round, (one, other)) in [
        (&memories.store, &memories.other),
        (&memories.other, &memories.store),
    ]
    .into_iter()
    .enumerate()
    {
        one.put(&users(), "ann", json!(round), None).await?;
        let entry = other.get(&users(), "ann").await?;
        assert_eq!(entry.map(|entry| entry.value), Some(json!(round)));
        assert!(other.delete(&users(), "ann").await?);
        assert_eq!(one.get(&users(), "ann").await?, None);
    }
    Ok(())
}

/// Concurrent writers do not lose entries.
pub async fn many_write_at_once(memories: &Memories) -> CaseResult {
    const WRITERS: usize = 8;
    const EACH: usize = 12;
    at_once(WRITERS, |writer| {
        let memories = memories.clone();
        let store = if writer % 2 == 0 {
            memories.store
        } else {
            memories.other
        };
        async move {
            let own = users().child(writer.to_string());
            for number in 0..EACH {
                store
                    .put(&own, &number.to_string(), json!(number), None)
                    .await?;
                let all: Value = json!({ "writer": writer, "number": number });
                store.put(&users(), "last", all, None).await?;
            }
            Ok(())
        }
    })
    .await?;
    let found = places(&*memories.store, &Query::new(), 50).await?;
    assert_eq!(found.len(), WRITERS * EACH + 1, "each entry is there once");
    let last = memories.store.get(&users(), "last").await?;
    let last = last.ok_or("it is there")?.value;
    assert_eq!(
        last["number"],
        json!(EACH - 1),
        "of all writes the last counts"
    );
    Ok(())
}

/// A dropped `put` takes full effect or none.
pub async fn a_dropped_put_is_whole_or_nothing(memories: &Memories) -> CaseResult {
    let store = &*memories.store;
    let whole = |mark: usize| {
        let fields = (0..50).map(|field| (field.to_string(), json!(mark)));
        Value::Object(fields.collect::<Map<_, _>>())
    };
    store.put(&users(), "ann", whole(0), None).await?;
    for mark in 1..20 {
        let own = users();
        let put = store.put(&own, "ann", whole(mark), None);
        // Polled once, then dropped.
        let _ = tokio::time::timeout(Duration::ZERO, put).await;
        let entry = store.get(&users(), "ann").await?.ok_or("it is there")?;
        let fields = entry.value.as_object().ok_or("it is an object")?;
        assert!(
            fields.len() == 50 && fields.values().all(|value| *value == fields["0"]),
            "a value is never half of one and half of another"
        );
    }
    Ok(())
}
