//! Search by meaning.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use petalflow::BoxError;
use petalflow_memory::{Filter, InMemory, Memory, MemoryError, Query, VectorIndex};
use serde_json::json;

/// How often each letter occurs, in place of an embedding model.
pub(super) fn embed_letters(
    texts: Vec<String>,
) -> std::future::Ready<Result<Vec<Vec<f32>>, BoxError>> {
    let vector = |text: &String| {
        let count = |letter| f32::from(u16::try_from(text.matches(letter).count()).unwrap_or(0));
        ('a'..='z').map(count).collect()
    };
    std::future::ready(Ok(texts.iter().map(vector).collect()))
}

async fn fruit(memory: &Memory) {
    for (key, text) in [("1", "banana"), ("2", "plum"), ("3", "bandana"), ("4", "")] {
        memory.put(key, text).await.expect("it is written");
    }
}

#[tokio::test]
async fn the_nearest_come_first() {
    let memory = Memory::new(VectorIndex::new(InMemory::new(), embed_letters));
    fruit(&memory).await;
    let near = memory.search("a banana", 3).await.expect("it searches");
    let keys: Vec<_> = near.iter().map(|near| near.entry.key.as_str()).collect();
    assert_eq!(keys, ["1", "3", "2"]);
    assert!(near[0].score > near[1].score && near[1].score > near[2].score);
    // A vector without length is near to nothing, rather than not a number.
    let all = memory.search("a banana", 9).await.expect("it searches");
    assert_eq!(all.last().map(|near| near.score), Some(0.0));
}

#[tokio::test]
async fn a_query_narrows_the_search() {
    let memory = VectorIndex::new(InMemory::new(), embed_letters).text(|entry| {
        let text = entry.value["text"].as_str();
        text.unwrap_or_default().to_string()
    });
    let handle = Memory::new(memory);
    for (user, text, old) in [
        ("ann", "banana", true),
        ("ann", "plum", false),
        ("bo", "bananas", false),
    ] {
        let own = handle.within(["users", user]);
        let value = json!({ "text": text, "old": old });
        own.put(text, value).await.expect("it is written");
    }
    let vectors = handle.backend().vectors().expect("it has them");
    let query = Query::new()
        .under(["users", "ann"])
        .filter(Filter::eq("old", false));
    let near = vectors.search("banana", query).await.expect("it searches");
    assert_eq!(near.len(), 1);
    assert_eq!(near[0].entry.key, "plum");
    let own = handle.within(["users", "ann"]);
    let near = own.search("banana", 1).await.expect("it searches");
    assert_eq!(near[0].entry.key, "banana");
}

#[tokio::test]
async fn texts_are_embedded_once_and_again_when_they_change() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let kept = InMemory::new();
    let embedded = VectorIndex::new(kept.clone(), move |texts: Vec<String>| {
        counted.fetch_add(texts.len(), Ordering::SeqCst);
        embed_letters(texts)
    });
    let memory = Memory::new(embedded);
    fruit(&memory).await;
    let count = async |expected: usize| {
        asked.store(0, Ordering::SeqCst);
        let near = memory.search("melon", 1).await.expect("it searches");
        assert_eq!(asked.load(Ordering::SeqCst), expected);
        near[0].entry.key.clone()
    };
    assert_eq!(count(5).await, "2");
    assert_eq!(count(1).await, "2", "only the question is new");
    // Another handle, as another process would, changes an entry.
    Memory::new(kept).put("4", "melons").await.expect("written");
    assert_eq!(count(2).await, "4");
}

#[tokio::test]
async fn a_bad_embedding_is_an_error() {
    let too_few = |_: Vec<String>| std::future::ready(Ok::<_, BoxError>(vec![vec![1.0]]));
    let uneven = |texts: Vec<String>| {
        let vector = |index| vec![1.0_f32; index + 1];
        std::future::ready(Ok::<_, BoxError>((0..texts.len()).map(vector).collect()))
    };
    let failing =
        |_: Vec<String>| std::future::ready(Err::<Vec<Vec<f32>>, BoxError>("no key".into()));
    for (memory, words) in [
        (
            Memory::new(VectorIndex::new(InMemory::new(), too_few)),
            "5 texts were embedded as 1",
        ),
        (
            Memory::new(VectorIndex::new(InMemory::new(), uneven)),
            "that of the question 1",
        ),
        (
            Memory::new(VectorIndex::new(InMemory::new(), failing)),
            "no key",
        ),
    ] {
        fruit(&memory).await;
        let error = memory
            .search("plum", 1)
            .await
            .expect_err("it cannot search");
        let MemoryError::Embedding(why) = error else {
            panic!("{error}");
        };
        assert!(why.to_string().contains(words), "{why}");
    }
}
