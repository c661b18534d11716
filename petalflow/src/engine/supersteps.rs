//! A run that is rebuilt from the results of its tasks.

use std::sync::Arc;

use crate::durable::ResultCodec;
use crate::error::{Panicked, catch, catch_panic};
use crate::event::TaskInfo;
use crate::exec::SteppedRun;
use crate::flow::Flow;
use crate::launch::Launch;
use crate::outcome::{RunError, ThreadError};
use crate::state::{InputOf, Storable};

/// A run between two supersteps, which its caller drives. See the [module](super).
///
/// Of the settings of the launch, managed values, middleware around nodes, the cache, `continue_on_error` and the limit of
/// supersteps apply. Retries and timeouts of nodes apply inside [`run`](Self::run). Timeouts of runs, run middleware and
/// stores are the business of the caller. A node cannot ask a person.
pub struct Supersteps<F: Flow> {
    run: SteppedRun<F>,
    codec: ResultCodec<F::State>,
    /// A panic that may have left the state half-changed. Then the run cannot continue.
    panicked: Option<Panicked>,
}

impl_debug!([F: Flow] Supersteps<F>, |this| flow = this.run.flow.name(), superstep = this.run.scope.superstep);

impl<F: Flow<State: Storable>> Supersteps<F> {
    /// Plans the first superstep of a run. The ids of its tasks are made from the name `run`, so they are the same in every
    /// process that begins the run with this name.
    ///
    /// # Errors
    ///
    /// A node takes a managed value that the launch does not have; the flow stops at an `interrupt`; the limit is 0.
    pub fn begin(
        launch: Launch<F>,
        run: &str,
        input: impl InputOf<F::State>,
    ) -> Result<Self, RunError> {
        let (flow, mut settings) = launch.into_parts();
        settings.thread = Some(run.into());
        let codec = ResultCodec::new(flow.name(), &flow.plan())
            .map_err(|error| RunError::of_thread(error, flow.name()))?;
        let begun = catch(|| SteppedRun::begin(Arc::clone(&flow), settings, input.into()));
        let run = begun.map_err(|panicked| RunError::panicked(panicked, flow.name(), 0))??;
        Ok(Supersteps {
            run,
            codec,
            panicked: None,
        })
    }

    /// The number of supersteps that were committed.
    pub fn superstep(&self) -> u64 {
        self.run.scope.superstep
    }

    /// The state at the last barrier.
    pub fn state(&self) -> &F::State {
        &self.run.state
    }

    /// Returns the state at the last barrier.
    pub fn into_state(self) -> F::State {
        self.run.state
    }

    /// Whether no task is left.
    pub fn is_finished(&self) -> bool {
        self.run.frontier.is_empty()
    }

    /// The tasks of the next superstep, in the order in which their writes fold.
    pub fn tasks(&self) -> impl ExactSizeIterator<Item = TaskInfo> {
        let tasks = self.run.tasks().into_iter();
        tasks.map(|task| task.scope.task_info())
    }

    /// Runs a task of the next superstep, given by its index in [`tasks`](Self::tasks), and returns its result. This does not
    /// change the run, so tasks can run concurrently, in any process, and more than once.
    ///
    /// # Errors
    ///
    /// The node failed for good, and no `catch` edge leads from it; or its result has no form in bytes. The task can be run
    /// again.
    ///
    /// # Panics
    ///
    /// If there is no such task.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the node's future is dropped too. The task can be run again.
    pub async fn run(&self, task: usize) -> Result<Vec<u8>, RunError> {
        self.check_state()?;
        let ran = catch_panic(async {
            let task = self.run.run(task).await?;
            let saved = self.codec.save(&task.result());
            saved.map_err(|error| self.of_thread(error))
        });
        ran.await.map_err(|panicked| self.panicked(panicked))?
    }

    /// Commits the next superstep: folds the writes of its tasks into the state, and plans the superstep after it. There is
    /// one result for each task, in the order of [`tasks`](Self::tasks).
    ///
    /// # Errors
    ///
    /// The number of results differs from that of the tasks, or a result cannot be read; a write is refused; a join can never
    /// complete; the limit of supersteps is reached; a reducer panics. The run cannot continue after the last four.
    pub fn commit<R: AsRef<[u8]>>(&mut self, results: &[R]) -> Result<(), RunError> {
        self.check_state()?;
        let tasks = self.run.frontier.len();
        if results.len() != tasks {
            return Err(self.of_thread(ThreadError::Request(format!(
                "superstep {} has {tasks} tasks, but {} results were given; give one for each task",
                self.superstep() + 1,
                results.len()
            ))));
        }
        let committed = catch(|| {
            let mut finished = Vec::new();
            for (task, result) in self.run.frontier.iter().zip(results) {
                let loaded = self.codec.load(task.node, result.as_ref());
                finished.push(loaded.map_err(|error| self.of_thread(error))?);
            }
            self.run.commit(finished)
        });
        committed.unwrap_or_else(|panicked| {
            self.panicked = Some(panicked.clone());
            Err(self.panicked(panicked))
        })
    }

    /// Fails if a panic may have left the state half-changed.
    fn check_state(&self) -> Result<(), RunError> {
        match &self.panicked {
            Some(panicked) => Err(self.panicked(panicked.clone())),
            None => Ok(()),
        }
    }

    fn panicked(&self, panicked: Panicked) -> RunError {
        RunError::panicked(panicked, self.run.flow.name(), self.superstep())
    }

    fn of_thread(&self, error: ThreadError) -> RunError {
        RunError::of_thread(error, self.run.flow.name())
    }
}
