//! Threads whose checkpoints are signed or encrypted, end to end: whatever a run writes is, and nothing else is read.

use petalflow::checkpoint::{Address, InMemoryStore, Store as _, StoreError};
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::thread::{Thread, ThreadError};
use petalflow_encryption::{Encryption, ProtectedStore, Protection, SecretKey, Signing};
use petalflow_test_support::assert_contains;

/// A text that must not be readable in the store.
const SECRET: &str = "the moon garden";

#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = String)]
struct WhatNext {
    so_far: String,
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Diary {
    #[key(input)]
    entry: String,
    #[key(append)]
    pages: Vec<String>,
}

#[node(Diary)]
async fn note(entry: &str, cx: Context) -> petalflow::Result<DiaryPages> {
    let noted = async { Ok::<_, petalflow::BoxError>(entry.to_string()) };
    Ok(DiaryPages(vec![cx.once("noted", noted).await?]))
}

#[node(Diary)]
async fn go_on(pages: &[String], cx: Context) -> petalflow::Result<DiaryPages> {
    let so_far = pages.concat();
    Ok(DiaryPages(vec![cx.ask(WhatNext { so_far }).await?]))
}

flow!(Write(Diary) { note -> go_on });

fn key(byte: u8) -> SecretKey {
    SecretKey::from_bytes([byte; 32])
}

fn thread(store: &InMemoryStore, protection: impl Protection) -> Thread<Write> {
    let store = ProtectedStore::new(store.clone(), protection);
    Write::new().store(&store).thread("t")
}

/// A thread that waits for an answer, with all that is stored of it.
async fn waiting(protection: impl Protection) -> (InMemoryStore, Vec<Vec<u8>>) {
    let store = InMemoryStore::new();
    let paused = thread(&store, protection).run(SECRET.to_string()).await;
    assert_eq!(paused.unwrap().interrupts().len(), 1);
    let address = Address::root("t");
    let checkpoints = store.history(address, None, 99).await.unwrap();
    let writes = store.writes(address, 0..99).await.unwrap();
    let stored = checkpoints.into_iter().map(|checkpoint| checkpoint.bytes);
    let stored = stored.chain(writes.into_iter().map(|(_, write)| write.bytes));
    (store, stored.collect())
}

fn contains_secret(bytes: &[u8]) -> bool {
    bytes
        .windows(SECRET.len())
        .any(|part| part == SECRET.as_bytes())
}

/// The error of the store, which must be about its protection.
fn distrust<T>(result: Result<T, ThreadError>) -> String {
    match result.err() {
        Some(ThreadError::Store(StoreError::Protection(problem))) => problem,
        other => panic!("it is not trusted, not {other:?}"),
    }
}

#[tokio::test]
async fn an_encrypted_thread_is_unreadable_in_the_store_and_resumes() {
    let (store, stored) = waiting(Encryption::new(key(1))).await;
    assert!(stored.len() > 2, "checkpoints, and a question beside them");
    assert!(!stored.iter().any(|bytes| contains_secret(bytes)));

    let diary = thread(&store, Encryption::new(key(1)))
        .answer::<WhatNext>("and the sun".into())
        .await;
    assert_eq!(
        diary.unwrap().into_finished().unwrap().pages,
        [SECRET, "and the sun"]
    );
}

#[tokio::test]
async fn a_signed_thread_is_readable_in_the_store_and_resumes() {
    let (store, stored) = waiting(Signing::new(key(1))).await;
    assert!(stored.iter().any(|bytes| contains_secret(bytes)));

    let answered = thread(&store, Signing::new(key(1)))
        .answer::<WhatNext>("and the sun".into())
        .await;
    assert_eq!(answered.unwrap().into_finished().unwrap().pages.len(), 2);
}

#[tokio::test]
async fn a_checkpoint_with_another_protection_is_not_read() {
    let (store, _) = waiting(Encryption::new(key(1))).await;
    distrust(thread(&store, Encryption::new(key(2))).snapshot().await);
    distrust(thread(&store, Signing::new(key(1))).snapshot().await);
    let problem = distrust(Write::new().store(&store).thread("t").snapshot().await);
    assert_contains(
        &problem,
        "it is sealed, and this program uses the store without",
    );

    let plain = InMemoryStore::new();
    let paused = Write::new().store(&plain).thread("t");
    let _ = paused.run(SECRET.to_string()).await.unwrap();
    distrust(thread(&plain, Encryption::new(key(1))).snapshot().await);
}
