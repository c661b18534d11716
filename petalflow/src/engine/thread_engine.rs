//! A flow whose threads an engine keeps.

use std::marker::PhantomData;
use std::sync::Arc;

use super::batch::TaskRequest;
use super::erased::AnyEngine;
use super::pass::Pass;
use super::pass_store::PassStore;
use super::record_changes::RecordChanges;
use super::records::ThreadRecords;
use super::records_error::RecordsError;
use super::replay::{ContinuedReplay, Replayed};
use crate::flow::Flow;
use crate::ids::TaskId;
use crate::interrupt::Resume;
use crate::launch::Launch;
use crate::outcome::{RunError, ThreadError};
use crate::state::{InputOf, State, Storable};
use crate::thread::{Retention, Thread, ThreadFile};

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
    pub(super) any: AnyEngine,
    flow: PhantomData<fn() -> F>,
}

impl<F: Flow> std::fmt::Debug for ThreadEngine<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.any.fmt(f)
    }
}

impl<F: Flow> Clone for ThreadEngine<F> {
    fn clone(&self) -> Self {
        ThreadEngine {
            any: self.any.clone(),
            flow: PhantomData,
        }
    }
}

impl<F: Flow<State: Storable>> ThreadEngine<F> {
    /// The threads of a flow, with the settings of the launch. Its limit of supersteps counts from each input and each answer, as
    /// with a store. Its timeout for a run is that of one pass. Nodes with `remote` in `with` are [placed](Self::place) on its pool.
    pub fn new(launch: Launch<F>) -> Self {
        let (flow, settings) = launch.into_any();
        ThreadEngine {
            any: AnyEngine::new(flow, settings),
            flow: PhantomData,
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
        self.any.place(node.into(), pool.into())?;
        Ok(self)
    }

    /// Sets which checkpoints of a thread remain. The default is all.
    #[must_use]
    pub fn retention(mut self, retention: Retention) -> Self {
        self.any.retention = retention;
        self
    }

    /// Sets the name by which the threads of other flows reach those of this one: see [`EngineThreads`](super::EngineThreads). It has no
    /// `/`. Without it, a node that waits for a thread that it has started learns of its end when it looks again.
    #[must_use]
    pub fn reached_as(mut self, name: impl Into<Arc<str>>) -> Self {
        self.any.name = Some(name.into());
        self
    }

    /// The name of the flow.
    pub fn name(&self) -> &str {
        self.any.flow.name()
    }

    /// The name of the flow in storage: that of `#[flow(id = "..")]`, or its name.
    pub fn stored_name(&self) -> &str {
        self.any.flow.stored_name()
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
        let input: <F::State as State>::Input = input.into();
        self.any.begin(thread, records, Box::new(input)).await
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
        self.any.resume(thread, records, with.into().any).await
    }

    /// Reads or changes a thread with all that [`Thread`] can do, without running a node: a run in `work` ends with
    /// [`Drained`](crate::run::RunErrorKind::Drained) when it has stored what it begins with. Returns the result of `work` and what has changed.
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
        let (store, thread) = self.any.edited(thread, records)?;
        let done = work(Thread::typed(thread)).await;
        Ok((done, self.any.changes(store).await?))
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
        let done = work(Thread::typed(self.any.unstarted(&store, thread))).await;
        Ok((done, store.records_of(other)))
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
        let requested = requested.into_iter().collect();
        self.any.advance(thread, records, used, requested)
    }

    /// Commits a superstep whose requested tasks have all ended, and plans the one after it. It fails if the result of one of them cannot
    /// be used, because another version of the program has made it: requesting it again would not end.
    ///
    /// # Panics
    ///
    /// Outside of a runtime of tokio.
    pub fn commit(&self, thread: &str, records: ThreadRecords, used: u64) -> Pass {
        self.any.commit(thread, records, used)
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
        self.any.requests(thread, records, used).await
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
        self.any.records_for(records, request)
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
        self.any.run_task(thread, records, used, task)
    }

    /// Replays a stored thread with this program, and compares. The tasks of nodes for which `runs` returns true, by their names, run: they
    /// get the results of their effects from the file, and an effect that is not in it does not run. All others give their recorded
    /// results. So nothing is called that was not named.
    ///
    /// Each superstep begins with what was stored, so a difference in one does not lead to others in the next.
    ///
    /// For tests, `Replay` in `petalflow-testing` says this in one line.
    ///
    /// ```
    /// use petalflow::Launch;
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::engine::ThreadEngine;
    /// use petalflow::prelude::*;
    /// use petalflow::thread::Retention;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("petals".into()) }
    /// # flow!(Write(Essay) { write });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let threads = Write::new().store(&InMemoryStore::new()).retention(Retention::ALL.with_results());
    /// threads.thread("ann").run(()).await?.into_finished()?;
    /// let file = threads.thread("ann").export().await?;
    ///
    /// let replayed = ThreadEngine::new(Launch::new(Write)).replay(&file, |node| node == "write").await?;
    /// assert!(replayed.differences.is_empty());
    /// assert_eq!((replayed.supersteps, replayed.ran), (1, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the file has no checkpoint, or a checkpoint of it is damaged. That the program cannot read the thread is a difference.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the nodes that run. The file does not change.
    pub async fn replay(
        &self,
        file: &ThreadFile,
        runs: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Result<Replayed, ThreadError> {
        Box::pin(self.any.replay(file, Arc::new(runs), false)).await
    }

    /// As [`replay`](Self::replay), and compares requests to models: each task that has asked a model runs as far as its request
    /// ([`Context::note_request`](crate::Context::note_request)), and then gives its recorded result. The model is not called.
    ///
    /// What makes the request runs: the code of the node before the call, such as the instruction functions and the callbacks of an agent,
    /// and the sources of its tools. A node that runs a sub-flow itself, as an agent that calls another agent, runs as far as that.
    ///
    /// # Errors
    ///
    /// As [`replay`](Self::replay).
    ///
    /// # Cancel safety
    ///
    /// As [`replay`](Self::replay).
    pub async fn replay_requests(
        &self,
        file: &ThreadFile,
        runs: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Result<Replayed, ThreadError> {
        Box::pin(self.any.replay(file, Arc::new(runs), true)).await
    }

    /// Runs a stored thread on from a superstep, to the end of its turn: nodes for which `runs` returns true really run, as often as the turn
    /// comes to them. All others give their recorded results, where the thread had the same task with the same item at the same place; the
    /// turn stops at one that has none. So nothing is called that was not named. The numbers are those of a
    /// [difference](super::Difference::superstep): the turn and the superstep, from 1. The node of a sub-flow has the names that lead to it:
    /// `review/write`.
    ///
    /// So a changed program or another model is compared from the place at which it matters.
    ///
    /// ```
    /// use petalflow::Launch;
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::engine::ThreadEngine;
    /// use petalflow::prelude::*;
    /// use petalflow::thread::Retention;
    /// # #[state]
    /// # struct Essay { #[key(default)] topic: String, #[key(append)] lines: Vec<String> }
    /// # #[node(Essay)]
    /// # async fn plan() -> EssayTopic { EssayTopic("petals".into()) }
    /// # #[node(Essay)]
    /// # async fn write(topic: &str) -> EssayLines { EssayLines(vec![format!("on {topic}")]) }
    /// # flow!(Write(Essay) { plan -> write });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let threads = Write::new().store(&InMemoryStore::new()).retention(Retention::ALL.with_results());
    /// threads.thread("ann").run(()).await?.into_finished()?;
    /// let file = threads.thread("ann").export().await?;
    ///
    /// let engine = ThreadEngine::new(Launch::new(Write));
    /// let replay = engine.replay_from(&file, (1, 2), |node| node == "write").await?;
    /// assert_eq!((replay.ran, replay.supersteps, replay.stopped), (1, 1, None));
    /// let (found, _) = engine.edit("ann", &replay.found, async |thread| thread.snapshot().await).await?;
    /// assert_eq!(found?.expect("it exists").state.lines, ["on petals"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the file is of another flow, has no such superstep, or a checkpoint of it is damaged.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the nodes that run. The file does not change.
    pub async fn replay_from(
        &self,
        file: &ThreadFile,
        superstep: (u64, u64),
        runs: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Result<ContinuedReplay, ThreadError> {
        Box::pin(self.any.replay_from(file, superstep, Arc::new(runs))).await
    }
}
