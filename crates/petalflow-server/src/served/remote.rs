//! Threads that an engine keeps and runs in other processes.

use std::collections::BTreeMap;
use std::pin::Pin;

use petalflow::checkpoint::{ThreadInfo, ThreadQuery, ThreadStatus};
use petalflow::thread::{FollowedEvents, Thread, ThreadError};
use petalflow::{Flow, async_trait};
use serde_json::Value;

use super::remote_trouble::RemoteTrouble;

/// What a server does with a copy of a thread.
pub type ThreadWork<F> =
    Box<dyn FnOnce(Thread<F>) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

/// The threads of a flow that an engine keeps and runs in other processes, for
/// [`ServerBuilder::serve_remote`](crate::ServerBuilder::serve_remote). `petalflow-restate` has them for Restate.
///
/// A server reads and changes a thread as a [`Thread`] over a copy of its records in this process, and the engine takes over what
/// has changed: `petalflow::engine::ThreadEngine::edit` does both. No node runs in the server.
///
/// ```
/// use petalflow::checkpoint::{ThreadInfo, ThreadQuery, ThreadStatus};
/// use petalflow::thread::{FollowedEvents, ThreadError};
/// use petalflow::{Flow, async_trait};
/// use petalflow_server::{RemoteThreads, ThreadWork};
/// use serde_json::Value;
///
/// /// Has no threads.
/// struct Nowhere;
///
/// fn nowhere() -> ThreadError {
///     ThreadError::Request("there is no engine".into())
/// }
///
/// #[async_trait]
/// impl<F: Flow> RemoteThreads<F> for Nowhere {
///     async fn read(&self, _: &str, _: ThreadWork<F>) -> Result<(), ThreadError> {
///         Err(nowhere())
///     }
///     async fn edit(&self, _: &str, _: ThreadWork<F>) -> Result<(), ThreadError> {
///         Err(nowhere())
///     }
///     async fn make(&self, _: &str, _: &str, _: ThreadWork<F>) -> Result<(), ThreadError> {
///         Err(nowhere())
///     }
///     async fn wait(&self, _: &str) -> Result<Option<String>, ThreadError> {
///         Err(nowhere())
///     }
///     async fn cancel(&self, _: &str) -> Result<ThreadStatus, ThreadError> {
///         Err(nowhere())
///     }
///     async fn hold(&self, _: &str) -> Result<(), ThreadError> {
///         Err(nowhere())
///     }
///     async fn send(&self, _: &str, _: &str, _: Value, _: Option<String>) -> Result<(), ThreadError> {
///         Err(nowhere())
///     }
///     async fn delete(&self, _: &str) -> Result<(), ThreadError> {
///         Err(nowhere())
///     }
///     async fn info(&self, _: &str) -> Result<Option<ThreadInfo>, ThreadError> {
///         Ok(None)
///     }
///     async fn list(&self, _: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, ThreadError> {
///         Ok(Vec::new())
///     }
///     fn follow(&self, _: &str, _: u64) -> FollowedEvents {
///         FollowedEvents::new(futures_util::stream::empty())
///     }
/// }
/// ```
#[async_trait]
pub trait RemoteThreads<F: Flow>: Send + Sync + 'static {
    /// Calls `work` with a copy of the thread, which is empty if there is no such thread.
    ///
    /// # Errors
    ///
    /// The engine does not answer, or the thread cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    async fn read(&self, thread: &str, work: ThreadWork<F>) -> Result<(), ThreadError>;

    /// As [`read`](Self::read), and takes over what has changed, as one change. If the thread has something to run then, it runs.
    ///
    /// # Errors
    ///
    /// [`Busy`](ThreadError::Busy) if the thread runs, or another caller has changed it; or the engine does not answer. Then
    /// nothing has changed.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the changes are made or not.
    async fn edit(&self, thread: &str, work: ThreadWork<F>) -> Result<(), ThreadError>;

    /// As [`read`](Self::read), for work that makes another thread, such as [`Thread::copy_to`] and [`Thread::fork_to`], and takes
    /// over the other one, as one change. If the work has made none, nothing changes.
    ///
    /// # Errors
    ///
    /// There is such a thread already, or the engine does not answer. Then nothing has changed.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the other thread is made or not.
    async fn make(&self, thread: &str, other: &str, work: ThreadWork<F>)
    -> Result<(), ThreadError>;

    /// Waits until the thread rests. Returns why it has failed, if it has.
    ///
    /// # Errors
    ///
    /// The engine does not answer.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    async fn wait(&self, thread: &str) -> Result<Option<String>, ThreadError>;

    /// Cancels the thread at once, as [`Thread::cancel`] does: one that runs, waits or sleeps is held then, with the threads that are
    /// cancelled with it, and one that has finished or failed does not change. Returns its status.
    ///
    /// # Errors
    ///
    /// [`Unknown`](ThreadError::Unknown) if there is no such thread, or the engine does not answer.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the thread may still be cancelled.
    async fn cancel(&self, thread: &str) -> Result<ThreadStatus, ThreadError>;

    /// Holds the thread at its next barrier, as [`Thread::hold`] does. Returns when the engine has taken the command. One that
    /// [waits](Self::wait) then waits until it is carried out.
    ///
    /// # Errors
    ///
    /// The engine does not answer.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the thread may still be held.
    async fn hold(&self, thread: &str) -> Result<(), ThreadError>;

    /// Sends a message to a thread that runs, as [`Thread::send_value`] does. Returns when the engine has taken the message. If the thread
    /// has a message with this id, nothing is stored.
    ///
    /// # Errors
    ///
    /// The flow takes no such message, there is no such thread, or the engine does not answer.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the message is stored or not.
    async fn send(
        &self,
        thread: &str,
        key: &str,
        value: Value,
        id: Option<String>,
    ) -> Result<(), ThreadError>;

    /// Deletes the thread.
    ///
    /// # Errors
    ///
    /// The engine does not answer.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the thread may still be deleted.
    async fn delete(&self, thread: &str) -> Result<(), ThreadError>;

    /// What is listed of a thread. `None` if there is no such thread.
    ///
    /// # Errors
    ///
    /// The engine does not answer.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    async fn info(&self, thread: &str) -> Result<Option<ThreadInfo>, ThreadError>;

    /// A page of the threads, in the order of their ids, as [`Store::threads`](petalflow::checkpoint::Store::threads) has it.
    ///
    /// # Errors
    ///
    /// The engine does not answer.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    async fn list(&self, query: ThreadQuery<'_>) -> Result<Vec<ThreadInfo>, ThreadError>;

    /// The published events of the thread with numbers above this one, and those that follow, until it rests. The value of an event
    /// with which a task begins again, because its process was lost, has the field `restarts` with `true`: what the task has said
    /// before does not count.
    fn follow(&self, thread: &str, number: u64) -> FollowedEvents;

    /// The number of the newest published event; 0 if there is none. `None` if the engine publishes no events. By default it does
    /// not.
    ///
    /// # Errors
    ///
    /// The events cannot be read.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    async fn newest_event(&self, _thread: &str) -> Result<Option<u64>, ThreadError> {
        Ok(None)
    }

    /// Why a thread does not go on that runs. `None` if it does, or if the engine does not know. By default it does not.
    ///
    /// # Errors
    ///
    /// The engine does not answer. The thread is shown without it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    async fn trouble(&self, _thread: &str) -> Result<Option<RemoteTrouble>, ThreadError> {
        Ok(None)
    }

    /// Which of these threads do not go on, and why, for a list. By default each one is [asked for](Self::trouble).
    ///
    /// # Errors
    ///
    /// The engine does not answer. The threads are listed without it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing.
    async fn troubles(
        &self,
        threads: &[&str],
    ) -> Result<BTreeMap<String, RemoteTrouble>, ThreadError> {
        let mut troubles = BTreeMap::new();
        for thread in threads {
            if let Some(trouble) = self.trouble(thread).await? {
                troubles.insert(thread.to_string(), trouble);
            }
        }
        Ok(troubles)
    }

    /// Makes the engine try again now what a thread [does not go on](Self::trouble) with. Returns whether there is such a thing. By default
    /// there is none.
    ///
    /// # Errors
    ///
    /// The engine does not answer.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the engine tries again or not.
    async fn try_again(&self, _thread: &str) -> Result<bool, ThreadError> {
        Ok(false)
    }

    /// Whether a thread has a log of its events, as `petalflow::engine::ThreadEngine::event_log` makes it. The protocols of agents
    /// need it. By default it has none.
    fn has_event_log(&self) -> bool {
        false
    }
}
