//! A worker: one of several processes that run the tasks of a run.

use futures_util::future::try_join_all;
use petalflow::engine::Supersteps;
use petalflow::state::{InputOf, Storable};
use petalflow::{Flow, Launch, RunError};

use crate::{Backend, BackendError, Mailbox, TaskReport};

/// One of several processes that run the tasks of a run together. See the [crate](crate) for an example.
///
/// ```
/// use petalflow_workers::{InMemoryBackend, Share, Worker};
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("petals".into()) }
/// # flow!(Write(Essay) { write });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let backend = InMemoryBackend::new();
/// Worker::new(Write::new(), backend.clone()).run("essay-1", ()).await?;
///
/// // A worker that starts later, and runs no task itself, reaches the same state.
/// let follower = Worker::new(Write::new(), backend).share(Share::NONE);
/// assert_eq!(follower.run("essay-1", ()).await?.draft, "petals");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Worker<F: Flow, B> {
    launch: Launch<F>,
    backend: B,
    share: Share,
}

/// The tasks that a worker runs: those whose index is `index` modulo `workers`.
///
/// ```
/// use petalflow_workers::Share;
///
/// let second_of_three = Share::new(1, 3);
/// assert!(!second_of_three.contains(0) && second_of_three.contains(1) && second_of_three.contains(4));
/// assert!(Share::ALL.contains(0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    index: usize,
    workers: usize,
}

impl Share {
    /// All tasks.
    pub const ALL: Self = Share {
        index: 0,
        workers: 1,
    };

    /// No task: the worker only follows the run.
    ///
    /// ```
    /// use petalflow_workers::Share;
    ///
    /// assert!((0..100).all(|task| !Share::NONE.contains(task)));
    /// ```
    pub const NONE: Self = Share {
        index: usize::MAX,
        workers: usize::MAX,
    };

    /// The share of the worker with this index, from 0, of so many workers.
    ///
    /// # Panics
    ///
    /// If the index is not below the number of workers.
    pub fn new(index: usize, workers: usize) -> Self {
        assert!(
            index < workers,
            "the index of a worker is below the number of workers: {index} is not below {workers}"
        );
        Share { index, workers }
    }

    /// Whether the worker runs the task with this index.
    pub fn contains(self, task: usize) -> bool {
        task % self.workers == self.index
    }
}

impl<F: Flow<State: Storable>, B: Backend> Worker<F, B> {
    /// A worker that runs all tasks. All workers of a run have the same program and launch with the same settings.
    pub fn new(launch: Launch<F>, backend: B) -> Self {
        Worker {
            launch,
            backend,
            share: Share::ALL,
        }
    }

    /// Sets the tasks that this worker runs. Every task must be in the share of at least one worker. A task in several shares
    /// may run more than once; its first result counts.
    #[must_use]
    pub fn share(mut self, share: Share) -> Self {
        self.share = share;
        self
    }

    /// Takes part in a run until it ends, and returns its final state. All workers pass the same name and input.
    ///
    /// A worker that restarts after a crash or a failure commits the supersteps whose results are in the backend, and runs only
    /// its own tasks without a result.
    /// [`Backend::clear`] removes the results after the run.
    ///
    /// # Errors
    ///
    /// A task failed, here or on another worker; the run cannot continue; or the backend failed.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the tasks of this worker are dropped. Results that it has sent stay.
    pub async fn run(
        &self,
        run: &str,
        input: impl InputOf<F::State>,
    ) -> Result<F::State, WorkerError> {
        let mut steps = Supersteps::begin(self.launch.clone(), run, input)?;
        while !steps.is_finished() {
            let mailbox = Mailbox::new(run, steps.superstep() + 1);
            let mut results = Results::new(steps.tasks().len());
            // A failure that is already there was sent before this worker began: its task may be run again.
            results.add(self.backend.receive(&mailbox, None).await?);
            let mine = results.missing().filter(|task| self.share.contains(*task));
            let running = mine.map(|task| self.run_task(&steps, &mailbox, task));
            try_join_all(running).await?;
            while results.missing().next().is_some() {
                let known_results = results.len();
                let failed =
                    results.add(self.backend.receive(&mailbox, Some(known_results)).await?);
                if let Some((task, message)) = failed
                    && results.len() == known_results
                {
                    let node = steps.tasks().nth(task).map(|task| task.node.to_string());
                    let node = node.unwrap_or_default();
                    return Err(WorkerError::Elsewhere { node, message });
                }
            }
            steps.commit(&results.into_bytes())?;
        }
        Ok(steps.into_state())
    }

    async fn run_task(
        &self,
        steps: &Supersteps<F>,
        mailbox: &Mailbox,
        task: usize,
    ) -> Result<(), WorkerError> {
        let (report, result) = match steps.run(task).await {
            Ok(result) => (Ok(result), Ok(())),
            Err(error) => (Err(error.to_string()), Err(error.into())),
        };
        self.backend
            .send(mailbox, TaskReport::new(task, report))
            .await?;
        result
    }
}

/// The results of a superstep that have arrived, by task.
struct Results(Vec<Option<Vec<u8>>>);

impl Results {
    fn new(tasks: usize) -> Self {
        Results(vec![None; tasks])
    }

    fn len(&self) -> usize {
        self.0.iter().flatten().count()
    }

    fn missing(&self) -> impl Iterator<Item = usize> {
        let tasks = self.0.iter().enumerate();
        tasks.filter_map(|(task, result)| result.is_none().then_some(task))
    }

    /// Adds the results. Returns the first failure among the reports.
    fn add(&mut self, reports: Vec<TaskReport>) -> Option<(usize, String)> {
        let mut failed = None;
        for TaskReport { task, result } in reports {
            let Some(slot) = self.0.get_mut(task) else {
                continue;
            };
            match result {
                Ok(bytes) => *slot = Some(bytes),
                Err(message) => failed = failed.or(Some((task, message))),
            }
        }
        failed
    }

    fn into_bytes(self) -> Vec<Vec<u8>> {
        self.0.into_iter().flatten().collect()
    }
}

/// Why a worker could not finish a run.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_workers::{InMemoryBackend, Worker, WorkerError};
///
/// #[state]
/// struct Empty {}
///
/// #[node(Empty)]
/// async fn fail() -> petalflow::Result<()> {
///     Err("no luck".into())
/// }
///
/// flow!(Fail(Empty) { fail });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let error = Worker::new(Fail::new(), InMemoryBackend::new()).run("r", ()).await.err().unwrap();
/// assert!(matches!(error, WorkerError::Run(_)));
/// assert_eq!(error.to_string(), "node `fail` failed in superstep 1: no luck");
/// # }
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// The run cannot begin or continue, or a task of this worker failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A task of another worker failed. Start that worker again, or give its share to another one.
    #[error("another worker: {message}")]
    #[non_exhaustive]
    Elsewhere {
        /// The node.
        node: String,
        /// The message of the failure.
        message: String,
    },
    /// The backend failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

/// The message, which is what `main` prints if it returns the error.
impl std::fmt::Debug for WorkerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}
