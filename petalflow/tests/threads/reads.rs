//! What a run reads from its store before its first node.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use petalflow::checkpoint::{
    Address, Claim, InMemoryStore, Store, StoreError, Stored, StoredCheckpoint, StoredWrite,
    ThreadChange, ThreadInfo, ThreadQuery,
};
use petalflow::prelude::*;
use petalflow::thread::Thread;

/// A store that counts what is read.
#[derive(Clone, Default)]
struct Counting {
    store: InMemoryStore,
    reads: Arc<Mutex<Vec<&'static str>>>,
    bytes: Arc<AtomicU64>,
}

impl Counting {
    fn count(&self, method: &'static str, read: &[StoredCheckpoint]) {
        self.reads.lock().unwrap().push(method);
        let bytes: usize = read.iter().map(|checkpoint| checkpoint.bytes.len()).sum();
        self.bytes.fetch_add(bytes as u64, Ordering::SeqCst);
    }

    /// The methods that have read since the last call, and the bytes of the checkpoints.
    fn take(&self) -> (Vec<&'static str>, u64) {
        let reads = std::mem::take(&mut *self.reads.lock().unwrap());
        (reads, self.bytes.swap(0, Ordering::SeqCst))
    }
}

#[async_trait]
impl Store for Counting {
    async fn append(
        &self,
        address: Address<'_>,
        checkpoint: &StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
    ) -> Result<(), StoreError> {
        self.store.append(address, checkpoint, after, settled).await
    }

    async fn write(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: &[StoredWrite],
    ) -> Result<(), StoreError> {
        self.store.write(address, seq, writes).await
    }

    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        let stored = self.store.read(address, seq).await?;
        let chain = stored.as_ref().map(|stored| &stored.chain[..]);
        self.count("read", chain.unwrap_or_default());
        Ok(stored)
    }

    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        self.count("writes", &[]);
        self.store.writes(address, seqs).await
    }

    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        let history = self.store.history(address, before, limit).await?;
        self.count("history", &history);
        Ok(history)
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError> {
        self.count("namespaces", &[]);
        self.store.namespaces(thread).await
    }

    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        self.count("threads", &[]);
        self.store.threads(query).await
    }

    async fn describe(&self, thread: &str, change: ThreadChange<'_>) -> Result<(), StoreError> {
        self.store.describe(thread, change).await
    }

    async fn prune(&self, address: Address<'_>, seq: u64) -> Result<(), StoreError> {
        self.store.prune(address, seq).await
    }

    async fn delete(&self, thread: &str) -> Result<(), StoreError> {
        self.store.delete(thread).await
    }

    async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError> {
        self.store.claim(thread, owner).await
    }

    fn release(&self, thread: &str, owner: &str) {
        self.store.release(thread, owner);
    }
}

#[state]
struct Talk {
    #[key(input, append)]
    lines: Vec<String>,
}

#[node(Talk)]
async fn reply(lines: &[String]) -> TalkLines {
    TalkLines(vec![format!("{:>100}", lines.len())])
}

flow!(Reply(Talk) { reply });

#[state]
struct Meter {
    #[key(input)]
    reading: u64,
    shown: String,
}

#[node(Meter)]
async fn show(reading: &u64) -> MeterShown {
    MeterShown(format!("{reading:>100}"))
}

flow!(Show(Meter) { show });

/// What the next turn reads.
async fn read_by_turn(store: &Counting, thread: &Thread<Show>) -> (Vec<&'static str>, u64) {
    store.take();
    thread.run(0).await.unwrap().into_finished().unwrap();
    store.take()
}

#[tokio::test]
async fn a_turn_reads_the_same_after_thousands_of_turns() {
    let store = Counting::default();
    let thread = Show::new().store(&store).thread("meter");
    thread.run(1).await.unwrap().into_finished().unwrap();
    let (reads, _) = read_by_turn(&store, &thread).await;
    assert_eq!(reads, ["read"]);
    let mut most = 0;
    for turn in 0..3_000 {
        thread.run(turn).await.unwrap().into_finished().unwrap();
        if turn % 100 == 0 {
            let (later, bytes) = read_by_turn(&store, &thread).await;
            assert_eq!(later, reads, "after {turn} turns");
            most = most.max(bytes);
        }
    }
    // A chain of checkpoints gets a new base when it has 4 KiB.
    assert!(most <= 5 * 1024, "{most} bytes");
}

#[tokio::test]
async fn a_turn_of_a_list_that_grows_reads_the_list_once() {
    let store = Counting::default();
    let thread = Reply::new().store(&store).thread("talk");
    for _ in 0..500 {
        let line = vec!["x".repeat(100)];
        thread.run(line).await.unwrap().into_finished().unwrap();
    }
    store.take();
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    let own: usize = snapshot.state.lines.iter().map(String::len).sum();
    let (reads, bytes) = store.take();
    assert_eq!(reads, ["read"]);
    let own = u64::try_from(own).unwrap();
    assert!(bytes * 4 <= own * 5, "{bytes} bytes for {own} of text");
}
