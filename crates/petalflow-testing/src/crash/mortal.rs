//! A store whose process can die.

use std::future::poll_fn;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use petalflow::checkpoint::{
    Address, Claim, Store, StoreError, StoreFuture, Stored, StoredCheckpoint, StoredWrite,
    ThreadInfo, ThreadQuery,
};

use super::fault::{Fault, Moment};

/// A store as one process sees it: when a [`Fault`] strikes, what the process asks for from then on never happens, or fails.
/// What stands behind it outlives that.
///
/// ```
/// use petalflow::checkpoint::{Address, InMemoryStore, Store};
/// use petalflow_testing::{Fault, Mortal, Window};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let store = InMemoryStore::new();
/// let mortal = Mortal::new(&store);
/// mortal.strike(Fault { window: Window::OutageBefore, nth: 2 });
/// mortal.write(Address::root("t"), 0, &[]).await?;
/// mortal.write(Address::root("t"), 0, &[]).await.unwrap_err();
/// assert!(mortal.is_struck());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Mortal {
    store: Arc<dyn Store>,
    life: Arc<Mutex<Life>>,
}

#[derive(Default)]
struct Life {
    fault: Option<Fault>,
    writes: u64,
    struck: bool,
    /// What was asked for when the fault struck.
    last: String,
    /// The claims that die with the process.
    claims: Vec<(String, String)>,
    watcher: Option<Waker>,
}

/// What becomes of one call.
enum Fate {
    Happens,
    /// It fails; first it may be done.
    Fails {
        done: bool,
    },
    /// The process is gone; first the call may be done.
    Ends {
        done: bool,
    },
}

impl std::fmt::Debug for Mortal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let life = self.life();
        f.debug_struct("Mortal")
            .field("fault", &life.fault)
            .field("writes", &life.writes)
            .field("struck", &life.struck)
            .finish_non_exhaustive()
    }
}

impl Mortal {
    /// The store of a process that lives.
    pub fn new(store: &(impl Store + Clone)) -> Self {
        Self::over(Arc::new(store.clone()))
    }

    pub(super) fn over(store: Arc<dyn Store>) -> Self {
        Mortal {
            store,
            life: Arc::default(),
        }
    }

    /// Has the fault strike when its moment comes. Those of [`Moment::Call`] only.
    pub fn strike(&self, fault: Fault) {
        self.life().fault = Some(fault).filter(|fault| fault.window.moment() == Moment::Call);
    }

    /// Whether the fault has struck.
    pub fn is_struck(&self) -> bool {
        self.life().struck
    }

    /// How many writes were asked for: checkpoints, what tasks left, claims, deletions.
    pub fn writes(&self) -> u64 {
        self.life().writes
    }

    /// What was asked for when the fault struck.
    pub fn last(&self) -> String {
        self.life().last.clone()
    }

    /// Completes when the process dies.
    pub async fn died(&self) {
        poll_fn(|cx| {
            let mut life = self.life();
            if life.struck && life.fault.is_some_and(|fault| fault.window.kills()) {
                return Poll::Ready(());
            }
            life.watcher = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// The process is gone: its claims are, too.
    pub fn bury(&self) {
        for (thread, owner) in std::mem::take(&mut self.life().claims) {
            self.store.release(&thread, &owner);
        }
    }

    fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call, and says what becomes of it.
    fn call(&self, counts: bool, what: impl FnOnce() -> String) -> Fate {
        let mut life = self.life();
        let Some(fault) = life.fault else {
            life.writes += u64::from(counts);
            return Fate::Happens;
        };
        if life.struck {
            return match (fault.window.kills(), fault.window.lasts()) {
                (true, _) => Fate::Ends { done: false },
                (_, true) => Fate::Fails { done: false },
                _ => Fate::Happens,
            };
        }
        life.writes += u64::from(counts);
        if !counts || life.writes < fault.nth {
            return Fate::Happens;
        }
        life.struck = true;
        life.last = what();
        let done = fault.window.is_after();
        if fault.window.kills() {
            Fate::Ends { done }
        } else {
            Fate::Fails { done }
        }
    }

    fn wake(&self) {
        let watcher = self.life().watcher.take();
        if let Some(watcher) = watcher {
            watcher.wake();
        }
    }

    async fn through<T>(
        &self,
        counts: bool,
        what: impl FnOnce() -> String,
        call: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        // A store is elsewhere: others come to run before it is asked, and before it answers.
        tokio::task::yield_now().await;
        let (done, ends) = match self.call(counts, what) {
            Fate::Happens => {
                let result = call.await;
                tokio::task::yield_now().await;
                return result;
            }
            Fate::Fails { done } => (done, false),
            Fate::Ends { done } => (done, true),
        };
        if done {
            call.await?;
        }
        if ends {
            self.wake();
            std::future::pending::<()>().await;
        }
        Err(StoreError::Unavailable("it is out of order".into()))
    }
}

fn place(address: Address<'_>) -> String {
    match address.namespace {
        "" => String::new(),
        namespace => format!(" of `{namespace}`"),
    }
}

impl Store for Mortal {
    fn append<'a>(
        &'a self,
        address: Address<'a>,
        checkpoint: &'a StoredCheckpoint,
        after: Option<u64>,
        settled: Range<u64>,
    ) -> StoreFuture<'a, ()> {
        let what = move || format!("checkpoint {}{}", checkpoint.seq, place(address));
        // Only now: a store may do what it is asked when it is asked, and not when the answer is awaited.
        let call = async move { self.store.append(address, checkpoint, after, settled).await };
        Box::pin(self.through(true, what, call))
    }

    fn write<'a>(
        &'a self,
        address: Address<'a>,
        seq: u64,
        writes: &'a [StoredWrite],
    ) -> StoreFuture<'a, ()> {
        let what = move || {
            let names: Vec<&str> = writes.iter().map(|write| &*write.name).collect();
            format!("`{}` beside {seq}{}", names.join("`, `"), place(address))
        };
        let call = async move { self.store.write(address, seq, writes).await };
        Box::pin(self.through(true, what, call))
    }

    fn read<'a>(
        &'a self,
        address: Address<'a>,
        seq: Option<u64>,
    ) -> StoreFuture<'a, Option<Stored>> {
        let call = async move { self.store.read(address, seq).await };
        Box::pin(self.through(false, String::new, call))
    }

    fn writes<'a>(
        &'a self,
        address: Address<'a>,
        seqs: Range<u64>,
    ) -> StoreFuture<'a, Vec<(u64, StoredWrite)>> {
        let call = async move { self.store.writes(address, seqs).await };
        Box::pin(self.through(false, String::new, call))
    }

    fn history<'a>(
        &'a self,
        address: Address<'a>,
        before: Option<u64>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<StoredCheckpoint>> {
        let call = async move { self.store.history(address, before, limit).await };
        Box::pin(self.through(false, String::new, call))
    }

    fn namespaces<'a>(&'a self, thread: &'a str) -> StoreFuture<'a, Vec<String>> {
        let call = async move { self.store.namespaces(thread).await };
        Box::pin(self.through(false, String::new, call))
    }

    fn threads<'a>(&'a self, query: ThreadQuery<'a>) -> StoreFuture<'a, Vec<ThreadInfo>> {
        let call = async move { self.store.threads(query).await };
        Box::pin(self.through(false, String::new, call))
    }

    fn prune<'a>(&'a self, address: Address<'a>, seq: u64) -> StoreFuture<'a, ()> {
        let what = move || format!("pruning below {seq}{}", place(address));
        let call = async move { self.store.prune(address, seq).await };
        Box::pin(self.through(true, what, call))
    }

    fn delete<'a>(&'a self, thread: &'a str) -> StoreFuture<'a, ()> {
        let call = async move { self.store.delete(thread).await };
        Box::pin(self.through(true, || "deletion".into(), call))
    }

    fn claim<'a>(&'a self, thread: &'a str, owner: &'a str) -> StoreFuture<'a, Claim> {
        let call = async move {
            let claim = self.store.claim(thread, owner).await?;
            if claim == Claim::Granted {
                self.life().claims.push((thread.into(), owner.into()));
            }
            Ok(claim)
        };
        Box::pin(self.through(true, || "the claim".into(), call))
    }

    fn release(&self, thread: &str, owner: &str) {
        let life = self.life();
        let gone = life.struck && life.fault.is_some_and(|fault| fault.window.kills());
        drop(life);
        // A process that is gone gives nothing back.
        if !gone {
            self.store.release(thread, owner);
            self.life()
                .claims
                .retain(|claim| (&*claim.0, &*claim.1) != (thread, owner));
        }
    }

    fn claim_lasts(&self) -> Option<std::time::Duration> {
        self.store.claim_lasts()
    }
}
