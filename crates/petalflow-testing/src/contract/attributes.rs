//! Cases about search attributes: conditions on them, their changes, and when they end.

use std::collections::BTreeMap;

use petalflow::BoxError;
use petalflow::checkpoint::{
    Address, Attribute, AttributeTest, Claim, Store, StoreChange, StoreError, ThreadFilter,
    ThreadInfo, ThreadQuery, ThreadStatus,
};

use super::descriptions::{ALL, status};
use super::index::{append, at, check_index};
use super::{CaseResult, Stores};

/// Attributes by their names.
fn attributes<const N: usize>(values: [(&str, Attribute); N]) -> BTreeMap<String, Attribute> {
    let values = values.into_iter();
    values.map(|(name, value)| (name.into(), value)).collect()
}

/// A checkpoint of the thread's own flow, together with these attributes.
async fn append_with(
    store: &dyn Store,
    thread: &str,
    (seq, created_ms): (u64, u64),
    set: BTreeMap<String, Attribute>,
) -> Result<(), StoreError> {
    let append = StoreChange::Append {
        namespace: String::new(),
        checkpoint: at(seq, created_ms),
        after: seq.checked_sub(1).filter(|after| *after > 0),
        settled: 0..0,
    };
    let changes = [append, StoreChange::Attributes(set)];
    store.apply(thread, &changes, None).await
}

/// Appends 40 threads of two flows, whose attributes `amount` are numbers and texts, and some without any.
async fn append_threads(store: &dyn Store) -> CaseResult {
    for index in 0..40_u32 {
        let id = format!("thread-{index:02}");
        let (flow, amount) = match index % 4 {
            0 => ("Order", Attribute::from(index)),
            1 => ("Order", (19.5 - f64::from(index)).into()),
            2 => ("Order", (-1 - i64::from(index)).into()),
            _ => ("Wish", format!("a lot {}", index % 6).into()),
        };
        let mut set = attributes([("amount", amount), ("paid", (index % 3 == 0).into())]);
        if index % 5 != 0 {
            let customer = ["ann", "bob", "cleo\u{10ffff}", "anna"][index as usize % 4];
            set.insert("customer".into(), customer.into());
        }
        let place = (1, 1_000 + u64::from(index * 7 % 13));
        if index % 9 == 8 {
            append(store, (&id, ""), place.0, place.1).await?;
        } else {
            append_with(store, &id, place, set).await?;
        }
        let status = status(flow, ThreadStatus::Finished, None);
        if index % 7 != 0 {
            store.describe(&id, status, None).await?;
        }
    }
    Ok(())
}

/// Conditions on attributes find the threads with such values of the same type, in each order and on each page, also combined with
/// others.
pub async fn f43_threads_are_found_by_their_attributes(stores: &Stores) -> CaseResult {
    append_threads(&*stores.store).await?;
    let tests = [
        ("amount", AttributeTest::is(4_u8)),
        ("amount", AttributeTest::is(4.0)),
        ("amount", AttributeTest::is("4")),
        ("amount", AttributeTest::is_not(4)),
        ("amount", AttributeTest::above(10)),
        ("amount", AttributeTest::at_least(10.5)),
        ("amount", AttributeTest::below(-20)),
        ("amount", AttributeTest::at_most(-17.5)),
        ("amount", AttributeTest::exists()),
        ("amount", AttributeTest::above("a lot 2")),
        ("amount", AttributeTest::contains("lot 3")),
        ("paid", AttributeTest::is(true)),
        ("paid", AttributeTest::is_not(true)),
        ("customer", AttributeTest::is("ann")),
        ("customer", AttributeTest::starts_with("ann")),
        ("customer", AttributeTest::starts_with("cleo\u{10ffff}")),
        ("customer", AttributeTest::contains("o")),
        ("customer", AttributeTest::contains("\u{3}")),
        ("customer", AttributeTest::exists()),
        ("unknown", AttributeTest::exists()),
    ];
    for (name, test) in &tests {
        let filter = Some(ThreadFilter::Attribute(name, test));
        check_index(stores, ThreadQuery { filter, ..ALL }, "an attribute").await?;
    }
    let [large, paid, ann] = [&tests[4].1, &tests[11].1, &tests[14].1];
    let (large, paid, ann) = (
        ThreadFilter::Attribute("amount", large),
        ThreadFilter::Attribute("paid", paid),
        ThreadFilter::Attribute("customer", ann),
    );
    let combined = [
        ThreadFilter::Not(&large),
        ThreadFilter::All(&[large, paid]),
        ThreadFilter::Any(&[large, ann]),
        ThreadFilter::All(&[
            ThreadFilter::Any(&[large, paid]),
            ThreadFilter::Not(&ann),
            ThreadFilter::Flow("Order"),
            ThreadFilter::Status(ThreadStatus::Finished),
        ]),
        ThreadFilter::Any(&[ThreadFilter::Flow("Wish"), paid]),
    ];
    for filter in combined {
        let filter = Some(filter);
        check_index(stores, ThreadQuery { filter, ..ALL }, "combined").await?;
        let from = ThreadQuery {
            filter,
            created_from_ms: Some(1_004),
            prefix: "thread-1",
            ..ALL
        };
        check_index(stores, from, "combined, in a range").await?;
    }
    Ok(())
}

async fn info(store: &dyn Store, thread: &str) -> Result<ThreadInfo, BoxError> {
    let query = ThreadQuery {
        prefix: thread,
        limit: Some(1),
        ..ALL
    };
    let found = store.threads(query).await?.pop();
    found.ok_or_else(|| "the thread is not listed".into())
}

async fn check(
    stores: &Stores,
    moment: &str,
    expected: &BTreeMap<String, Attribute>,
) -> CaseResult {
    let found = info(&*stores.other, "order").await?.attributes;
    assert_eq!(found, *expected, "{moment}: the attributes of the thread");
    for (name, value) in expected {
        let test = AttributeTest::is(value.clone());
        let filter = Some(ThreadFilter::Attribute(name, &test));
        let found = stores.other.threads(ThreadQuery { filter, ..ALL }).await?;
        let found = found.iter().any(|info| info.id == "order");
        assert!(found, "{moment}: the thread is found by `{name}`");
    }
    check_index(stores, ALL, moment).await
}

/// Attributes take the place of all others of the thread, together with the checkpoint: both or neither.
pub async fn f43_attributes_change_with_their_checkpoint(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    let first = attributes([("amount", 5.into()), ("customer", "ann".into())]);
    append_with(store, "order", (1, 1_000), first.clone()).await?;
    check(stores, "after the first checkpoint", &first).await?;
    append(store, ("order", ""), 2, 1_001).await?;
    check(
        stores,
        "a checkpoint without attributes leaves them",
        &first,
    )
    .await?;
    let second = attributes([("amount", 6.5.into()), ("paid", true.into())]);
    append_with(store, "order", (3, 1_002), second.clone()).await?;
    check(stores, "others take their place", &second).await?;
    let old = AttributeTest::is("ann");
    let filter = Some(ThreadFilter::Attribute("customer", &old));
    let found = stores.other.threads(ThreadQuery { filter, ..ALL }).await?;
    assert!(found.is_empty(), "a value that was removed finds no thread");
    let late = append_with(store, "order", (3, 1_003), first).await;
    assert!(
        matches!(late, Err(StoreError::Conflict { .. })),
        "a checkpoint that is there is a conflict"
    );
    check(stores, "a conflict changes none", &second).await?;
    store
        .describe("order", status("Order", ThreadStatus::Failed, None), None)
        .await?;
    check(stores, "a status leaves them", &second).await?;
    let other_kind = attributes([("amount", "much".into())]);
    append_with(store, "order", (4, 1_004), other_kind.clone()).await?;
    check(stores, "a value of another type", &other_kind).await?;
    store.prune(Address::root("order"), 4, 4, None).await?;
    check(stores, "a prune leaves them", &other_kind).await?;
    append_with(store, "order", (5, 1_005), BTreeMap::new()).await?;
    check(stores, "none take the place of all", &BTreeMap::new()).await
}

/// A thread that is deleted leaves no attribute to another one with its id.
pub async fn f43_attributes_end_with_their_thread(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    let set = attributes([("amount", 5.into())]);
    for id in ["order", "other"] {
        append_with(store, id, (1, 1_000), set.clone()).await?;
    }
    store.delete("order", None).await?;
    let five = AttributeTest::is(5);
    let filter = Some(ThreadFilter::Attribute("amount", &five));
    let query = ThreadQuery { filter, ..ALL };
    let found = stores.other.threads(query).await?;
    let found: Vec<_> = found.iter().map(|info| &*info.id).collect();
    assert_eq!(found, ["other"], "a thread that was deleted is not found");
    append(store, ("order", ""), 1, 1_001).await?;
    check(stores, "it begins anew", &BTreeMap::new()).await?;
    store.delete_many(&["order", "other"], None).await?;
    let found = stores.other.threads(query).await?;
    assert!(found.is_empty(), "none of several is found");
    Ok(())
}

/// Values and names of any kind come back as they were given.
pub async fn f43_attributes_have_any_value(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    let long = "ä".repeat(600);
    let set = attributes([
        ("", "".into()),
        ("'; DROP", "\u{0}'\"\\%_".into()),
        ("long", long.as_str().into()),
        ("ünï", "\u{10ffff}".into()),
        ("least", i128::MIN.into()),
        ("greatest", u128::MAX.into()),
        ("endless", f64::NEG_INFINITY.into()),
        ("none", f64::NAN.into()),
        ("tiny", f64::MIN_POSITIVE.into()),
        ("exact", u64::MAX.into()),
        ("no", false.into()),
    ]);
    append_with(store, "order", (1, 1_000), set.clone()).await?;
    check(stores, "any value", &set).await
}

/// A run that has lost its claim changes no attribute.
pub async fn f43_attributes_are_fenced(stores: &Stores) -> CaseResult {
    let store = &*stores.store;
    let set = attributes([("amount", 5.into())]);
    append_with(store, "order", (1, 1_000), set.clone()).await?;
    let claimed = store.claim("order", "one").await?;
    assert_eq!(claimed, Claim::Granted, "the claim on a free thread");
    let late = [StoreChange::Attributes(attributes([("amount", 6.into())]))];
    let refused = store.apply("order", &late, Some("two")).await;
    assert!(
        matches!(refused, Err(StoreError::ClaimLost { .. })),
        "attributes of another owner are refused with ClaimLost"
    );
    check(stores, "nothing has changed", &set).await?;
    store.apply("order", &late, Some("one")).await?;
    check(
        stores,
        "the owner changes them",
        &attributes([("amount", 6.into())]),
    )
    .await
}
