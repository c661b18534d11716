//! Long-term memory in PostgreSQL, with and without pgvector.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use petalflow::BoxError;
use petalflow_memory::testing::{MemoryUnderTest, memory_contract};
use petalflow_memory::{
    Embed, Filter, InMemory, Memory, MemoryBackend as _, MemoryError, Namespace, PostgresMemory,
    PostgresVectors, Query, SearchHit, VectorIndex, VectorMemory as _,
};
use petalflow_postgres::{PostgresOptions, PostgresStore};
use petalflow_test_servers::{Postgres, found_or_skip, fresh_name};
use petalflow_test_support::{Need, skip};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use crate::differential::{Step, answer, step};
use crate::vectors::embed_letters;

async fn open(url: &str, schema: &str) -> Result<PostgresMemory, BoxError> {
    let options = PostgresOptions::new(url).schema(schema).pool_size(4);
    let store = PostgresStore::connect_with(options).await?;
    Ok(PostgresMemory::beside(&store))
}

memory_contract! {
    contract, async || {
        let server = match Postgres::shared() {
            Ok(server) => server,
            Err(why) => {
                skip(Need::Installed, &why);
                return Ok(MemoryUnderTest::skipped(why));
            }
        };
        let schema = fresh_name("memory");
        let memory = open(&server.url, &schema).await?;
        Ok(MemoryUnderTest::new(memory).with_other(open(&server.url, &schema).await?))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1))]
    #[test]
    fn it_gives_the_answers_of_a_memory_in_the_process(cases in vec(vec(step(), 1..30), 100)) {
        let Some(server) = found_or_skip(Postgres::shared()) else { return Ok(()) };
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let options = PostgresOptions::new(&server.url).schema(fresh_name("same")).pool_size(1);
            let store = PostgresStore::connect_with(options).await.expect("it connects");
            let other = PostgresMemory::beside(&store);
            let all = Step::Query(Query::new());
            for steps in &cases {
                store.write_with("DELETE FROM memories", &[]).await.expect("it is emptied");
                let one = InMemory::new();
                for step in steps.iter().chain([&all]) {
                    let one = answer(&one, step).await.expect("it answers");
                    let other = answer(&other, step).await.expect("it answers");
                    prop_assert_eq!(one, other, "after {:?}", step);
                }
            }
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn vectors_are_compared_in_the_process() {
    let Some(server) = found_or_skip(Postgres::shared()) else {
        return;
    };
    searches(&server.url).await.expect("it searches");
}

#[tokio::test]
async fn vectors_are_compared_in_the_server() {
    let server = match Postgres::start_with_pgvector() {
        Ok(server) => server,
        Err(why) => return skip(Need::Optional, why),
    };
    let schema = fresh_name("extension");
    let store = PostgresStore::connect_with(PostgresOptions::new(&server.url).schema(schema)).await;
    let store = store.expect("it connects");
    // In another schema than the tables of the store, with a name that needs quotes.
    for statement in [
        "CREATE SCHEMA \"Of the \"\"server\"\"\"",
        "CREATE EXTENSION vector SCHEMA \"Of the \"\"server\"\"\"",
    ] {
        store
            .write_with(statement, &[])
            .await
            .expect("it has pgvector");
    }
    searches(&server.url).await.expect("it searches");
}

/// Counts the texts that are embedded.
fn counted(count: &Arc<AtomicUsize>) -> impl Embed + use<> {
    let count = Arc::clone(count);
    move |texts: Vec<String>| {
        count.fetch_add(texts.len(), Ordering::SeqCst);
        embed_letters(texts)
    }
}

fn keys(hits: &[SearchHit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.entry.key.as_str()).collect()
}

async fn search<E: Embed>(
    memory: &PostgresVectors<E>,
    query: Query,
) -> Result<Vec<SearchHit>, MemoryError> {
    memory.search("a banana", query).await
}

async fn searches(url: &str) -> Result<(), BoxError> {
    let schema = fresh_name("vectors");
    let plain = open(url, &schema).await?;
    let embedded = Arc::new(AtomicUsize::new(0));
    let count = || embedded.swap(0, Ordering::SeqCst);
    let memory = PostgresVectors::new(plain.clone(), "letters", counted(&embedded))
        .text(|entry| entry.value["text"].as_str().unwrap_or_default().into());

    // The nearest come first, as in an index in the process; a vector without length is similar to nothing.
    let index = VectorIndex::new(InMemory::new(), embed_letters)
        .text(|entry| entry.value["text"].as_str().unwrap_or_default().into());
    let texts = ["banana", "plum", "bandana", "", "cabbage", "bananas"];
    for (position, text) in texts.into_iter().enumerate() {
        let value = json!({ "text": text, "even": position % 2 == 0 });
        let user = if position < 4 { "ann" } else { "bo" };
        let namespace = Namespace::from(["users", user]);
        let key = position.to_string();
        memory.put(&namespace, &key, value.clone(), None).await?;
        index.put(&namespace, &key, value, None).await?;
    }
    let queries = [
        Query::new(),
        Query::new().limit(2),
        Query::new().under(["users", "ann"]).limit(3),
        Query::new().filter(Filter::eq("even", false)).limit(2),
        Query::new()
            .under("users")
            .filter(Filter::eq("text", ""))
            .limit(1),
        Query::new().under("nobody"),
    ];
    for query in queries {
        let expected = index.search("a banana", query.clone()).await?;
        let found = search(&memory, query.clone()).await?;
        assert_eq!(keys(&found), keys(&expected), "{query:?}");
        for (one, other) in found.iter().zip(&expected) {
            assert!((one.score - other.score).abs() < 1e-5, "{query:?}");
        }
    }

    // Each text is embedded once, for all processes, and again when it changes.
    assert_eq!(count(), 6 + 6, "six entries and six questions");
    let again = open(url, &schema).await?;
    let again = PostgresVectors::new(again, "letters", counted(&embedded));
    search(&again, Query::new()).await?;
    assert_eq!(count(), 1);
    let ann = Namespace::from(["users", "ann"]);
    plain
        .put(&ann, "3", json!({ "text": "a banana" }), None)
        .await?;
    let found = search(&memory, Query::new().limit(1)).await?;
    assert_eq!((keys(&found), count()), (vec!["3"], 2));

    // Deleted and expired entries are not found.
    memory.delete(&ann, "3").await?;
    plain
        .put(&ann, "0", json!({ "text": "banana" }), Some(Duration::ZERO))
        .await?;
    let found = search(&memory, Query::new().limit(2)).await?;
    assert_eq!(keys(&found), ["2", "5"]);
    // An entry of this key that comes back is not taken for the old one.
    plain.put(&ann, "3", json!({ "text": "xyz" }), None).await?;
    let found = search(&memory, Query::new().under(ann.clone()).limit(1)).await?;
    assert_eq!(keys(&found), ["2"]);

    // Another model has vectors of its own. A model of this name that has changed its length is used again.
    count();
    let short = PostgresVectors::new(
        plain.clone(),
        "first letters",
        |texts: Vec<String>| async move {
            let vector = |text: &String| vec![f32::from(text.contains("plum")), 1.0];
            Ok(texts.iter().map(vector).collect())
        },
    );
    assert_eq!(short.embed_new(Namespace::ROOT).await?, 5);
    assert_eq!(short.embed_new("users").await?, 0);
    let found = short.search("plum", Query::new().limit(1)).await?;
    assert_eq!((keys(&found), count()), (vec!["1"], 0));
    let renamed = PostgresVectors::new(plain.clone(), "letters", |texts: Vec<String>| {
        std::future::ready(Ok(vec![vec![1.0]; texts.len()]))
    });
    assert_eq!(search(&renamed, Query::new()).await?.len(), 5);

    // More than one batch, and a filter that few match.
    let many = Memory::new(plain.clone()).within("many");
    for number in 0..150 {
        many.put(
            &number.to_string(),
            json!({ "text": "b", "number": number }),
        )
        .await?;
    }
    let query = Query::new()
        .under("many")
        .filter(Filter::ge("number", 149))
        .limit(1);
    assert_eq!(keys(&search(&memory, query).await?), ["149"]);

    // A wrong answer of the embedding model is an error.
    for (name, vectors, words) in [
        ("few", vec![], "1 texts were embedded as 0 vectors"),
        ("empty", vec![vec![]], "has no numbers"),
        ("infinite", vec![vec![f32::INFINITY]], "infinite"),
    ] {
        let bad = PostgresVectors::new(plain.clone(), name, move |_: Vec<String>| {
            std::future::ready(Ok(vectors.clone()))
        });
        let error = search(&bad, Query::new()).await.expect_err(name);
        assert!(error.to_string().contains(words), "{error}");
    }
    Ok(())
}
