//! The services of a stored run for its tasks: questions to people, effects that run once, and requests to the driver.

mod records;

use std::any::type_name;
use std::collections::{HashMap, HashSet};
use std::future::{Future, poll_fn};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use petalflow_graph::NodeIdx;
use serde_core::{Serialize, de::DeserializeOwned};

use crate::checkpoint::{
    Claim, Durability, Lease, Moment, StoreError, StoredWrite, ThreadStorage, WriteName,
};
use crate::clock::now_ms;
use crate::error::BoxError;
use crate::ids::{Namespace, TaskId};
use crate::outcome::ThreadError;
use crate::question::{Ask, Expiry, Interrupt, InterruptId, InterruptKind};
use crate::state::RawValue;
use petalflow_codec::{decode, encode};

/// The longest name of a question or an effect, in bytes. The stored name has a short prefix.
const LONGEST_NAME: usize = 200;

/// The task that uses a service.
pub(crate) struct TaskRef<'a> {
    pub(crate) id: TaskId,
    pub(crate) at: NodeIdx,
    pub(crate) node: &'a str,
    pub(crate) index: Option<usize>,
    pub(crate) attempt: u32,
    pub(crate) superstep: u64,
}

/// A question or an approval without an answer, and the task that waits for it.
pub(crate) struct Question {
    pub(crate) node: NodeIdx,
    /// The index of the task among those of the node.
    pub(crate) index: Option<usize>,
    pub(crate) task: TaskId,
    pub(crate) interrupt: Interrupt,
}

/// The recorded answers of a thread, by question: the name of the question's type, and the encoded answer. An empty answer
/// means that the question expired.
pub(crate) type Answers = HashMap<InterruptId, (String, Vec<u8>)>;

/// The services of one flow of a stored run. Its tasks and its driver share them.
pub(crate) struct TaskServices {
    pub(crate) storage: ThreadStorage,
    pub(crate) durability: Durability,
    namespace: Namespace,
    /// The origin of a frontier, minus the number of supersteps before it.
    offset: u64,
    pub(crate) answers: Arc<Answers>,
    stored: StoredMark,
    /// Whether any task has asked. Most runs ask nothing, and then the lock is not taken.
    asked: AtomicBool,
    /// Whether there may be records of the superstep's tasks. In most supersteps there are none, and then the barrier does
    /// not take the lock.
    has_records: AtomicBool,
    inner: Mutex<Inner>,
}

/// A request from a task to the driver.
pub(crate) enum DriverRequest {
    /// Write the barrier that the superstep began from to the store.
    Flush,
    /// End the run, because the thread cannot be written to: the problem and its source. Boxed, because it is rare.
    Abort(Box<(String, BoxError)>),
}

/// How much of a run is in the store: the frontiers below this number.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoredMark(Arc<AtomicU64>);

impl StoredMark {
    /// The frontier of this origin, and all before it, are in the store.
    #[inline]
    pub(crate) fn set(&self, origin: u64) {
        self.0.store(origin + 1, Ordering::Release);
    }

    #[inline]
    fn covers(&self, origin: u64) -> bool {
        self.0.load(Ordering::Acquire) > origin
    }
}

#[derive(Default)]
struct Inner {
    /// The encoded results of effects that the superstep's tasks have run.
    effects: HashMap<(TaskId, String), Vec<u8>>,
    /// The encoded writes that count if the task does not finish, by the id of the key.
    unfinished: HashMap<(TaskId, String), Vec<u8>>,
    /// Questions that an earlier run of the superstep asked.
    asked_before: HashMap<InterruptId, Interrupt>,
    /// The names that each attempt has used: names must not repeat.
    used_names: HashSet<(TaskId, u32, String)>,
    /// The questions without an answer, by the task that waits.
    questions: HashMap<TaskId, Vec<Question>>,
    /// Wakes the future that runs a task.
    tasks: HashMap<TaskId, Waker>,
    request: Option<DriverRequest>,
    /// Wakes the driver.
    driver: Option<Waker>,
    /// Wakes the tasks that wait for the barrier.
    flushing: Vec<Waker>,
}

/// The services, as the driver and the tasks hold them. They are an object, so that a program without stored runs does not
/// compile what is behind it.
pub(crate) trait Services: Send + Sync {
    /// Returns the next request to the driver.
    fn poll_request(&self, cx: &mut Context<'_>) -> Poll<DriverRequest>;

    /// The origin of the frontier that a superstep runs: the number of the barrier at which it was planned. Task ids contain
    /// it.
    fn origin(&self, superstep: u64) -> u64;

    /// Completes when the task waits for an answer.
    fn poll_waiting(&self, task: TaskId, cx: &Context<'_>) -> Poll<()>;

    /// Whether any task has asked a question that has no answer yet.
    fn has_questions(&self) -> bool;

    /// Removes the questions of a task that ended without their answers.
    fn withdraw(&self, task: TaskId);

    /// The services of tasks.
    fn of_tasks(self: Arc<Self>) -> Arc<TaskServices>;
}

impl Services for TaskServices {
    #[inline]
    fn poll_request(&self, cx: &mut Context<'_>) -> Poll<DriverRequest> {
        let mut inner = self.lock();
        if let Some(request) = inner.request.take() {
            return Poll::Ready(request);
        }
        inner.driver = Some(cx.waker().clone());
        Poll::Pending
    }

    #[inline]
    fn origin(&self, superstep: u64) -> u64 {
        superstep.wrapping_add(self.offset).wrapping_sub(1)
    }

    #[inline]
    fn poll_waiting(&self, task: TaskId, cx: &Context<'_>) -> Poll<()> {
        let mut inner = self.lock();
        if inner.questions.contains_key(&task) {
            return Poll::Ready(());
        }
        inner.tasks.insert(task, cx.waker().clone());
        Poll::Pending
    }

    #[inline]
    fn has_questions(&self) -> bool {
        self.asked.load(Ordering::Acquire)
    }

    #[inline]
    fn withdraw(&self, task: TaskId) {
        let mut inner = self.lock();
        inner.questions.remove(&task);
        inner.tasks.remove(&task);
    }

    #[inline]
    fn of_tasks(self: Arc<Self>) -> Arc<TaskServices> {
        self
    }
}

impl TaskServices {
    #[inline]
    pub(crate) fn new(
        storage: ThreadStorage,
        durability: Durability,
        namespace: Namespace,
        offset: u64,
        answers: Arc<Answers>,
        stored: StoredMark,
    ) -> Self {
        TaskServices {
            storage,
            durability,
            namespace,
            offset,
            answers,
            stored,
            asked: AtomicBool::new(false),
            has_records: AtomicBool::new(false),
            inner: Mutex::default(),
        }
    }

    /// Waits until the barrier that the superstep began from is in the store. Without this, a crash could leave the records
    /// of a task beside an older barrier, where a different task would find them.
    #[inline]
    pub(crate) async fn barrier_stored(&self, superstep: u64) {
        let origin = self.origin(superstep);
        poll_fn(|cx| {
            if self.stored.covers(origin) {
                return Poll::Ready(());
            }
            let mut inner = self.lock();
            inner.flushing.push(cx.waker().clone());
            inner.request(DriverRequest::Flush);
            Poll::Pending
        })
        .await;
    }

    /// Wakes the tasks that wait for the barrier: it is in the store.
    #[inline]
    pub(crate) fn notify_flushed(&self) {
        let flushing = std::mem::take(&mut self.lock().flushing);
        flushing.into_iter().for_each(Waker::wake);
    }

    /// Ends the run because the thread cannot be written to. No node can handle or ignore that.
    #[inline]
    pub(crate) async fn abort(
        &self,
        problem: String,
        source: BoxError,
    ) -> std::convert::Infallible {
        self.lock()
            .request(DriverRequest::Abort(Box::new((problem, source))));
        std::future::pending().await
    }

    /// Loads the records that an earlier run of the superstep has left.
    #[inline]
    pub(crate) fn restore(&mut self, writes: &[StoredWrite]) -> Result<(), BoxError> {
        *self.has_records.get_mut() |= !writes.is_empty();
        let inner = self.inner.get_mut().unwrap_or_else(PoisonError::into_inner);
        for write in writes {
            match write.contents() {
                Some(WriteName::Once(name)) => {
                    let key = (write.task, name.to_string());
                    inner.effects.insert(key, write.bytes.clone());
                }
                Some(WriteName::Unfinished(key)) => {
                    let key = (write.task, key.to_string());
                    inner.unfinished.insert(key, write.bytes.clone());
                }
                Some(WriteName::Ask(id)) => {
                    let interrupt = Interrupt::decode(&write.bytes)?;
                    inner.asked_before.insert(InterruptId(id), interrupt);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Forgets the records of the superstep's tasks. The superstep is committed, so none of its tasks runs again.
    #[inline]
    pub(crate) fn forget_tasks(&self) {
        // Read first: no task runs at a barrier, and an exchange takes longer than the rest of this.
        if self.has_records.load(Ordering::Acquire) {
            self.has_records.store(false, Ordering::Release);
            let mut inner = self.lock();
            inner.effects.clear();
            inner.unfinished.clear();
            inner.asked_before.clear();
            inner.used_names.clear();
        }
    }

    /// Takes the questions without an answer. Those of one task are in the order in which it asked.
    #[inline]
    pub(crate) fn questions(&self) -> Vec<Question> {
        if !self.has_questions() {
            return Vec::new();
        }
        let questions = std::mem::take(&mut self.lock().questions);
        questions.into_values().flatten().collect()
    }

    /// Makes the task wait for answers. The run stops when no other task runs any more.
    #[inline]
    pub(crate) fn wait_for(&self, task: &TaskRef<'_>, interrupts: Vec<Interrupt>) {
        self.asked.store(true, Ordering::Release);
        let mut inner = self.lock();
        let questions = inner.questions.entry(task.id).or_default();
        for interrupt in interrupts {
            // A future that is dropped and made again asks the same question again.
            if !questions
                .iter()
                .any(|known| known.interrupt.id == interrupt.id)
            {
                questions.push(Question {
                    node: task.at,
                    index: task.index,
                    task: task.id,
                    interrupt,
                });
            }
        }
        if let Some(waker) = inner.tasks.remove(&task.id) {
            waker.wake();
        }
    }

    /// When the question was first asked, if an earlier run of the superstep asked it.
    #[inline]
    pub(crate) fn first_asked_ms(&self, id: InterruptId) -> Option<u64> {
        let inner = self.lock();
        inner.asked_before.get(&id).map(|asked| asked.asked_ms)
    }

    /// Asks a question. Without a recorded answer this never completes: the run stops, and the node runs again once there is
    /// an answer.
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
            return recorded_answer::<A>(task.node, asked, answer, expiry);
        }
        let asked_ms = self.first_asked_ms(id).unwrap_or_else(now_ms);
        let mut expires_ms = None;
        if let Some(Expiry { after, answer }) = expiry {
            if after.is_zero() {
                return Ok(answer);
            }
            let after = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
            // Only a resume decides whether a question has expired, and records it. Otherwise one run of the node could
            // continue with the default, and the next with an answer that arrived in between.
            expires_ms = Some(asked_ms.saturating_add(after));
        }
        let kind = InterruptKind::Ask {
            name: A::NAME.into(),
            question: RawValue::new(&question)?,
        };
        let mut interrupt = Interrupt::new(id, task.node, self.namespace.as_str(), kind);
        interrupt.index = task.index;
        (interrupt.asked_ms, interrupt.expires_ms) = (asked_ms, expires_ms);
        interrupt.answer_type = type_name::<A::Answer>().into();
        self.wait_for(task, vec![interrupt]);
        std::future::pending().await
    }

    /// Runs an effect, unless its result is already recorded. The record is in the store before this returns.
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
        let mut recorded = self.lock().effects.get(&key).cloned();
        if recorded.is_none() {
            self.barrier_stored(task.superstep).await;
            recorded = match self.confirm_claim(task, name).await {
                Ok(recorded) => recorded,
                Err(error) => match self.abort(error.to_string(), error.into()).await {},
            };
        }
        if let Some(bytes) = recorded {
            return decode(&bytes).map_err(|error| {
                format!(
                    "the record of the effect `{name}` in node `{}` cannot be read as `{}`: {error}; an earlier program has recorded another type. To run the effect again, give it another name, or fork the thread at its newest checkpoint (`Thread::fork`) and resume it",
                    task.node,
                    type_name::<T>()
                )
                .into()
            });
        }
        let value = effect.await.map_err(Into::into)?;
        let mut bytes = Vec::new();
        encode(&value, &mut bytes)?;
        // Otherwise every later run of the node would fail.
        decode::<T>(&bytes).map_err(|error| {
            format!(
                "the result of the effect `{name}` in node `{}` is a `{}` that cannot be read back: {error}; the effect has run, and its result is not recorded",
                task.node,
                type_name::<T>()
            )
        })?;
        self.store_record(task, WriteName::Once(name), bytes).await;
        Ok(value)
    }

    /// Confirms a claim that may have expired. Another run may have had the thread since: if it has continued, this is an error.
    /// If it has only recorded the effect of this task, returns the record.
    async fn confirm_claim(
        &self,
        task: &TaskRef<'_>,
        name: &str,
    ) -> Result<Option<Vec<u8>>, ThreadError> {
        let expired = |lease: &&Arc<Lease>| lease.may_have_expired();
        let Some(lease) = self.storage.lease.as_ref().filter(expired) else {
            return Ok(None);
        };
        let thread = || self.storage.thread.to_string();
        let begun = Moment::now();
        if let Claim::Busy { .. } = lease.claim().await? {
            return Err(ThreadError::Busy { thread: thread() });
        }
        let origin = self.origin(task.superstep);
        let namespace = self.namespace.as_str();
        let newest = self.storage.history(namespace, None, 1).await?;
        let record = self.storage.records(namespace, &newest).await?.pop();
        if record.is_none_or(|record| record.header.origin != origin) {
            return Err(ThreadError::Store(StoreError::Conflict {
                thread: thread(),
                expected: Some(origin),
                found: newest.first().map(|newest| newest.seq),
            }));
        }
        let name = WriteName::Once(name).to_string();
        let writes = self.storage.writes(namespace, origin).await?;
        lease.confirm(begun);
        let recorded = |write: &StoredWrite| write.task == task.id && write.name == name;
        let recorded = writes.into_iter().find(recorded);
        Ok(recorded.map(|write| write.bytes))
    }

    /// Each attempt may use a name once: a second use would get the result of the first.
    #[inline]
    fn reserve(
        &self,
        task: &TaskRef<'_>,
        method: &str,
        name: &str,
        advice: impl FnOnce() -> String,
    ) -> Result<(), BoxError> {
        if name.len() > LONGEST_NAME || name.contains('\0') {
            return Err(format!(
                "`{name}` cannot be a name for `{method}` in node `{}`: a name has at most {LONGEST_NAME} bytes and no NUL",
                task.node
            )
            .into());
        }
        self.has_records.store(true, Ordering::Release);
        let used = (task.id, task.attempt, format!("{method}/{name}"));
        if self.lock().used_names.insert(used) {
            return Ok(());
        }
        Err(format!(
            "node `{}` used `{method}` twice for `{name}` in one run, and both would get one result: {}",
            task.node,
            advice()
        )
        .into())
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing under this lock can panic.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    #[inline]
    fn request(&mut self, request: DriverRequest) {
        // Nothing replaces the request to end the run.
        if !matches!(self.request, Some(DriverRequest::Abort(..))) {
            self.request = Some(request);
        }
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }
}

/// Decodes a recorded answer, which must be to a question of the same type.
fn recorded_answer<A: Ask>(
    node: &str,
    asked: &str,
    answer: &[u8],
    expiry: Option<Expiry<A::Answer>>,
) -> Result<A::Answer, BoxError> {
    let ask_again =
        "to ask again, fork the thread at its newest checkpoint (`Thread::fork`) and resume it";
    if asked != A::NAME {
        let name = A::NAME;
        return Err(format!(
            "node `{node}` asks `{name}`, and the recorded answer is for `{asked}`; {ask_again}"
        )
        .into());
    }
    if answer.is_empty() {
        return expiry.map(|expiry| expiry.answer).ok_or_else(|| {
            format!(
                "the question `{}` of node `{node}` has expired, and `Ask::expires` returns no default answer any more; {ask_again}",
                A::NAME
            )
            .into()
        });
    }
    decode(answer).map_err(|error| {
        format!(
            "the recorded answer to `{}` in node `{node}` cannot be read as `{}`: {error}; an earlier program has recorded another type; {ask_again}",
            A::NAME,
            type_name::<A::Answer>()
        )
        .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::InMemoryStore;

    /// The services of a run whose superstep has the records of an earlier run.
    #[tokio::test]
    async fn the_barrier_forgets_the_records_of_its_tasks() {
        let storage = ThreadStorage {
            store: Arc::new(InMemoryStore::new()),
            thread: "ann".into(),
            lease: None,
            begun_writes: Arc::default(),
        };
        let stored = StoredMark::default();
        stored.set(9);
        let answers = Arc::default();
        let root = Namespace::ROOT;
        let mut services = TaskServices::new(storage, Durability::Sync, root, 0, answers, stored);
        let (earlier, mut result) = (TaskId::of(&[b"earlier"]), Vec::new());
        encode(&1, &mut result).unwrap();
        let write = StoredWrite::new(earlier, WriteName::Once("charge"), result);
        services.restore(&[write]).unwrap();
        for superstep in 1_u64..=3 {
            let task = TaskRef {
                id: TaskId::of(&[&superstep.to_le_bytes()]),
                at: NodeIdx::new(0),
                node: "pay",
                index: None,
                attempt: 1,
                superstep,
            };
            let charged = services.once(&task, "charge", async { Ok::<_, BoxError>(superstep) });
            assert_eq!(charged.await.unwrap(), superstep);
            let again = services.once(&task, "charge", async { Ok::<_, BoxError>(0) });
            assert!(again.await.is_err(), "the name was used in this superstep");
            services.forget_tasks();
            let inner = services.lock();
            assert_eq!((inner.effects.len(), inner.used_names.len()), (0, 0));
        }
    }
}
