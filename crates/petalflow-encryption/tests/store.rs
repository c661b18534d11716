//! What a writer to the store can do without the key: delete, and put back what was there. Nothing else.

use petalflow::checkpoint::{
    Address, InMemoryStore, SEALED_MARKER, Store, StoreError, StoredCheckpoint, StoredWrite,
};
use petalflow::event::TaskId;
use petalflow_encryption::{Encryption, ProtectedStore, Protection, Signing};
use petalflow_testing::{StoreUnderTest, store_contract};

use super::key;

store_contract! {
    contract, async || {
        let store = ProtectedStore::new(InMemoryStore::new(), Inverted);
        Ok(StoreUnderTest::new(store.clone()).with_other(store))
    }
}

/// Does not change lengths, which the contract compares.
struct Inverted;

impl Protection for Inverted {
    fn hides_contents(&self) -> bool {
        false
    }

    fn seal(&self, _: &[u8], bytes: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        Ok(bytes.into_iter().map(|byte| !byte).collect())
    }

    fn open(&self, context: &[u8], bytes: Vec<u8>) -> Result<Vec<u8>, StoreError> {
        self.seal(context, bytes)
    }
}

const THREAD: Address<'static> = Address {
    thread: "essay",
    namespace: "",
};

/// The address that tests change.
const INSIDE: Address<'static> = Address {
    thread: "essay",
    namespace: "review/dig[3]",
};

fn checkpoint(seq: u64) -> StoredCheckpoint {
    StoredCheckpoint {
        seq,
        base: 1,
        created_ms: 1000 + seq,
        bytes: format!("checkpoint {seq}").into(),
    }
}

fn write(task: u8, name: &str) -> StoredWrite {
    StoredWrite {
        task: TaskId::from_bytes([task; 16]),
        name: name.into(),
        bytes: format!("{name} of {task}").into(),
    }
}

/// A thread with two checkpoints and three writes beside the second, both in its own flow and in a sub-flow.
async fn store_with_threads(protection: impl Protection) -> (InMemoryStore, ProtectedStore) {
    let inner = InMemoryStore::new();
    let store = ProtectedStore::new(inner.clone(), protection);
    for address in [THREAD, INSIDE] {
        for (seq, after) in [(1, None), (2, Some(1))] {
            store
                .append(address, &checkpoint(seq), after, 0..0, None)
                .await
                .unwrap();
        }
        let writes = [write(1, "done"), write(1, "ask"), write(2, "done")];
        store.write(address, 2, &writes, None).await.unwrap();
    }
    (inner, store)
}

/// Puts other checkpoints and writes in the place of those at an address.
async fn replace(
    store: &InMemoryStore,
    address: Address<'_>,
    checkpoints: &[StoredCheckpoint],
    writes: &[(u64, StoredWrite)],
) {
    store
        .prune(address, u64::MAX, u64::MAX, None)
        .await
        .unwrap();
    let mut after = None;
    for checkpoint in checkpoints {
        store
            .append(address, checkpoint, after, 0..0, None)
            .await
            .unwrap();
        after = Some(checkpoint.seq);
    }
    for (seq, write) in writes {
        store
            .write(address, *seq, std::slice::from_ref(write), None)
            .await
            .unwrap();
    }
}

/// Changes bytes directly in the inner store.
async fn tamper(
    store: &InMemoryStore,
    change: impl FnOnce(&mut Vec<StoredCheckpoint>, &mut Vec<(u64, StoredWrite)>),
) {
    let mut checkpoints = store.history(INSIDE, None, usize::MAX).await.unwrap();
    let mut writes = store.writes(INSIDE, 0..u64::MAX).await.unwrap();
    checkpoints.reverse();
    change(&mut checkpoints, &mut writes);
    replace(store, INSIDE, &checkpoints, &writes).await;
}

/// Why an address cannot be read.
async fn refusal(store: &ProtectedStore, address: Address<'_>) -> String {
    match store.read(address, None).await {
        Err(StoreError::Protection(problem)) => problem,
        other => panic!("{other:?}"),
    }
}

fn swap<T>(items: &mut [T], bytes: impl Fn(&mut T) -> &mut Vec<u8>) {
    let [first, second, ..] = items else {
        unreachable!("there are two of each")
    };
    std::mem::swap(bytes(first), bytes(second));
}

#[tokio::test]
async fn protected_payloads_are_read_back() {
    let (_, protected) = store_with_threads(Encryption::new(key(1))).await;
    let stored = protected.read(INSIDE, None).await.unwrap().unwrap();
    assert_eq!(stored.chain, [checkpoint(1), checkpoint(2)]);
    let expected = [write(1, "ask"), write(1, "done"), write(2, "done")];
    assert_eq!(stored.writes, expected);
    let beside = protected.writes(INSIDE, 2..3).await.unwrap();
    assert_eq!(beside, expected.map(|write| (2, write)));
    let history = protected.history(INSIDE, None, 9).await.unwrap();
    assert_eq!(history, [checkpoint(2), checkpoint(1)]);
}

#[tokio::test]
async fn the_store_sees_only_what_is_sealed() {
    let (store, _) = store_with_threads(Encryption::new(key(1))).await;
    let stored = store.read(INSIDE, None).await.unwrap().unwrap();
    let all = stored.chain.iter().map(|checkpoint| &checkpoint.bytes);
    for bytes in all.chain(stored.writes.iter().map(|write| &write.bytes)) {
        assert!(bytes.starts_with(&SEALED_MARKER));
        assert!(
            !bytes
                .windows(4)
                .any(|part| part == b"chec" || part == b"done")
        );
    }
}

#[tokio::test]
async fn swapped_checkpoints_are_refused() {
    let (store, protected) = store_with_threads(Signing::new(key(1))).await;
    tamper(&store, |checkpoints, _| {
        swap(checkpoints, |checkpoint| &mut checkpoint.bytes);
    })
    .await;
    let problem = refusal(&protected, INSIDE).await;
    let expected = "checkpoint 1 of thread `essay` in `review/dig[3]`: its seal does not fit";
    assert!(problem.starts_with(expected), "{problem}");
    assert!(protected.history(INSIDE, None, 9).await.is_err());
    // What no one has touched is as good as before.
    assert!(protected.read(THREAD, None).await.is_ok());
}

#[tokio::test]
async fn a_checkpoint_put_in_the_place_of_another_is_refused() {
    let (store, protected) = store_with_threads(Encryption::new(key(1))).await;
    tamper(&store, |checkpoints, _| {
        checkpoints[1] = StoredCheckpoint {
            seq: 2,
            ..checkpoints[0].clone()
        };
    })
    .await;
    let problem = refusal(&protected, INSIDE).await;
    assert!(problem.starts_with("checkpoint 2 of thread"), "{problem}");
}

#[tokio::test]
async fn a_checkpoint_read_from_another_base_or_dated_otherwise_is_refused() {
    let changes: [fn(&mut StoredCheckpoint); 2] = [
        // It would be read as if it stood alone.
        |checkpoint| checkpoint.base = 2,
        |checkpoint| checkpoint.created_ms += 1,
    ];
    for change in changes {
        let (store, protected) = store_with_threads(Signing::new(key(1))).await;
        tamper(&store, |checkpoints, _| change(&mut checkpoints[1])).await;
        refusal(&protected, INSIDE).await;
    }
}

#[tokio::test]
async fn writes_that_were_swapped_renamed_or_moved_are_refused() {
    type Writes = Vec<(u64, StoredWrite)>;
    let changes: [fn(&mut Writes); 5] = [
        // `ask` and `done` of the first task.
        |writes| swap(writes, |(_, write)| &mut write.bytes),
        // `done` of both tasks.
        |writes| swap(&mut writes[1..], |(_, write)| &mut write.bytes),
        |writes| writes[0].1.name = "once".into(),
        |writes| writes[0].1.task = TaskId::from_bytes([3; 16]),
        |writes| writes[0].1.bytes = b"ask of 1".into(),
    ];
    for change in changes {
        let (store, protected) = store_with_threads(Signing::new(key(1))).await;
        tamper(&store, |_, writes| change(writes)).await;
        let problem = refusal(&protected, INSIDE).await;
        assert!(
            problem.contains("` beside checkpoint 2 of thread `essay`"),
            "{problem}"
        );
        assert!(protected.writes(INSIDE, 2..3).await.is_err());
    }
    let (store, protected) = store_with_threads(Signing::new(key(1))).await;
    tamper(&store, |_, writes| writes[0].0 = 1).await;
    assert!(protected.writes(INSIDE, 1..2).await.is_err());
}

#[tokio::test]
async fn rows_copied_to_another_thread_or_namespace_are_refused() {
    let (store, protected) = store_with_threads(Encryption::new(key(1))).await;
    let checkpoints = [1, 2].map(|seq| {
        let store = &store;
        async move {
            let stored = store.read(Address::root("essay"), Some(seq)).await.unwrap();
            stored.and_then(|mut stored| stored.chain.pop()).unwrap()
        }
    });
    let [first, second] = checkpoints;
    let checkpoints = [first.await, second.await];
    let other = Address::root("other");
    replace(&store, other, &checkpoints, &[]).await;
    let problem = refusal(&protected, other).await;
    assert!(
        problem.starts_with("checkpoint 1 of thread `other`: its seal"),
        "{problem}"
    );
    replace(&store, INSIDE, &checkpoints, &[]).await;
    refusal(&protected, INSIDE).await;
}

#[tokio::test]
async fn a_checkpoint_and_a_write_cannot_be_exchanged() {
    let (store, protected) = store_with_threads(Signing::new(key(1))).await;
    tamper(&store, |checkpoints, writes| {
        std::mem::swap(&mut checkpoints[1].bytes, &mut writes[0].1.bytes);
    })
    .await;
    refusal(&protected, INSIDE).await;
    assert!(protected.writes(INSIDE, 2..3).await.is_err());
}

#[tokio::test]
async fn payloads_without_protection_are_refused() {
    let (store, protected) = store_with_threads(Signing::new(key(1))).await;
    tamper(&store, |checkpoints, _| *checkpoints = vec![checkpoint(1)]).await;
    let problem = refusal(&protected, INSIDE).await;
    assert!(problem.contains("it is not sealed"), "{problem}");
}

#[tokio::test]
async fn a_thread_resumes_with_a_new_key() {
    let (store, _) = store_with_threads(Encryption::new(key(1))).await;
    let both = Encryption::new(key(2)).also_accept(key(1)).unwrap();
    let rotated = ProtectedStore::new(store.clone(), both);
    rotated
        .append(THREAD, &checkpoint(3), Some(2), 0..3, None)
        .await
        .unwrap();
    let stored = rotated.read(THREAD, None).await.unwrap().unwrap();
    assert_eq!(stored.chain, [1, 2, 3].map(checkpoint));
    // The new key alone reads the newest checkpoint only when that needs no older one.
    let new = ProtectedStore::new(store, Encryption::new(key(2)));
    let problem = refusal(&new, THREAD).await;
    assert!(
        problem.contains("add the key with `also_accept`"),
        "{problem}"
    );
    let alone = StoredCheckpoint {
        base: 4,
        ..checkpoint(4)
    };
    rotated
        .append(THREAD, &alone, Some(3), 0..0, None)
        .await
        .unwrap();
    assert_eq!(
        new.read(THREAD, None).await.unwrap().unwrap().chain,
        [alone]
    );
}

/// Flows over a protected store.
mod threads {
    use std::collections::BTreeMap;

    use petalflow::checkpoint::{
        Attribute, AttributeTest, InMemoryStore, Store as _, StoreChange, StoreError,
        StoredCheckpoint, ThreadChange, ThreadFilter, ThreadQuery, ThreadStatus,
    };
    use petalflow::prelude::*;
    use petalflow::thread::{Thread, ThreadError};
    use petalflow_encryption::{Encryption, ProtectedStore, Signing};

    use super::super::key;

    #[state]
    struct Post {
        #[key(input)]
        text: String,
        published: bool,
    }

    #[node(Post)]
    async fn publish(text: &str, cx: Context) -> PostPublished {
        cx.emit(format!("about to publish {text}"));
        PostPublished(true)
    }

    flow!(Publish(Post) { publish; interrupt before publish; });

    fn thread(store: &ProtectedStore) -> Thread<Publish> {
        Publish::new().store(store).event_log(100).thread("post")
    }

    #[tokio::test]
    async fn the_event_log_is_sealed_and_bound_to_its_place() {
        let inner = InMemoryStore::new();
        let store = ProtectedStore::new(inner.clone(), Encryption::new(key(1)));
        let thread = thread(&store);
        let paused = thread.run("my diary".to_string()).await.unwrap();
        assert_eq!(paused.interrupts().len(), 1);
        let approve = petalflow::interrupt::Decision::approve();
        thread
            .resume(approve)
            .await
            .unwrap()
            .into_finished()
            .unwrap();
        let events = thread.events_since(0).await.unwrap();
        let custom = events.iter().find(|event| event.kind == "custom").unwrap();
        assert!(custom.value.to_string().contains("my diary"));

        let log = petalflow::checkpoint::Address {
            thread: "post",
            namespace: "/events",
        };
        let sealed = inner.history(log, None, usize::MAX).await.unwrap();
        let quotes = |bytes: &[u8]| bytes.windows(5).any(|window| window == b"diary");
        assert!(!sealed.is_empty() && sealed.iter().all(|record| !quotes(&record.bytes)));

        // A record that was moved to another thread is refused.
        for record in sealed.iter().rev() {
            let to = petalflow::checkpoint::Address {
                thread: "other",
                ..log
            };
            let after = inner
                .history(to, None, 1)
                .await
                .unwrap()
                .first()
                .map(|last| last.seq);
            inner.append(to, record, after, 0..0, None).await.unwrap();
        }
        let moved = Publish::new()
            .store(&store)
            .thread("other")
            .events_since(0)
            .await;
        let Err(ThreadError::Store(StoreError::Protection(problem))) = moved else {
            panic!("{moved:?}")
        };
        assert!(problem.contains("`/events`"), "{problem}");
    }

    /// Listing finds threads by status and labels, which the inner store compares. So they are not sealed, and nothing is decided
    /// by them.
    #[tokio::test]
    async fn a_changed_status_or_label_changes_only_what_is_listed() {
        let inner = InMemoryStore::new();
        let store = ProtectedStore::new(inner.clone(), Signing::new(key(1)));
        let thread = thread(&store);
        thread.set_labels([("user", "ann")]).await.unwrap();
        let paused = thread.run("my diary".to_string()).await.unwrap();
        assert_eq!(paused.interrupts().len(), 1);

        let forged = ThreadChange::Status {
            flow: "Other",
            status: ThreadStatus::Finished,
            due_ms: None,
        };
        inner.describe("post", forged, None).await.unwrap();
        let labels = BTreeMap::from([("user".to_string(), "bob".to_string())]);
        inner
            .describe("post", ThreadChange::Labels(&labels), None)
            .await
            .unwrap();
        let listed = store.threads(ThreadQuery::default()).await.unwrap();
        assert_eq!(
            (listed[0].status, &*listed[0].labels["user"]),
            (ThreadStatus::Finished, "bob")
        );

        let snapshot = thread.snapshot().await.unwrap().unwrap();
        assert_eq!(snapshot.interrupts.len(), 1, "it waits");
        assert!(
            thread.run("another".to_string()).await.is_err(),
            "a person is asked"
        );
        let still = thread.resume(()).await.unwrap();
        assert!(!still.state().published && still.interrupts().len() == 1);
    }

    /// Search attributes would be in clear in the index of the inner store.
    #[tokio::test]
    async fn f43_an_encrypted_store_has_no_attributes() {
        let set = BTreeMap::from([("amount".to_string(), Attribute::from(5))]);
        let changes = [
            StoreChange::Append {
                namespace: String::new(),
                checkpoint: StoredCheckpoint {
                    seq: 1,
                    base: 1,
                    created_ms: 1,
                    bytes: b"payload".to_vec(),
                },
                after: None,
                settled: 0..0,
            },
            StoreChange::Attributes(set.clone()),
        ];
        let five = AttributeTest::is(5);
        let condition = ThreadFilter::Attribute("amount", &five);
        let query = ThreadQuery {
            filter: Some(ThreadFilter::Not(&condition)),
            ..ThreadQuery::default()
        };

        let inner = InMemoryStore::new();
        let signed = ProtectedStore::new(inner.clone(), Signing::new(key(1)));
        signed.apply("one", &changes, None).await.unwrap();
        assert_eq!(signed.threads(query).await.unwrap(), []);
        assert_eq!(
            inner.threads(ThreadQuery::default()).await.unwrap()[0].attributes,
            set
        );

        let inner = InMemoryStore::new();
        let encrypted = ProtectedStore::new(inner.clone(), Encryption::new(key(1)));
        encrypted.apply("one", &changes, None).await.unwrap();
        let listed = inner.threads(ThreadQuery::default()).await.unwrap();
        assert_eq!((listed.len(), &listed[0].attributes), (1, &BTreeMap::new()));
        for refused in [
            encrypted.threads(query).await.map(drop),
            encrypted.thread_counts(query).await.map(drop),
        ] {
            let error = refused.unwrap_err();
            assert!(matches!(error, StoreError::Protection(_)), "{error}");
            assert!(error.to_string().contains("attribute `amount`"), "{error}");
        }
    }
}
