//! Each call of a run to its store fails once, and a run is dropped after each number of polls. The thread ends as if nothing
//! had happened.

use std::future::Future;
use std::ops::Range;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::SeqCst};
use std::task::Poll;
use std::time::Duration;

use petalflow::checkpoint::{
    Address, Claim, InMemoryStore, Store, StoreChange, StoreError, Stored, StoredCheckpoint,
    StoredWrite, ThreadChange, ThreadInfo, ThreadQuery,
};
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::thread::{Durability, Thread};
use tokio::sync::Mutex;

#[state]
#[derive(Debug)]
struct Parcel {
    #[key(input)]
    item: String,
    #[key(append)]
    log: Vec<String>,
}

#[derive(serde::Serialize, Ask)]
#[ask(answer = bool)]
struct MaySend;

/// Waits in its effect, so that a run can be dropped there.
#[node(Parcel)]
async fn pay(cx: Context, payments: Managed<AtomicUsize>) -> petalflow::Result<ParcelLog> {
    let receipt = cx.once("pay", async {
        tokio::task::yield_now().await;
        Ok::<_, petalflow::BoxError>(payments.fetch_add(1, SeqCst))
    });
    let _: usize = receipt.await?;
    Ok(ParcelLog(vec!["paid".into()]))
}

#[node(Parcel)]
async fn pack(item: &str) -> ParcelLog {
    tokio::task::yield_now().await;
    ParcelLog(vec![format!("packed {item}")])
}

#[node(Parcel)]
async fn send(cx: Context) -> petalflow::Result<ParcelLog> {
    let sent = cx.ask(MaySend).await?;
    Ok(ParcelLog(vec![format!("sent: {sent}")]))
}

flow!(Ship(Parcel) {
    START -> pay & pack;
    pay & pack -> send;
});

flow!(Send(Parcel) { send });

flow! {
    SendBoth(Parcel) {
        START -> send & inner;
        node inner: Send { in: |item: &str| item.to_string(), out: |parcel: Parcel| ParcelLog(parcel.log) };
    }
}

/// Fails in one call, before or after it reaches the store. Each call waits before and after it, so that a run can be dropped there.
/// It has one connection, so the next call waits until a call has ended.
pub(super) struct Faulty {
    store: InMemoryStore,
    connection: Mutex<()>,
    calls: AtomicUsize,
    fails_at: usize,
    reaches_store: bool,
    /// How far its clock is ahead, in milliseconds.
    ahead_ms: Arc<AtomicI64>,
}

impl Faulty {
    /// A store over this one that fails in this call; `usize::MAX` for none.
    pub(super) fn over(store: &InMemoryStore, fails_at: usize, reaches_store: bool) -> Arc<Self> {
        Arc::new(Faulty {
            fails_at,
            reaches_store,
            ..Faulty::with_clock(store.clone(), Arc::default())
        })
    }

    /// Never fails, and has a clock that a test can set.
    pub(super) fn with_clock(store: InMemoryStore, ahead_ms: Arc<AtomicI64>) -> Self {
        Faulty {
            store,
            connection: Mutex::default(),
            calls: AtomicUsize::new(0),
            fails_at: usize::MAX,
            reaches_store: true,
            ahead_ms,
        }
    }

    async fn call<T>(
        &self,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let _connection = self.connection.lock().await;
        tokio::task::yield_now().await;
        if self.calls.fetch_add(1, SeqCst) != self.fails_at {
            let result = call.await;
            tokio::task::yield_now().await;
            return result;
        }
        if self.reaches_store {
            call.await?;
        }
        Err(StoreError::unavailable("the connection broke", "a test"))
    }
}

#[petalflow::async_trait]
impl Store for Faulty {
    async fn append(
        &self,
        address: Address<'_>,
        checkpoint: &StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let call = self
            .store
            .append(address, checkpoint, after, settled, owner);
        self.call(call).await
    }

    async fn write(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: &[StoredWrite],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        self.call(self.store.write(address, seq, writes, owner))
            .await
    }

    async fn apply(
        &self,
        thread: &str,
        changes: &[StoreChange],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        self.call(async { self.store.apply(thread, changes, owner).await })
            .await
    }

    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        self.call(self.store.read(address, seq)).await
    }

    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        self.call(self.store.writes(address, seqs)).await
    }

    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        self.call(self.store.history(address, before, limit)).await
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError> {
        self.call(self.store.namespaces(thread)).await
    }

    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        self.call(self.store.threads(query)).await
    }

    async fn describe(
        &self,
        thread: &str,
        change: ThreadChange<'_>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        self.call(self.store.describe(thread, change, owner)).await
    }

    async fn prune(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: u64,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        self.call(self.store.prune(address, seq, writes, owner))
            .await
    }

    async fn delete(&self, thread: &str, owner: Option<&str>) -> Result<(), StoreError> {
        self.call(self.store.delete(thread, owner)).await
    }

    async fn incarnation(&self, thread: &str) -> Result<u64, StoreError> {
        self.call(self.store.incarnation(thread)).await
    }

    async fn confirm(&self, thread: &str, owner: &str) -> Result<bool, StoreError> {
        self.call(self.store.confirm(thread, owner)).await
    }

    async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError> {
        self.call(self.store.claim(thread, owner)).await
    }

    fn release(&self, thread: &str, owner: &str) {
        self.store.release(thread, owner);
    }

    fn needs_checksums(&self) -> bool {
        self.store.needs_checksums()
    }

    async fn now_ms(&self) -> Result<u64, StoreError> {
        let now_ms = self.store.now_ms().await?;
        Ok(now_ms.saturating_add_signed(self.ahead_ms.load(SeqCst)))
    }
}

const DURABILITIES: [Durability; 3] = [Durability::Sync, Durability::Async, Durability::Exit];

fn thread(store: impl Store, durability: Durability, payments: &Arc<AtomicUsize>) -> Thread<Ship> {
    let launch = Ship::new().manage_with(Arc::clone(payments));
    let store: Arc<dyn Store> = Arc::new(store);
    launch.store(&store).durability(durability).thread("parcel")
}

/// Begins the thread, or continues it, until it has answered the question and ended.
async fn finish(thread: &Thread<Ship>) -> petalflow::Result<Parcel> {
    let begun = thread.snapshot().await?.is_some();
    let outcome = if begun {
        thread.resume(()).await?
    } else {
        thread.run("lamp".to_string()).await?
    };
    if outcome.interrupts().is_empty() {
        return Ok(outcome.into_finished().expect("it waits for nothing"));
    }
    let outcome = thread.answer::<MaySend>(true).await?;
    Ok(outcome.into_finished().expect("it waits for nothing"))
}

/// Continues with a working store, and compares the end.
async fn assert_end(
    store: &InMemoryStore,
    durability: Durability,
    payments: &Arc<AtomicUsize>,
    case: &str,
) {
    let parcel = match finish(&thread(store.clone(), durability, payments)).await {
        Ok(parcel) => parcel,
        Err(error) => panic!("{case}: {error}"),
    };
    assert_eq!(parcel.log, ["paid", "packed lamp", "sent: true"], "{case}");
}

#[tokio::test]
async fn a_call_to_the_store_that_fails_changes_nothing() {
    for durability in DURABILITIES {
        for reaches_store in [false, true] {
            for fails_at in 0.. {
                let case = format!("{durability:?}, call {fails_at}, reaches it: {reaches_store}");
                let (inner, payments) = (InMemoryStore::new(), Arc::default());
                let store = Faulty::over(&inner, fails_at, reaches_store);
                let result = finish(&thread(Arc::clone(&store), durability, &payments)).await;
                if let Err(error) = &result {
                    let text = error.to_string();
                    assert!(text.contains("the connection broke"), "{case}: {text}");
                    // Everybody who asks sees the same until then.
                    assert_end(&inner, durability, &payments, &case).await;
                }
                if store.calls.load(SeqCst) <= fails_at {
                    assert!(result.is_ok() && fails_at > 5, "{case}");
                    break;
                }
            }
        }
    }
}

#[tokio::test]
async fn a_run_that_is_dropped_at_any_poll_can_be_resumed() {
    for durability in DURABILITIES {
        for polls in 1.. {
            let case = format!("{durability:?}, dropped after {polls} polls");
            let (store, payments) = (InMemoryStore::new(), Arc::default());
            let waits = Faulty::over(&store, usize::MAX, true);
            let dropped = thread(waits, durability, &payments);
            let ended = {
                let mut run = pin!(finish(&dropped));
                let mut left = polls;
                std::future::poll_fn(|cx| {
                    left -= 1;
                    match run.as_mut().poll(cx) {
                        Poll::Ready(result) => Poll::Ready(Some(result)),
                        Poll::Pending if left == 0 => Poll::Ready(None),
                        Poll::Pending => Poll::Pending,
                    }
                })
                .await
            };
            if let Some(result) = ended {
                result.unwrap();
                assert!(polls > 10, "{case}");
                break;
            }
            assert_end(&store, durability, &payments, &case).await;
            // A payment that was made in the dropped run is made again only if its record was not stored.
            assert!(payments.load(SeqCst) <= 2, "{case}");
        }
    }
}

#[tokio::test]
async fn f42_a_flow_and_its_sub_flow_ask_over_one_connection() {
    for durability in DURABILITIES {
        let store: Arc<dyn Store> = Faulty::over(&InMemoryStore::new(), usize::MAX, true);
        let launch = SendBoth::new().store(&store).durability(durability);
        let thread = launch.thread("parcel");
        // A sub-flow that is not polled while its parent writes would keep the connection.
        let run = tokio::time::timeout(Duration::from_secs(5), thread.run("lamp".to_string()));
        let outcome = run.await.expect("nothing waits for ever").unwrap();
        assert_eq!(outcome.interrupts().len(), 2, "{durability:?}");
        let asked = outcome.interrupts().iter();
        let answers: Vec<_> = asked
            .map(|asked| asked.answer::<MaySend>(true).unwrap())
            .collect();
        let parcel = thread.resume(answers).await.unwrap();
        let parcel = parcel.into_finished().expect("it waits for nothing");
        assert_eq!(parcel.log, ["sent: true", "sent: true"], "{durability:?}");
    }
}
