//! The trait `Backend`: the service through which workers exchange results.

use petalflow::{BoxError, async_trait};

/// The service through which the workers of a run exchange the results of its tasks. Implement it over a message bus or a
/// database.
///
/// Each superstep of each run has a [mailbox](Mailbox). A mailbox holds at most one report per task:
///
/// * The first result of a task stays. A later one is discarded, so that all workers commit the same bytes. [`send`] then
///   succeeds.
/// * A result replaces a failure. A failure replaces nothing.
///
/// A bus that only delivers messages fulfils this if each process keeps what it has received, and if the messages of one
/// mailbox arrive in the same order everywhere. Reports must survive a crash if the run has to.
///
/// [`send`]: Backend::send
///
/// ```
/// use petalflow::async_trait;
/// use petalflow_workers::{Backend, BackendError, InMemoryBackend, Mailbox, TaskReport};
///
/// /// Counts what is sent.
/// struct Counted<B> {
///     inner: B,
///     sent: std::sync::atomic::AtomicUsize,
/// }
///
/// #[async_trait]
/// impl<B: Backend> Backend for Counted<B> {
///     async fn send(&self, to: &Mailbox, report: TaskReport) -> Result<(), BackendError> {
///         self.sent.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
///         self.inner.send(to, report).await
///     }
///
///     async fn receive(&self, from: &Mailbox, known_results: Option<usize>) -> Result<Vec<TaskReport>, BackendError> {
///         self.inner.receive(from, known_results).await
///     }
///
///     async fn clear(&self, run: &str) -> Result<(), BackendError> {
///         self.inner.clear(run).await
///     }
///
///     async fn close(&self) -> Result<(), BackendError> {
///         self.inner.close().await
///     }
/// }
/// # let _ = Counted { inner: InMemoryBackend::new(), sent: Default::default() };
/// ```
#[async_trait]
pub trait Backend: Send + Sync + 'static {
    /// Adds a report to a mailbox.
    ///
    /// # Errors
    ///
    /// The backend cannot be reached, or is closed. The report may have arrived; sending it again changes nothing.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the report may or may not arrive.
    async fn send(&self, to: &Mailbox, report: TaskReport) -> Result<(), BackendError>;

    /// Returns all reports of a mailbox, in any order. With `known_results`, first waits until there are more results;
    /// a failure that arrives also ends the wait. Without it, returns at once.
    ///
    /// # Errors
    ///
    /// The backend cannot be reached, or is closed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: receiving does not remove reports.
    async fn receive(
        &self,
        from: &Mailbox,
        known_results: Option<usize>,
    ) -> Result<Vec<TaskReport>, BackendError>;

    /// Removes all mailboxes of a run, after it has ended.
    ///
    /// # Errors
    ///
    /// The backend cannot be reached, or is closed.
    async fn clear(&self, run: &str) -> Result<(), BackendError>;

    /// Ends the use of the backend: calls that wait, and all later calls, fail with [`BackendError::Closed`].
    ///
    /// # Errors
    ///
    /// The backend cannot be reached.
    async fn close(&self) -> Result<(), BackendError>;
}

/// The mailbox of one superstep of one run.
///
/// ```
/// let mailbox = petalflow_workers::Mailbox::new("crawl-1", 1);
/// assert_eq!((&*mailbox.run, mailbox.superstep), ("crawl-1", 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Mailbox {
    /// The name of the run.
    pub run: String,
    /// The superstep, from 1.
    pub superstep: u64,
}

impl Mailbox {
    /// Creates the name of a mailbox.
    pub fn new(run: impl Into<String>, superstep: u64) -> Self {
        Mailbox {
            run: run.into(),
            superstep,
        }
    }
}

/// How a task ended.
///
/// ```
/// let report = petalflow_workers::TaskReport::new(0, Ok(vec![1, 2, 3]));
/// assert!(report.result.is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskReport {
    /// The index of the task in its superstep.
    pub task: usize,
    /// Its result, as [`Supersteps::run`](petalflow::engine::Supersteps::run) returned it, or the message of its failure.
    pub result: Result<Vec<u8>, String>,
}

impl TaskReport {
    /// Creates a report.
    pub fn new(task: usize, result: Result<Vec<u8>, String>) -> Self {
        TaskReport { task, result }
    }
}

/// Why a backend could not be used.
///
/// ```
/// use petalflow_workers::{Backend, BackendError, InMemoryBackend};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let backend = InMemoryBackend::new();
/// backend.close().await.unwrap();
/// let error = backend.clear("crawl-1").await.unwrap_err();
/// assert!(matches!(error, BackendError::Closed));
/// assert_eq!(error.to_string(), "the backend is closed");
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// [`Backend::close`] was called.
    #[error("the backend is closed")]
    Closed,
    /// The bus or the database failed.
    #[error("the backend failed: {0}")]
    Failed(BoxError),
}
