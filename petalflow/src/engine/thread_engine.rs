//! A flow whose threads an engine keeps.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tokio::sync::mpsc;

use super::batch::TaskRequest;
use super::law::Law;
use super::pass::{Pass, settle};
use super::pass_store::PassStore;
use super::placement::{LeaveAll, LeavePlaced, RunOnly};
use super::record_changes::RecordChanges;
use super::records::ThreadRecords;
use super::records_error::RecordsError;
use super::stream::{Publisher, Role};
use crate::checkpoint::{StoredCheckpoint, StoredWrite, ThreadStatus, ThreadStorage};
use crate::durable::{Fingerprint, has_result, reads_result, slice};
use crate::erased::StateType;
use crate::flow::Flow;
use crate::ids::TaskId;
use crate::interrupt::Resume;
use crate::launch::Launch;
use crate::middleware::AnyMiddleware;
use crate::outcome::{RunError, RunErrorKind, ThreadError};
use crate::state::{InputOf, KeyFlag, State, Storable};
use crate::thread::{Retention, Thread, Threads};

/// A flow whose threads an engine keeps: the engine has the [records](ThreadRecords) of a thread, and executes one superstep at a
/// time.
///
/// The laws, which the kit `petalflow_testing::driver_contract` tests:
///
/// * The checkpoints are those of the same flow on a thread in a store, byte for byte.
/// * A pass makes at most one checkpoint of the thread's own flow.
/// * A pass commits, requests, waits or fails. One that would do none of these fails, and says why.
/// * Of a pass that is dropped or lost, what was recorded of its batches counts. The same pass over these records goes on from
///   there: tasks that have a result do not run again, and effects of `once` that have a record do not run again.
/// * The result of a task does not depend on the process that runs it.
///
/// ```
/// use petalflow::engine::{ThreadEngine, ThreadRecords};
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Essay {
///     #[key(input)]
///     topic: String,
///     draft: String,
///     length: usize,
/// }
///
/// #[node(Essay)]
/// async fn write(topic: &str) -> EssayDraft {
///     EssayDraft(format!("On {topic}"))
/// }
///
/// #[node(Essay)]
/// async fn measure(draft: &str) -> EssayLength {
///     EssayLength(draft.len())
/// }
///
/// flow!(WriteEssay(Essay) { write -> measure });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let engine = ThreadEngine::new(WriteEssay::new());
/// let mut records = ThreadRecords::default();
/// records.apply(&engine.begin("ann", &records, "petals".to_string()).await?);
/// for superstep in 0.. {
///     let mut pass = engine.advance("ann", records.clone(), superstep, []);
///     let batch = pass.next().await.expect("it ends");
///     records.apply(&batch.changes); // The engine writes them down.
///     if !batch.end.expect("no task has written a record").continues() {
///         break;
///     }
/// }
/// let (essay, _) = engine.edit("ann", &records, async |thread| thread.snapshot().await).await?;
/// assert_eq!(essay?.expect("it exists").state.length, 9);
/// # Ok(())
/// # }
/// ```
pub struct ThreadEngine<F: Flow> {
    launch: Launch<F>,
    placed: Arc<BTreeMap<String, String>>,
    retention: Retention,
    /// How many events of a thread are logged at least.
    pub(super) logs: Option<u64>,
    pub(super) publisher: Option<Arc<Publisher>>,
}

impl_debug!([F: Flow] ThreadEngine<F>, |this| launch = this.launch, placed = this.placed);

impl<F: Flow> Clone for ThreadEngine<F> {
    fn clone(&self) -> Self {
        ThreadEngine {
            launch: self.launch.clone(),
            placed: Arc::clone(&self.placed),
            retention: self.retention,
            logs: self.logs,
            publisher: self.publisher.clone(),
        }
    }
}

impl<F: Flow<State: Storable>> ThreadEngine<F> {
    /// The threads of a flow, with the settings of the launch. Its limit of supersteps counts from each input and each answer, as
    /// with a store. Its timeout for a run is that of one pass. Nodes with `remote` in `with` are [placed](Self::place) on its pool.
    pub fn new(launch: Launch<F>) -> Self {
        let plan = launch.flow().plan();
        let nodes = plan.graph().nodes().iter().zip(&plan.policies);
        let placed = nodes
            .filter_map(|(node, policy)| Some((node.name.to_string(), policy.remote?.to_string())));
        ThreadEngine {
            placed: Arc::new(placed.collect()),
            launch,
            retention: Retention::ALL,
            logs: None,
            publisher: None,
        }
    }

    /// Leaves the tasks of a node to the processes of a pool: [`advance`](Self::advance) requests them in place of running them.
    /// This replaces a `remote` in the flow.
    ///
    /// # Errors
    ///
    /// The flow has no such node. The nodes of a sub-flow are placed with the node that runs it.
    pub fn place(
        mut self,
        node: impl Into<String>,
        pool: impl Into<String>,
    ) -> Result<Self, ThreadError> {
        let node = node.into();
        let plan = self.launch.flow().plan();
        if plan.index_of(&node).is_none() {
            let nodes: Vec<&str> = plan
                .graph()
                .nodes()
                .iter()
                .map(|node| &*node.name)
                .collect();
            let nodes = nodes.join("`, `");
            return Err(ThreadError::Request(format!(
                "the node `{node}` cannot be placed, because the flow does not have it: its nodes are `{nodes}`; place a node inside a sub-flow with the node that runs the sub-flow"
            )));
        }
        Arc::make_mut(&mut self.placed).insert(node, pool.into());
        Ok(self)
    }

    /// Sets which checkpoints of a thread remain. The default is all.
    #[must_use]
    pub fn retention(mut self, retention: Retention) -> Self {
        self.retention = retention;
        self
    }

    /// The name of the flow.
    pub fn name(&self) -> &str {
        self.launch.flow().name()
    }

    /// The name of the flow in storage: that of `#[flow(id = "..")]`, or its name.
    pub fn stored_name(&self) -> &str {
        self.launch.flow().stored_name()
    }

    /// Begins a thread with an input, or another turn of a thread that has ended. No node runs.
    ///
    /// # Errors
    ///
    /// The thread waits for a person, or its records cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn begin(
        &self,
        thread: &str,
        records: &ThreadRecords,
        input: impl InputOf<F::State>,
    ) -> Result<RecordChanges, RunError> {
        let run = self.edit(thread, records, async move |thread| thread.run(input).await);
        self.stored(run.await)
    }

    /// Resumes a thread with answers or decisions, without them after a failure, or at another node. No node runs.
    ///
    /// # Errors
    ///
    /// The answers do not fit what the thread waits for, or its records cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn resume(
        &self,
        thread: &str,
        records: &ThreadRecords,
        with: impl Into<Resume<F::State>>,
    ) -> Result<RecordChanges, RunError> {
        let with = with.into();
        let run = self.edit(thread, records, async move |thread| {
            thread.resume(with).await
        });
        self.stored(run.await)
    }

    /// Reads or changes a thread with all that [`Thread`] can do, without running a node: a run in `work` ends with
    /// [`Drained`](RunErrorKind::Drained) when it has stored what it begins with. Returns the result of `work` and what has changed.
    ///
    /// # Errors
    ///
    /// The records cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn edit<T>(
        &self,
        thread: &str,
        records: &ThreadRecords,
        work: impl AsyncFnOnce(Thread<F>) -> T,
    ) -> Result<(T, RecordChanges), RecordsError> {
        let store = PassStore::new(thread, records.clone(), None)?;
        store.token().drain();
        let done = work(self.edited(thread, &store)).await;
        if store.records().status()?.0 == ThreadStatus::Stopped {
            let running = ThreadStatus::Running;
            store
                .set_status(self.launch.flow().stored_name(), running)
                .await?;
        }
        Ok((done, store.changes()))
    }

    /// Calls `work`, which makes another thread with [`copy_to`](Thread::copy_to) or [`fork_to`](Thread::fork_to). Returns its result
    /// and the records of the other thread, which are empty if it was not made. This thread does not change.
    ///
    /// ```
    /// use petalflow::engine::{ThreadEngine, ThreadRecords};
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("petals".into()) }
    /// # flow!(Write(Essay) { write });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let engine = ThreadEngine::new(Write::new());
    /// let mut records = ThreadRecords::default();
    /// records.apply(&engine.begin("ann", &records, ()).await?);
    /// let copies = engine.make("ann", &records, "bob", async |ann| ann.copy_to("bob").await.map(drop));
    /// let (copied, of_bob) = copies.await?;
    /// copied?;
    /// assert!(!of_bob.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The records cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn make<T>(
        &self,
        thread: &str,
        records: &ThreadRecords,
        other: &str,
        work: impl AsyncFnOnce(Thread<F>) -> T,
    ) -> Result<(T, ThreadRecords), RecordsError> {
        let store = PassStore::new(thread, records.clone(), None)?;
        let done = work(self.edited(thread, &store)).await;
        Ok((done, store.records_of(other)))
    }

    /// The changes of a run that has stored what it begins with.
    fn stored<T>(
        &self,
        ran: Result<(Result<T, RunError>, RecordChanges), RecordsError>,
    ) -> Result<RecordChanges, RunError> {
        let (outcome, changes) = ran.map_err(|error| self.refused(error))?;
        match outcome {
            Err(error)
                if !matches!(
                    error.kind(),
                    RunErrorKind::Drained { .. } | RunErrorKind::Rejected { .. }
                ) =>
            {
                Err(error)
            }
            _ => Ok(changes),
        }
    }

    fn refused(&self, error: RecordsError) -> RunError {
        let error = ThreadError::Request(error.to_string());
        RunError::of_thread(error, self.launch.flow().name())
    }

    /// Executes the next superstep: runs its tasks, commits it, and plans the one after it. `used` is how many supersteps were
    /// executed since the last input or answer. The tasks in `requested` were requested by an earlier pass and have no result yet:
    /// they are left out and not requested again.
    ///
    /// If a task was requested or left out, the superstep is not committed: the caller adds the [results](Self::run_task) to the
    /// records, and [commits](Self::commit) it.
    ///
    /// # Panics
    ///
    /// Outside of a runtime of tokio.
    pub fn advance(
        &self,
        thread: &str,
        records: ThreadRecords,
        used: u64,
        requested: impl IntoIterator<Item = TaskId>,
    ) -> Pass {
        let requested: HashSet<TaskId> = requested.into_iter().collect();
        let waits = !requested.is_empty();
        let law = Law::Tasks { waits };
        self.superstep((thread, records, used), law, Some(requested))
    }

    /// Commits a superstep whose requested tasks have all ended, and plans the one after it. It fails if the result of one of them cannot
    /// be used, because another version of the program has made it: requesting it again would not end.
    ///
    /// # Panics
    ///
    /// Outside of a runtime of tokio.
    pub fn commit(&self, thread: &str, records: ThreadRecords, used: u64) -> Pass {
        self.superstep((thread, records, used), Law::Commit, None)
    }

    fn superstep(
        &self,
        of: (&str, ThreadRecords, u64),
        law: Law,
        requested: Option<HashSet<TaskId>>,
    ) -> Pass {
        let placed = Arc::clone(&self.placed);
        self.pass(of, law, move |store| {
            (!placed.is_empty()).then(|| {
                Arc::new(LeavePlaced {
                    placed,
                    requested,
                    store: store.clone(),
                }) as _
            })
        })
    }

    /// What [`advance`](Self::advance) would request, if that is all that it would do: every task of the next superstep that has no
    /// result is placed, and no person has to decide first. `None` if not. Nothing runs and nothing is recorded, so a caller whose
    /// code is replayed needs no journal for it. With a [cache](Launch::cache) this is always `None`, because a cache can change.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    pub async fn requests(
        &self,
        thread: &str,
        records: &ThreadRecords,
        used: u64,
    ) -> Option<Vec<TaskRequest>> {
        if self.placed.is_empty() || self.launch.has_cache() {
            return None;
        }
        let store = PassStore::new(thread, records.clone(), None).ok()?;
        let has_others = Arc::new(AtomicBool::new(false));
        let outermost = LeaveAll {
            placed: Arc::clone(&self.placed),
            store: store.clone(),
            has_others: Arc::clone(&has_others),
        };
        let launch = self.launch.clone().after(used, Some(Arc::new(outermost)));
        let thread = self.threads(&store, launch).thread(thread);
        let error = thread.resume(()).await.err()?;
        let drained = matches!(error.kind(), RunErrorKind::Drained { .. });
        settle(&store, self.launch.flow().stored_name(), Some(error))
            .await
            .ok()?;
        let batch = store.batch(None);
        let only = drained && batch.changes.is_empty() && !has_others.load(Ordering::Relaxed);
        (only && !batch.requests.is_empty()).then_some(batch.requests)
    }

    /// What a requested task needs to run: [`ThreadRecords::for_task`], with the keys of the state that its node reads and those that
    /// have no default. With all keys if the node may read the whole state, if [middleware](Launch::middleware) or an interrupt of the
    /// flow may, or if another program wrote the checkpoint. Without a result of the task that this program cannot use, so that the task
    /// runs again.
    ///
    /// ```
    /// use petalflow::engine::{ThreadEngine, ThreadRecords};
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { #[key(input)] topic: String, draft: String }
    /// # #[node(Essay)]
    /// # async fn write(topic: &str) -> EssayDraft { EssayDraft(topic.into()) }
    /// # flow!(Write(Essay) { write });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let engine = ThreadEngine::new(Write::new()).place("write", "writers")?;
    /// let mut records = ThreadRecords::default();
    /// records.apply(&engine.begin("ann", &records, "petals".to_string()).await?);
    /// let requests = engine.requests("ann", &records, 0).await.expect("the node is placed");
    /// let needed = engine.records_for(&records, &requests[0]);
    /// let batch = engine.run_task("ann", needed, 0, requests[0].task).next().await.expect("it ends");
    /// assert!(batch.end.is_some());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn records_for(&self, records: &ThreadRecords, request: &TaskRequest) -> ThreadRecords {
        let mut needed = records.for_task(request.task);
        if let Some((key, result)) = needed.result_of(request.task)
            && !self.reads_result(&needed, request, &result)
        {
            needed.set(key, None);
        }
        match self.slice(&needed, &request.node) {
            Some(checkpoint) => needed.with_checkpoint(&checkpoint),
            None => needed,
        }
    }

    /// Whether this program can use the result of a task.
    fn reads_result(
        &self,
        records: &ThreadRecords,
        request: &TaskRequest,
        result: &StoredWrite,
    ) -> bool {
        let chain = records.chain();
        chain.is_ok_and(|chain| reads_result(self.launch.flow(), &chain, &request.node, result))
    }

    /// The newest checkpoint with the keys that the node needs.
    fn slice(&self, records: &ThreadRecords, node: &str) -> Option<StoredCheckpoint> {
        let flow = self.launch.flow();
        let plan = flow.plan();
        if self.launch.has_middleware() || !plan.interrupt_points.is_empty() {
            return None;
        }
        let reads = plan.reads(plan.index_of(node)?)?;
        let keys = F::State::KEYS.iter().enumerate();
        let needed =
            keys.filter(|(index, key)| reads.contains(*index) || key.has(KeyFlag::Required));
        let needed: Vec<&str> = needed.map(|(_, key)| key.id).collect();
        let program = Fingerprint::of(StateType::of::<F::State>(), flow.stored_name(), &plan);
        slice(&records.chain().ok()?, &program, &needed)
    }

    /// Runs one task of the next superstep, in any process. The pass makes its result, or its questions, and the records of its
    /// effects; it does not commit the superstep.
    ///
    /// ```
    /// use petalflow::engine::{ThreadEngine, ThreadRecords};
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("petals".into()) }
    /// # flow!(Write(Essay) { write });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let engine = ThreadEngine::new(Write::new()).place("write", "writers")?;
    /// let mut records = ThreadRecords::default();
    /// records.apply(&engine.begin("ann", &records, ()).await?);
    /// let batch = engine.advance("ann", records.clone(), 0, []).next().await.expect("it ends");
    /// let task = batch.requests[0].task;
    /// assert_eq!(engine.requests("ann", &records, 0).await, Some(batch.requests));
    ///
    /// // In another process:
    /// let mut pass = engine.run_task("ann", records.for_task(task), 0, task);
    /// while let Some(batch) = pass.next().await {
    ///     records.apply_task(&batch.of_task().changes)?;
    /// }
    /// let batch = engine.advance("ann", records.clone(), 0, []).next().await.expect("it ends");
    /// assert!(batch.end.is_some_and(|end| end.committed));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Outside of a runtime of tokio.
    pub fn run_task(&self, thread: &str, records: ThreadRecords, used: u64, task: TaskId) -> Pass {
        self.pass((thread, records, used), Law::Task(task), move |store| {
            let store = store.clone();
            Some(Arc::new(RunOnly { task, store }) as _)
        })
    }

    fn pass(
        &self,
        (thread, records, used): (&str, ThreadRecords, u64),
        law: Law,
        outermost: impl FnOnce(&PassStore) -> Option<Arc<dyn AnyMiddleware>> + Send + 'static,
    ) -> Pass {
        let (sender, batches) = mpsc::unbounded_channel();
        let (engine, thread, to) = (self.clone(), thread.to_string(), sender.clone());
        let task = match law {
            Law::Task(task) => Some(task),
            Law::Tasks { .. } | Law::Commit => None,
        };
        let heartbeats = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&heartbeats);
        let events = self.pass_events(&thread, &records, used, task, &self.placed);
        let role = Role::of(task, &self.placed);
        let prepared = async move {
            let store = PassStore::counting(&thread, records, Some(to), counted)?;
            if let Some(task) = task
                && engine.has_result(&thread, &store, task).await
            {
                // A run over these records could commit the superstep.
                return Ok(None);
            }
            let launch = engine.launch.clone().after(used, outermost(&store));
            let threads = engine.logging_part(engine.threads(&store, launch), role);
            let mut run = threads.thread(&thread).resume(());
            if let Some(events) = events {
                run = run.send_events_to(events);
            }
            let run: super::pass::BoxedRun<F::State> = Box::pin(run);
            Ok(Some((store, run)))
        };
        Pass::start(
            self.launch.flow().stored_name().into(),
            law,
            heartbeats,
            prepared,
            self.publisher.clone(),
            sender,
            batches,
        )
    }

    /// Whether the task has a result that this program can read. What cannot be read at all is an error of the run.
    async fn has_result(&self, thread: &str, store: &PassStore, task: TaskId) -> bool {
        let flow = self.launch.flow();
        let name = flow.stored_name().into();
        let storage = ThreadStorage::new(Arc::new(store.clone()), thread.into(), name);
        has_result(flow, &storage, task).await.unwrap_or(false)
    }

    /// The thread, to read it, or to change it without running a node.
    fn edited(&self, thread: &str, store: &PassStore) -> Thread<F> {
        let threads = self.threads(store, self.launch.clone());
        self.logging_start(threads).thread(thread)
    }

    fn threads(&self, store: &PassStore, launch: Launch<F>) -> Threads<F> {
        let threads = launch.cancel_with(store.token()).store(store);
        threads.retention(self.retention)
    }
}
