//! What the tasks and the driver of a stored run share.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::time::Sleep;

use super::caller_record::CallerRecord;
use super::effect_counts::EffectsInFlight;
use super::question::{AnswerBook, LiveQuestions, TaskQuestions};
use super::receipt::{Given, Receipt, last_received};
use super::requests_made::RequestsMade;
use super::{StoredMark, TaskRef, check_name, used_twice};
use petalflow_graph::NodeIdx;

use crate::checkpoint::{Durability, Retention, StoredWrite, ThreadStorage, WriteName};
use crate::erased::StateType;
use crate::error::BoxError;
use crate::future::BoxFuture;
use crate::ids::{Namespace, TaskId};
use crate::question::{Interrupt, InterruptId};
use petalflow_store::codec::{Unpack, unpack};

/// The services of one flow of a stored run. Its tasks and its driver share them.
pub(crate) struct TaskServices {
    pub(crate) storage: ThreadStorage,
    pub(crate) durability: Durability,
    /// Which checkpoints of the flow remain. That of its sub-flows is the same.
    pub(crate) retention: Retention,
    pub(super) namespace: Namespace,
    /// What the states of the flow say, if it is one of a thread.
    pub(crate) ty: Option<&'static StateType>,
    /// For a sub-flow: the task that runs it.
    pub(crate) parent: Option<ParentTask>,
    /// The origin of a frontier, minus the number of supersteps before it.
    offset: u64,
    pub(crate) answers: Arc<AnswerBook>,
    /// For the outermost flow: what callers of this process may answer.
    pub(crate) live: Option<Arc<LiveQuestions>>,
    pub(super) stored: StoredMark,
    /// Whether any task has asked. Most runs ask nothing, and then the lock is not taken.
    pub(super) asked: AtomicBool,
    /// Whether the superstep is not to be committed here, because other processes run some of its tasks.
    pub(super) held: AtomicBool,
    /// Whether there may be records of the superstep's tasks. In most supersteps there are none, and then the barrier does
    /// not take the lock.
    pub(super) has_records: AtomicBool,
    /// By key, the last message that a task has got. Locked while a task looks for the next one: each message is for one task.
    pub(super) given: tokio::sync::Mutex<HashMap<String, Given>>,
    inner: Mutex<Inner>,
}

/// The task of a flow that runs a sub-flow.
#[derive(Clone)]
pub(crate) struct ParentTask {
    pub(crate) services: Arc<TaskServices>,
    pub(crate) id: TaskId,
    pub(crate) node: NodeIdx,
    /// The index of the task among those of the node.
    pub(crate) index: Option<usize>,
}

/// A request from a task to the driver.
pub(crate) enum DriverRequest {
    /// Write the barrier that the superstep began from to the store.
    Flush,
    /// Store the questions that were asked, and tell them.
    Tell,
    /// Record the answers that the run was given.
    Answers,
    /// End the run, because the thread cannot be written to: the problem and its source. Boxed, because it is rare.
    Abort(Box<(String, BoxError)>),
}

#[derive(Default)]
pub(super) struct Inner {
    /// The encoded results of effects that the superstep's tasks have run.
    pub(super) effects: HashMap<(TaskId, String), Vec<u8>>,
    /// The encoded writes that count if the task does not finish, by the id of the key.
    pub(super) unfinished: HashMap<(TaskId, String), Vec<u8>>,
    /// Records of the tasks that run this flow, which are stored with the next checkpoint of this flow.
    pub(super) for_callers: Vec<CallerRecord>,
    /// When the sleeps of the superstep's tasks end, in milliseconds since 1970 (UTC).
    pub(super) sleeps: HashMap<TaskId, u64>,
    /// What the superstep's tasks have received, or wait to receive.
    pub(super) receives: HashMap<TaskId, Receipt>,
    /// Those of which the record may not be in the store.
    pub(super) unstored_receives: HashSet<TaskId>,
    /// Completes when a message has arrived for which a task waits. Made when a task waits while others run.
    pub(super) arrival: Option<BoxFuture<'static, ()>>,
    /// The threads that the superstep's tasks have started.
    pub(super) children: HashSet<TaskId>,
    /// Fires when the first of the tasks that sleep wakes. Made when a task sleeps while others run.
    pub(super) timer: Option<Pin<Box<Sleep>>>,
    /// Questions that the superstep has asked before: in an earlier run, or before their task ran again.
    pub(super) asked_before: HashMap<InterruptId, Interrupt>,
    /// The names that each attempt has used: names must not repeat.
    pub(super) used_names: HashSet<(TaskId, u32, String)>,
    /// The requests to models.
    pub(super) requests_made: RequestsMade,
    /// In a replay, the effects in which a request was made: they give their recorded results.
    #[cfg(feature = "engine")]
    pub(super) asked_within: HashSet<(TaskId, String)>,
    /// The questions without an answer, by the task that waits.
    pub(super) questions: HashMap<TaskId, TaskQuestions>,
    /// Wakes the future that runs a task.
    pub(super) tasks: HashMap<TaskId, Waker>,
    requests: Requests,
    /// The tasks that have got an answer, or whose sub-flows have.
    pub(super) answered: HashSet<TaskId>,
    /// The effects of `once` that have not ended.
    pub(super) in_flight: EffectsInFlight,
    /// Wakes the driver.
    pub(super) driver: Option<Waker>,
    /// Wakes the tasks that wait for the barrier.
    pub(super) flushing: Vec<Waker>,
}

impl TaskServices {
    /// Returns the next request to the driver.
    pub(crate) fn poll_request(&self, cx: &mut Context<'_>) -> Poll<DriverRequest> {
        let mut inner = self.lock();
        if let Some(request) = inner.requests.take() {
            return Poll::Ready(request);
        }
        inner.driver = Some(cx.waker().clone());
        drop(inner);
        match &self.live {
            Some(live) => live.poll_given(cx).map(|()| DriverRequest::Answers),
            None => Poll::Pending,
        }
    }

    /// The origin of the frontier that a superstep runs: the number of the barrier at which it was planned. Task ids contain
    /// it.
    pub(crate) fn origin(&self, superstep: u64) -> u64 {
        superstep.wrapping_add(self.offset).wrapping_sub(1)
    }

    pub(crate) fn new(
        storage: ThreadStorage,
        (durability, retention): (Durability, Retention),
        namespace: Namespace,
        offset: u64,
        answers: Arc<AnswerBook>,
        stored: StoredMark,
    ) -> Self {
        TaskServices {
            storage,
            durability,
            retention,
            namespace,
            ty: None,
            parent: None,
            offset,
            answers,
            live: None,
            stored,
            asked: AtomicBool::new(false),
            held: AtomicBool::new(false),
            has_records: AtomicBool::new(false),
            given: tokio::sync::Mutex::default(),
            inner: Mutex::default(),
        }
    }

    /// Loads the records that an earlier run of the superstep has left.
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
                Some(WriteName::Sleep(id)) => {
                    let end = unpack(&write.bytes, Unpack::number)?;
                    inner.sleeps.insert(id, end);
                }
                Some(WriteName::Receive(id)) => {
                    inner.receives.insert(id, Receipt::decode(&write.bytes)?);
                }
                Some(WriteName::Child(id)) => {
                    inner.children.insert(id);
                }
                Some(WriteName::Request(number)) => inner.requests_made.restore(write, number),
                Some(WriteName::Ask(id)) => {
                    let interrupt = Interrupt::decode(&write.bytes)?;
                    inner.asked_before.insert(InterruptId(id), interrupt);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Forgets the records of the superstep's tasks. The superstep is committed, so none of its tasks runs again. Returns by key the last
    /// message that they have received.
    pub(crate) fn forget_tasks(&self) -> BTreeMap<String, u64> {
        let mut received = BTreeMap::new();
        // Read first: no task runs at a barrier, and an exchange takes longer than the rest of this.
        if self.has_records.load(Ordering::Acquire) {
            self.has_records.store(false, Ordering::Release);
            let mut inner = self.lock();
            inner.effects.clear();
            inner.unfinished.clear();
            inner.sleeps.clear();
            received = last_received(&inner.receives);
            inner.receives.clear();
            inner.unstored_receives.clear();
            inner.children.clear();
            inner.asked_before.clear();
            inner.used_names.clear();
            inner.requests_made.clear();
            inner.answered.clear();
        }
        received
    }

    /// Each attempt may use a name once: a second use would get the result of the first.
    pub(super) fn reserve(
        &self,
        task: &TaskRef<'_>,
        method: &str,
        name: &str,
        advice: impl FnOnce() -> String,
    ) -> Result<(), BoxError> {
        check_name(task.node, method, name)?;
        self.has_records.store(true, Ordering::Release);
        let used = (task.id, task.attempt, format!("{method}/{name}"));
        if self.lock().used_names.insert(used) {
            return Ok(());
        }
        Err(used_twice(task.node, method, name, &advice()))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing under this lock can panic.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What tasks have requested and the driver has not served.
#[derive(Default)]
struct Requests {
    abort: Option<Box<(String, BoxError)>>,
    flush: bool,
    tell: bool,
}

impl Requests {
    fn add(&mut self, request: DriverRequest) {
        match request {
            DriverRequest::Abort(problem) => self.abort = Some(problem),
            DriverRequest::Flush => self.flush = true,
            DriverRequest::Tell => self.tell = true,
            // Callers give them, not tasks.
            DriverRequest::Answers => {}
        }
    }

    /// The next one. That which ends the run comes first.
    fn take(&mut self) -> Option<DriverRequest> {
        if let Some(problem) = self.abort.take() {
            return Some(DriverRequest::Abort(problem));
        }
        if std::mem::take(&mut self.flush) {
            return Some(DriverRequest::Flush);
        }
        std::mem::take(&mut self.tell).then_some(DriverRequest::Tell)
    }
}

impl Inner {
    pub(super) fn request(&mut self, request: DriverRequest) {
        self.requests.add(request);
        if let Some(driver) = self.driver.take() {
            driver.wake();
        }
    }
}
