//! Stops the run of a thread, in any process.

use super::{StoredThreads, Thread, ThreadError};
use crate::checkpoint::ThreadStatus;
use crate::durable::{self, StopKind};
use crate::flow::Flow;
use crate::future::BoxFuture;

/// How a thread rests after its run was stopped.
type Stopped<'a> = BoxFuture<'a, Result<ThreadStatus, ThreadError>>;

impl<F: Flow> Thread<F> {
    /// Cancels the run of the thread, in whichever process it is: its nodes are dropped, and nothing of the superstep is applied. The
    /// thread is [held](ThreadStatus::Held) then. A thread that waits, sleeps or was stopped is held, too. One that has finished or
    /// failed does not change.
    ///
    /// Returns when no run has the thread, with the status that it has then. A run of this process stops at once; one of another
    /// process looks for such commands once in a second. A process that has failed loses its thread as always, and then it is held.
    /// If another run has begun after the one that was cancelled, the status is [`Running`](ThreadStatus::Running).
    ///
    /// # Errors
    ///
    /// [`Unknown`](ThreadError::Unknown) if there is no such thread, or the store fails.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the run is cancelled or not. Repeat the call.
    ///
    /// ```
    /// # use petalflow::checkpoint::{InMemoryStore, ThreadStatus};
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Report {}
    /// # #[node(Report)]
    /// # async fn write() { std::future::pending().await }
    /// # flow!(WriteReport(Report) { write });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let store = InMemoryStore::new();
    /// # let thread = WriteReport::new().store(&store).thread("may");
    /// let run = tokio::spawn(thread.run(()).begin().await?.into_future());
    /// // Perhaps in another process.
    /// let thread = WriteReport::new().store(&store).thread("may");
    /// assert_eq!(thread.cancel().await?, ThreadStatus::Held);
    /// assert!(run.await?.is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn cancel(&self) -> Stopped<'_> {
        self.any.stop(StopKind::Cancel)
    }

    /// Stops the run of the thread at its next barrier, in whichever process it is, and [holds](ThreadStatus::Held) the thread. What the
    /// nodes of the superstep write is applied first. Otherwise as [`cancel`](Self::cancel): a thread without a run is held, and this
    /// returns when no run has the thread.
    ///
    /// # Errors
    ///
    /// As [`cancel`](Self::cancel).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the run stops or not. Repeat the call.
    ///
    /// ```
    /// # use petalflow::checkpoint::{InMemoryStore, ThreadStatus};
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Chat { #[key(input, append)] lines: Vec<String> }
    /// # #[node(Chat)]
    /// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
    /// # flow!(Talk(Chat) { reply });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let thread = Talk::new().store(&InMemoryStore::new()).thread("ann");
    /// thread.run(vec!["hello".to_string()]).await?.into_finished()?;
    /// // There is nothing to hold.
    /// assert_eq!(thread.hold().await?, ThreadStatus::Finished);
    /// # Ok(())
    /// # }
    /// ```
    pub fn hold(&self) -> Stopped<'_> {
        self.any.stop(StopKind::Hold)
    }

    /// Stops the run of the thread at its next barrier, in whichever process it is, and leaves it to the next process that
    /// [recovers](super::Threads::resume_all) threads: to move a thread to another process. The thread is
    /// [stopped](ThreadStatus::Stopped) then. A thread without a run does not change.
    ///
    /// # Errors
    ///
    /// As [`cancel`](Self::cancel).
    ///
    /// # Cancel safety
    ///
    /// As [`hold`](Self::hold).
    ///
    /// ```
    /// # use petalflow::checkpoint::{InMemoryStore, ThreadStatus};
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Chat { #[key(input, append)] lines: Vec<String> }
    /// # #[node(Chat)]
    /// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
    /// # flow!(Talk(Chat) { reply });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let thread = Talk::new().store(&InMemoryStore::new()).thread("ann");
    /// assert!(thread.drain().await.is_err(), "there is no such thread");
    /// # Ok(())
    /// # }
    /// ```
    pub fn drain(&self) -> Stopped<'_> {
        self.any.stop(StopKind::Drain)
    }
}

impl StoredThreads {
    /// As [`Thread::cancel`], for a program without the types of the flow.
    ///
    /// # Errors
    ///
    /// As [`Thread::cancel`].
    ///
    /// # Cancel safety
    ///
    /// As [`Thread::cancel`].
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::thread::{StoredThreads, ThreadError};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let threads = StoredThreads::new(&InMemoryStore::new());
    /// assert!(matches!(threads.cancel("ann").await, Err(ThreadError::Unknown { .. })));
    /// # Ok(())
    /// # }
    /// ```
    pub fn cancel<'a>(&'a self, thread: &'a str) -> Stopped<'a> {
        self.stop(thread, StopKind::Cancel)
    }

    /// As [`Thread::hold`], for a program without the types of the flow.
    ///
    /// # Errors
    ///
    /// As [`Thread::cancel`].
    ///
    /// # Cancel safety
    ///
    /// As [`Thread::hold`].
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::thread::{StoredThreads, ThreadError};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let threads = StoredThreads::new(&InMemoryStore::new());
    /// assert!(matches!(threads.hold("ann").await, Err(ThreadError::Unknown { .. })));
    /// # Ok(())
    /// # }
    /// ```
    pub fn hold<'a>(&'a self, thread: &'a str) -> Stopped<'a> {
        self.stop(thread, StopKind::Hold)
    }

    /// As [`Thread::drain`], for a program without the types of the flow.
    ///
    /// # Errors
    ///
    /// As [`Thread::cancel`].
    ///
    /// # Cancel safety
    ///
    /// As [`Thread::hold`].
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::thread::{StoredThreads, ThreadError};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let threads = StoredThreads::new(&InMemoryStore::new());
    /// assert!(matches!(threads.drain("ann").await, Err(ThreadError::Unknown { .. })));
    /// # Ok(())
    /// # }
    /// ```
    pub fn drain<'a>(&'a self, thread: &'a str) -> Stopped<'a> {
        self.stop(thread, StopKind::Drain)
    }

    fn stop<'a>(&'a self, thread: &'a str, kind: StopKind) -> Stopped<'a> {
        let storage = self.storage(thread);
        Box::pin(async move { durable::stop(&storage?, kind).await })
    }
}
