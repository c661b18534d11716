//! A store into which a test injects faults.

use std::future::poll_fn;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use petalflow::async_trait;
use petalflow::checkpoint::{
    Address, Claim, Store, StoreChange, StoreError, Stored, StoredCheckpoint, StoredWrite,
    ThreadChange, ThreadCount, ThreadInfo, ThreadQuery,
};

use super::fault::{Fault, FaultTarget};

/// A store as one process sees it. When an [injected](Self::inject) [`Fault`] occurs, the calls of that process fail, or never
/// return. The inner store continues to work.
///
/// ```
/// use petalflow::checkpoint::{Address, InMemoryStore, Store};
/// use petalflow_testing::{Fault, FaultyStore, FaultKind};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let store = InMemoryStore::new();
/// let faulty = FaultyStore::new(&store);
/// faulty.inject(Fault { kind: FaultKind::OutageBefore, nth: 2 });
/// faulty.write(Address::root("t"), 0, &[], None).await?;
/// faulty.write(Address::root("t"), 0, &[], None).await.unwrap_err();
/// assert!(faulty.fault_occurred());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct FaultyStore {
    store: Arc<dyn Store>,
    process: Arc<Mutex<Process>>,
    /// How much its clock is ahead.
    ahead: Duration,
}

#[derive(Default)]
struct Process {
    fault: Option<Fault>,
    writes: u64,
    occurred: bool,
    /// The process has died. Before that, the store may still do the call that the fault hit.
    dead: bool,
    /// The call that the fault hit.
    last: String,
    /// The claims of the process.
    claims: Vec<(String, String)>,
    watcher: Option<Waker>,
}

impl Process {
    /// What happens to a call that is not counted.
    fn current(&self) -> CallResult {
        match self.fault {
            Some(fault) if self.occurred && fault.kind.kills() => CallResult::Dies { done: false },
            Some(fault) if self.occurred && fault.kind.lasts() => CallResult::Fails { done: false },
            _ => CallResult::Passes,
        }
    }

    /// Counts a call that writes, and decides what happens to it.
    fn count_write(&mut self, describe: impl FnOnce() -> String) -> CallResult {
        if self.occurred {
            return self.current();
        }
        self.writes += 1;
        let Some(fault) = self.fault.filter(|fault| self.writes >= fault.nth) else {
            return CallResult::Passes;
        };
        self.occurred = true;
        self.last = describe();
        let done = fault.kind.is_after();
        if fault.kind.kills() {
            CallResult::Dies { done }
        } else {
            CallResult::Fails { done }
        }
    }
}

/// What happens to one call.
enum CallResult {
    Passes,
    /// It fails. With `done`, it is done first.
    Fails {
        done: bool,
    },
    /// The process dies. With `done`, the call is done first.
    Dies {
        done: bool,
    },
}

impl std::fmt::Debug for FaultyStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let process = self.process();
        f.debug_struct("FaultyStore")
            .field("fault", &process.fault)
            .field("writes", &process.writes)
            .field("occurred", &process.occurred)
            .finish_non_exhaustive()
    }
}

impl FaultyStore {
    /// The store of a new process.
    pub fn new(store: &(impl Store + Clone)) -> Self {
        Self::over(Arc::new(store.clone()))
    }

    pub(crate) fn over(store: Arc<dyn Store>) -> Self {
        FaultyStore {
            store,
            process: Arc::default(),
            ahead: Duration::ZERO,
        }
    }

    /// Sets the clock of the process ahead of that of the store, so that what expires or sleeps is due without a wait.
    ///
    /// ```
    /// use std::time::Duration;
    /// use petalflow::checkpoint::{InMemoryStore, Store};
    /// use petalflow_testing::FaultyStore;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let store = InMemoryStore::new();
    /// let tomorrow = FaultyStore::new(&store).ahead(Duration::from_hours(24));
    /// assert!(tomorrow.now_ms().await? >= store.now_ms().await? + 86_000_000);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn ahead(mut self, ahead: Duration) -> Self {
        self.ahead = ahead;
        self
    }

    /// Injects a fault, which occurs at the call that it names. Only faults of [`FaultTarget::Call`] have an effect.
    pub fn inject(&self, fault: Fault) {
        self.process().fault = Some(fault).filter(|fault| fault.kind.target() == FaultTarget::Call);
    }

    /// Whether the fault has occurred.
    pub fn fault_occurred(&self) -> bool {
        self.process().occurred
    }

    /// How many calls that write were made: checkpoints, writes of tasks, claims, deletions.
    pub fn writes(&self) -> u64 {
        self.process().writes
    }

    /// The call that the fault hit.
    pub fn last(&self) -> String {
        self.process().last.clone()
    }

    /// Completes when the process dies.
    pub async fn died(&self) {
        poll_fn(|cx| {
            let mut process = self.process();
            if process.dead {
                return Poll::Ready(());
            }
            process.watcher = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// The process has ended: releases its claims.
    pub fn detach(&self) {
        for (thread, owner) in std::mem::take(&mut self.process().claims) {
            self.store.release(&thread, &owner);
        }
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        let watcher = self.process().watcher.take();
        if let Some(watcher) = watcher {
            watcher.wake();
        }
    }

    /// Makes a call that writes, unless a fault occurs at it. `describe` names the call in messages.
    async fn write_through<T>(
        &self,
        describe: impl FnOnce() -> String,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.through(|process| process.count_write(describe), call)
            .await
    }

    /// Makes a call that reads. It fails only after a fault that lasts.
    async fn read_through<T>(
        &self,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.through(|process| process.current(), call).await
    }

    async fn through<T>(
        &self,
        decide: impl FnOnce(&mut Process) -> CallResult,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        // A real store is remote: other tasks run before a call reaches it, and before its result arrives.
        tokio::task::yield_now().await;
        let result = decide(&mut self.process());
        let (done, dies) = match result {
            CallResult::Passes => {
                let result = call.await;
                tokio::task::yield_now().await;
                return result;
            }
            CallResult::Fails { done } => (done, false),
            CallResult::Dies { done } => (done, true),
        };
        if done {
            call.await?;
        }
        if dies {
            self.process().dead = true;
            self.wake();
            std::future::pending::<()>().await;
        }
        Err(StoreError::Unavailable("a fault was injected".into()))
    }
}

fn namespace_suffix(address: Address<'_>) -> String {
    match address.namespace {
        "" => String::new(),
        namespace => format!(" of `{namespace}`"),
    }
}

#[async_trait]
impl Store for FaultyStore {
    async fn append(
        &self,
        address: Address<'_>,
        checkpoint: &StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let what = move || format!("checkpoint {}{}", checkpoint.seq, namespace_suffix(address));
        // Within the future: a store may start its work when the method is called rather than when the future is polled.
        let call = async move {
            self.store
                .append(address, checkpoint, after, settled, owner)
                .await
        };
        self.write_through(what, call).await
    }

    async fn write(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: &[StoredWrite],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let what = move || {
            let names: Vec<&str> = writes.iter().map(|write| &*write.name).collect();
            format!(
                "`{}` beside {seq}{}",
                names.join("`, `"),
                namespace_suffix(address)
            )
        };
        let call = async move { self.store.write(address, seq, writes, owner).await };
        self.write_through(what, call).await
    }

    async fn apply(
        &self,
        thread: &str,
        changes: &[StoreChange],
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let what = || format!("{} changes of the thread", changes.len());
        let call = async move { self.store.apply(thread, changes, owner).await };
        self.write_through(what, call).await
    }

    async fn read(
        &self,
        address: Address<'_>,
        seq: Option<u64>,
    ) -> Result<Option<Stored>, StoreError> {
        let call = async move { self.store.read(address, seq).await };
        self.read_through(call).await
    }

    async fn writes(
        &self,
        address: Address<'_>,
        seqs: Range<u64>,
    ) -> Result<Vec<(u64, StoredWrite)>, StoreError> {
        let call = async move { self.store.writes(address, seqs).await };
        self.read_through(call).await
    }

    async fn history(
        &self,
        address: Address<'_>,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<StoredCheckpoint>, StoreError> {
        let call = async move { self.store.history(address, before, limit).await };
        self.read_through(call).await
    }

    async fn namespaces(&self, thread: &str) -> Result<Vec<String>, StoreError> {
        let call = async move { self.store.namespaces(thread).await };
        self.read_through(call).await
    }

    async fn threads(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, StoreError> {
        let call = async move { self.store.threads(query).await };
        self.read_through(call).await
    }

    async fn thread_counts(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadCount>, StoreError> {
        let call = async move { self.store.thread_counts(query).await };
        self.read_through(call).await
    }

    async fn describe(
        &self,
        thread: &str,
        change: ThreadChange<'_>,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let what = || "what is listed of the thread".into();
        let call = async move { self.store.describe(thread, change, owner).await };
        self.write_through(what, call).await
    }

    async fn prune(
        &self,
        address: Address<'_>,
        seq: u64,
        writes: u64,
        owner: Option<&str>,
    ) -> Result<(), StoreError> {
        let what = move || format!("pruning below {seq}{}", namespace_suffix(address));
        let call = async move { self.store.prune(address, seq, writes, owner).await };
        self.write_through(what, call).await
    }

    async fn delete(&self, thread: &str, owner: Option<&str>) -> Result<(), StoreError> {
        let call = async move { self.store.delete(thread, owner).await };
        self.write_through(|| "deletion".into(), call).await
    }

    async fn delete_many(&self, threads: &[&str], owner: Option<&str>) -> Result<(), StoreError> {
        let call = async move { self.store.delete_many(threads, owner).await };
        self.write_through(|| "deletions".into(), call).await
    }

    async fn reclaim(&self) -> Result<(), StoreError> {
        let call = async move { self.store.reclaim().await };
        self.write_through(|| "giving space back".into(), call)
            .await
    }

    async fn verify(&self) -> Result<Vec<String>, StoreError> {
        let call = async move { self.store.verify().await };
        self.read_through(call).await
    }

    async fn incarnation(&self, thread: &str) -> Result<u64, StoreError> {
        let call = async move { self.store.incarnation(thread).await };
        self.read_through(call).await
    }

    async fn confirm(&self, thread: &str, owner: &str) -> Result<bool, StoreError> {
        let call = async move { self.store.confirm(thread, owner).await };
        self.read_through(call).await
    }

    async fn claim(&self, thread: &str, owner: &str) -> Result<Claim, StoreError> {
        let call = async move {
            let claim = self.store.claim(thread, owner).await?;
            if claim == Claim::Granted {
                self.process().claims.push((thread.into(), owner.into()));
            }
            Ok(claim)
        };
        self.write_through(|| "the claim".into(), call).await
    }

    fn release(&self, thread: &str, owner: &str) {
        let process = self.process();
        let is_dead = process.occurred && process.fault.is_some_and(|fault| fault.kind.kills());
        drop(process);
        // A dead process releases nothing.
        if !is_dead {
            self.store.release(thread, owner);
            self.process()
                .claims
                .retain(|claim| (&*claim.0, &*claim.1) != (thread, owner));
        }
    }

    fn claim_lasts(&self) -> Option<Duration> {
        self.store.claim_lasts()
    }

    fn is_shared(&self) -> bool {
        self.store.is_shared()
    }

    fn needs_checksums(&self) -> bool {
        self.store.needs_checksums()
    }

    async fn now_ms(&self) -> Result<u64, StoreError> {
        let ahead_ms = u64::try_from(self.ahead.as_millis()).unwrap_or(u64::MAX);
        Ok(self.store.now_ms().await?.saturating_add(ahead_ms))
    }
}
