//! Whatever is done to them, a memory in the process and one in a database give the same answers.

use std::time::Duration;

use petalflow_memory::{
    Cursor, Filter, InMemory, MemoryBackend, Namespace, Page, Query, SqliteMemory,
};
use petalflow_sqlite::SqliteStore;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Something that is done to a memory.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Put(Namespace, String, Value, Option<Duration>),
    Delete(Namespace, String),
    Get(Namespace, String),
    Query(Query),
}

/// Few names, so that steps meet, among them those that sort oddly.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("a"),
        Just("a\0"),
        Just("a\u{1}"),
        Just("ab"),
        Just(""),
        Just("é"),
        Just("B")
    ]
    .prop_map(String::from)
}

fn namespace() -> impl Strategy<Value = Namespace> {
    vec(name(), 0..3).prop_map(Namespace::from)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..3).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-c\0\"]{0,2}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            (inner.clone(), inner).prop_map(|(n, m)| json!({ "n": n, "in": { "m": m } })),
        ]
    })
}

fn filter() -> impl Strategy<Value = Filter> {
    let path = prop_oneof![Just(""), Just("n"), Just("in.m"), Just("/in/m"), Just("/0")];
    let leaf = (path, value(), 0..7).prop_map(|(path, value, kind)| match kind {
        0 => Filter::eq(path, value),
        1 => Filter::lt(path, value),
        2 => Filter::le(path, value),
        3 => Filter::gt(path, value),
        4 => Filter::ge(path, value),
        5 => Filter::contains(path, value),
        _ => Filter::exists(path),
    });
    leaf.prop_recursive(2, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(one, other)| one.and(other)),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| one.or(other)),
            inner.prop_map(|filter| !filter),
        ]
    })
}

fn query() -> impl Strategy<Value = Query> {
    let cursor = (namespace(), name()).prop_map(|(namespace, key)| Cursor { namespace, key });
    let parts = (
        namespace(),
        prop::option::of(filter()),
        prop::option::of(cursor),
        prop::option::of(1_usize..5),
    );
    parts.prop_map(|(prefix, filter, after, limit)| {
        let mut query = Query::new().under(prefix).after(after);
        query.filter = filter;
        query.limit = limit;
        query
    })
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let hour = Duration::from_hours(1);
    let ttl = prop_oneof![
        3 => Just(None),
        1 => Just(Some(hour)),
        1 => Just(Some(Duration::ZERO))
    ];
    prop_oneof![
        4 => (namespace(), name(), value(), ttl)
            .prop_map(|(namespace, key, value, ttl)| Step::Put(namespace, key, value, ttl)),
        1 => (namespace(), name()).prop_map(|(namespace, key)| Step::Delete(namespace, key)),
        1 => (namespace(), name()).prop_map(|(namespace, key)| Step::Get(namespace, key)),
        2 => query().prop_map(Step::Query),
    ]
}

/// What a step answers, without times.
pub(super) async fn answer(
    memory: &dyn MemoryBackend,
    step: &Step,
) -> Result<String, petalflow::BoxError> {
    Ok(match step {
        Step::Put(namespace, key, value, ttl) => {
            memory.put(namespace, key, value.clone(), *ttl).await?;
            String::new()
        }
        Step::Delete(namespace, key) => memory.delete(namespace, key).await?.to_string(),
        Step::Get(namespace, key) => {
            let entry = memory.get(namespace, key).await?;
            let known = entry.map(|entry| (entry.value, entry.expires_ms.is_some()));
            format!("{known:?}")
        }
        Step::Query(query) => page_text(&memory.query(query.clone()).await?),
    })
}

fn page_text(page: &Page) -> String {
    let entries = page.entries.iter();
    let entries: Vec<_> = entries
        .map(|entry| (&entry.namespace, &entry.key, &entry.value))
        .collect();
    format!("{entries:?} then {:?}", page.next)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn both_give_the_same_answers(steps in vec(step(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let one = InMemory::new();
            let other = SqliteMemory::beside(&SqliteStore::in_memory().expect("memory is there"));
            let all = Step::Query(Query::new());
            for step in steps.iter().chain([&all]) {
                let one = answer(&one, step).await.expect("it answers");
                let other = answer(&other, step).await.expect("it answers");
                prop_assert_eq!(one, other, "after {:?}", step);
            }
            Ok(())
        })?;
    }
}
