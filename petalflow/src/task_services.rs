//! What a task of a stored run can leave beside its writes: questions, and side effects that are done once.

use std::collections::{HashMap, HashSet};
use std::future::{Future, poll_fn};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use serde_core::{Serialize, de::DeserializeOwned};

use crate::checkpoint::{Archive, Durability, StoredWrite};
use crate::clock::now_ms;
use crate::codec::{decode, encode};
use crate::error::BoxError;
use crate::ids::{Namespace, TaskId};
use crate::outcome::ThreadError;
use crate::question::{Ask, Expiry, Interrupt, InterruptId, InterruptKind};

/// The name of a write holds a name of the user's and a few letters of ours.
const LONGEST_NAME: usize = 200;

/// The task that calls a service.
pub(crate) struct TaskRef<'a> {
    pub(crate) id: TaskId,
    pub(crate) node: &'a str,
    pub(crate) index: Option<usize>,
    pub(crate) attempt: u32,
    pub(crate) superstep: u64,
}

/// What people have answered on a thread: by question, the question's name and the answer.
pub(crate) type Answers = HashMap<InterruptId, (String, Vec<u8>)>;

/// The services of one flow of a stored run.
pub(crate) struct TaskServices {
    pub(crate) archive: Archive,
    pub(crate) durability: Durability,
    namespace: Namespace,
    /// What a superstep's number lacks to its frontier's.
    offset: u64,
    pub(crate) answers: Arc<Answers>,
    /// Frontiers below this number are in the store.
    durable: Arc<AtomicU64>,
    /// Most runs ask nothing, and look no further.
    asked: AtomicBool,
    inner: Mutex<Inner>,
}

/// What tasks want of the run.
pub(crate) enum DriverRequest {
    /// The barrier that the superstep began from, in the store.
    Settle,
    /// Its end, because the thread cannot be written to: what is wrong, and why. Behind a pointer, as it is rare.
    Break(Box<(String, BoxError)>),
}

#[derive(Default)]
struct Inner {
    /// The results of side effects.
    done: HashMap<(TaskId, String), Vec<u8>>,
    /// Questions that were asked before this run of the program.
    known: HashMap<InterruptId, Interrupt>,
    /// What each attempt has asked and done so far: names must not repeat.
    used: HashSet<(TaskId, u32, String)>,
    open: HashMap<TaskId, Vec<Interrupt>>,
    wakers: HashMap<TaskId, Waker>,
    call: Option<DriverRequest>,
    /// Who hears the call.
    driver: Option<Waker>,
    /// Who waits for the barrier.
    settling: Vec<Waker>,
}

impl TaskServices {
    #[inline]
    pub(crate) fn new(
        archive: Archive,
        durability: Durability,
        namespace: Namespace,
        offset: u64,
        answers: Arc<Answers>,
        durable: Arc<AtomicU64>,
    ) -> Self {
        TaskServices {
            archive,
            durability,
            namespace,
            offset,
            answers,
            durable,
            asked: AtomicBool::new(false),
            inner: Mutex::default(),
        }
    }

    /// Waits until the barrier that the superstep began from is in the store. What is written beside it would else be found
    /// by tasks that a crash has made other ones.
    #[inline]
    pub(crate) async fn settle(&self, superstep: u64) {
        let origin = self.origin(superstep);
        poll_fn(|cx| {
            if self.durable.load(Ordering::Acquire) > origin {
                return Poll::Ready(());
            }
            let mut inner = self.lock();
            inner.settling.push(cx.waker().clone());
            inner.call(DriverRequest::Settle);
            Poll::Pending
        })
        .await;
    }

    /// The barrier is in the store.
    #[inline]
    pub(crate) fn settled(&self) {
        let settling = std::mem::take(&mut self.lock().settling);
        settling.into_iter().for_each(Waker::wake);
    }

    /// Ends the run: the thread cannot be written to, which no node can mend or swallow.
    #[inline]
    pub(crate) async fn fail(&self, problem: String, source: BoxError) -> std::convert::Infallible {
        self.lock()
            .call(DriverRequest::Break(Box::new((problem, source))));
        std::future::pending().await
    }

    /// What tasks want of the run.
    #[inline]
    pub(crate) fn poll_called(&self, cx: &mut Context<'_>) -> Poll<DriverRequest> {
        let mut inner = self.lock();
        if let Some(call) = inner.call.take() {
            return Poll::Ready(call);
        }
        inner.driver = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Names the frontier that a superstep ran.
    #[inline]
    pub(crate) fn origin(&self, superstep: u64) -> u64 {
        superstep.wrapping_add(self.offset).wrapping_sub(1)
    }

    /// Takes over what an earlier run of the superstep has left.
    #[inline]
    pub(crate) fn recall(&mut self, writes: &[StoredWrite]) -> Result<(), BoxError> {
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        for write in writes {
            if let Some(name) = write.name.strip_prefix("once/") {
                let key = (write.task, name.to_string());
                inner.done.insert(key, write.bytes.clone());
            } else if write.name.starts_with("ask/") {
                let interrupt = Interrupt::decode(&write.bytes)?;
                inner.known.insert(interrupt.id, interrupt);
            }
        }
        Ok(())
    }

    /// Ready when the task has asked something that nobody has answered.
    #[inline]
    pub(crate) fn poll_parked(&self, task: TaskId, cx: &Context<'_>) -> Poll<()> {
        let mut inner = self.lock();
        if inner.open.contains_key(&task) {
            return Poll::Ready(());
        }
        inner.wakers.insert(task, cx.waker().clone());
        Poll::Pending
    }

    /// Whether any task has asked something that nobody has answered.
    #[inline]
    pub(crate) fn has_asked(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    /// Forgets what a task asked that went on without an answer.
    #[inline]
    pub(crate) fn withdraw(&self, task: TaskId) {
        let mut inner = self.lock();
        inner.open.remove(&task);
        inner.wakers.remove(&task);
    }

    /// All that waits for an answer, with the tasks that wait, in a fixed order.
    #[inline]
    pub(crate) fn open(&self) -> Vec<(TaskId, Interrupt)> {
        if !self.has_asked() {
            return Vec::new();
        }
        let inner = self.lock();
        let mut open: Vec<_> = inner
            .open
            .iter()
            .flat_map(|(task, interrupts)| {
                interrupts
                    .iter()
                    .map(|interrupt| (*task, interrupt.clone()))
            })
            .collect();
        open.sort_by(|(_, a), (_, b)| {
            (&a.namespace, &a.node, a.index, a.id).cmp(&(&b.namespace, &b.node, b.index, b.id))
        });
        open
    }

    /// Has the task wait for these.
    #[inline]
    pub(crate) fn park(&self, task: TaskId, interrupts: Vec<Interrupt>) {
        self.asked.store(true, Ordering::Release);
        let mut inner = self.lock();
        let open = inner.open.entry(task).or_default();
        for interrupt in interrupts {
            // A future that is dropped and made anew asks the same again.
            if !open.iter().any(|known| known.id == interrupt.id) {
                open.push(interrupt);
            }
        }
        if let Some(waker) = inner.wakers.remove(&task) {
            waker.wake();
        }
    }

    /// The interrupt of this id, as it was asked first.
    #[inline]
    pub(crate) fn known(&self, id: InterruptId) -> Option<Interrupt> {
        self.lock().known.get(&id).cloned()
    }

    /// Asks, and waits for ever if nobody has answered yet: the run stops, and the node is run again with the answer.
    pub(crate) async fn ask<A: Ask>(
        &self,
        task: &TaskRef<'_>,
        question: A,
    ) -> Result<A::Answer, BoxError> {
        let key = question.key();
        let name = format!("{}/{key}", A::NAME);
        self.reserve(task, "ask", &name, || {
            format!("give each question of one type its own `Ask::key`; this one is {key:?}")
        })?;
        let id = InterruptId::of(task.id, &name);
        let expiry = question.expires();
        if let Some((asked, answer)) = self.answers.get(&id) {
            if asked != A::NAME {
                return Err(format!("the answer to `{}` is one to `{asked}`", A::NAME).into());
            }
            if answer.is_empty() {
                let own = expiry.map(|expiry| expiry.answer);
                return own.ok_or_else(|| {
                    format!("`{}` has expired, and `Ask::expires` does not say any more how it answers itself", A::NAME).into()
                });
            }
            let answer = decode(answer)
                .map_err(|error| format!("the answer to `{}` cannot be read: {error}", A::NAME))?;
            return Ok(answer);
        }
        let asked_ms = self.known(id).map_or_else(now_ms, |known| known.asked_ms);
        let mut expires_ms = None;
        if let Some(Expiry { after, answer }) = expiry {
            if after.is_zero() {
                return Ok(answer);
            }
            let after = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
            // Whether it has passed is decided, and written down, when the thread is resumed: else one run of the node might go on
            // with the default, and the next with an answer that has come since.
            expires_ms = Some(asked_ms.saturating_add(after));
        }
        let interrupt = Interrupt {
            id,
            node: task.node.into(),
            namespace: self.namespace.to_string(),
            index: task.index,
            kind: InterruptKind::Ask {
                name: A::NAME.into(),
                question: serde_json::to_value(&question)?,
            },
            asked_ms,
            expires_ms,
            chooses: false,
        };
        self.park(task.id, vec![interrupt]);
        std::future::pending().await
    }

    /// Runs the effect, unless its result is recorded already; the record is durable before this returns.
    pub(crate) async fn once<T, E>(
        &self,
        task: &TaskRef<'_>,
        name: &str,
        effect: impl Future<Output = Result<T, E>>,
    ) -> Result<T, BoxError>
    where
        T: Serialize + DeserializeOwned,
        E: Into<BoxError>,
    {
        self.reserve(task, "once", name, || {
            "give each effect its own name".into()
        })?;
        let key = (task.id, name.to_string());
        let done = self.lock().done.get(&key).cloned();
        if let Some(bytes) = done {
            return decode(&bytes).map_err(|error| {
                format!("the record of `{name}` cannot be read as what is expected now: {error}")
                    .into()
            });
        }
        self.settle(task.superstep).await;
        let value = effect.await.map_err(Into::into)?;
        let mut bytes = Vec::new();
        encode(&value, &mut bytes)?;
        let write = StoredWrite {
            task: task.id,
            name: format!("once/{name}"),
            bytes: bytes.clone(),
        };
        let origin = self.origin(task.superstep);
        let recorded = self
            .archive
            .write(self.namespace.as_str(), origin, vec![write])
            .await;
        if let Err(error) = recorded {
            let error = ThreadError::from(error);
            match self.fail(error.to_string(), error.into()).await {}
        }
        self.lock().done.insert(key, bytes);
        Ok(value)
    }

    /// A name may be used once per attempt: a second use would get the first one's answer.
    #[inline]
    fn reserve(
        &self,
        task: &TaskRef<'_>,
        what: &str,
        name: &str,
        advice: impl FnOnce() -> String,
    ) -> Result<(), BoxError> {
        if name.len() > LONGEST_NAME || name.contains('\0') {
            return Err(format!(
                "`{name}` cannot name what node `{}` does with `{what}`: a name has at most {LONGEST_NAME} bytes and no NUL",
                task.node
            )
            .into());
        }
        let used = (task.id, task.attempt, format!("{what}/{name}"));
        if self.lock().used.insert(used) {
            return Ok(());
        }
        Err(format!(
            "node `{}` used `{what}` twice for `{name}` in one run, and both would get one result: {}",
            task.node,
            advice()
        )
        .into())
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing that can panic happens under the lock.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    #[inline]
    fn call(&mut self, call: DriverRequest) {
        // Once the run is to end, nothing else matters.
        if !matches!(self.call, Some(DriverRequest::Break(..))) {
            self.call = Some(call);
        }
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }
}
