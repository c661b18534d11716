//! Operations on all threads that a query covers.

use super::run::outcome;
use super::{Outcome, Retention, ThreadError, Threads};
use crate::checkpoint::ThreadQuery;
use crate::erased::{StateBox, into_state};
use crate::flow::Flow;
use crate::outcome::RunError;

/// How the run of a thread that was resumed ended.
type Resumed<F> = (String, Result<Outcome<<F as Flow>::State>, RunError>);

impl<F: Flow> Threads<F> {
    /// Deletes the threads that the query covers, of all flows that share the store. Returns how many. A thread that is busy
    /// remains, and so does one that is listed as [damaged](crate::checkpoint::ThreadInfo::damage): [`Thread::delete`](super::Thread::delete) deletes
    /// it.
    ///
    /// Their space in a file can be given back with [`reclaim`](Self::reclaim).
    ///
    /// ```
    /// use petalflow::checkpoint::{ThreadQuery, ThreadStatus};
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Chat { #[key(input, append)] lines: Vec<String> }
    /// # #[node(Chat)]
    /// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
    /// # flow!(Talk(Chat) { reply });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let threads = Talk::new().store(&InMemoryStore::new());
    /// # threads.thread("ann").run(vec!["hello".to_string()]).await?.into_finished()?;
    /// let old = ThreadQuery {
    ///     status: Some(ThreadStatus::Finished),
    ///     updated_before_ms: Some(u64::MAX), // A real program deletes what is older than some days.
    ///     ..ThreadQuery::default()
    /// };
    /// assert_eq!(threads.delete_all(old).await?, 1);
    /// assert!(threads.list(ThreadQuery::default()).await?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the store fails. Some of the threads may be deleted then.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves some of the threads. Each is deleted completely or not at all.
    pub async fn delete_all(&self, query: ThreadQuery<'_>) -> Result<usize, ThreadError> {
        self.any.delete_all(query).await
    }

    /// Removes the checkpoints that need not be retained, of all threads that the query covers. Runs may be in progress: they
    /// continue.
    ///
    /// ```
    /// use petalflow::checkpoint::ThreadQuery;
    /// use petalflow::thread::Retention;
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Chat { #[key(input, append)] lines: Vec<String> }
    /// # #[node(Chat)]
    /// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
    /// # flow!(Talk(Chat) { reply });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let threads = Talk::new().store(&InMemoryStore::new());
    /// # threads.thread("ann").run(vec!["hello".to_string()]).await?.into_finished()?;
    /// threads.prune_all(ThreadQuery::default(), Retention::max_checkpoints(1)).await?;
    /// // The newest, and what it builds on.
    /// assert!(threads.list(ThreadQuery::default()).await?[0].checkpoints <= 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the store fails, or the contents of a thread cannot be read. A thread that is damaged is the error after all others were
    /// pruned.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future may leave some of the checkpoints that were to be removed.
    pub async fn prune_all(
        &self,
        query: ThreadQuery<'_>,
        retention: Retention,
    ) -> Result<(), ThreadError> {
        self.any.prune_all(query, retention).await
    }

    /// Resumes the threads of this flow that the query covers, without answers, several at the same time. Returns how each run
    /// ended, with the id of its thread. A thread that is busy is left out: another run has it. So is a thread that a person
    /// [holds](crate::checkpoint::ThreadStatus::Held), unless the query asks for these.
    /// A thread that is listed as [damaged](crate::checkpoint::ThreadInfo::damage) is not resumed, and its damage is its error.
    ///
    /// A server calls this when it starts, to continue what a crash has interrupted:
    ///
    /// ```
    /// use petalflow::checkpoint::{ThreadQuery, ThreadStatus};
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Chat { #[key(input, append)] lines: Vec<String> }
    /// # #[node(Chat)]
    /// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
    /// # flow!(Talk(Chat) { reply });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let threads = Talk::new().store(&InMemoryStore::new());
    /// # threads.thread("ann").run(vec!["hello".to_string()]).await?.into_finished()?;
    /// # let dropped = threads.thread("bob");
    /// # let mut events = dropped.run(vec!["hello".to_string()]).events();
    /// # while !matches!(events.next().await.expect("it runs").kind, petalflow::event::EventKind::NodeStarted { .. }) {}
    /// # drop(events);
    /// let interrupted = ThreadQuery { status: Some(ThreadStatus::Running), ..ThreadQuery::default() };
    /// for (id, result) in threads.resume_all(interrupted).await? {
    ///     assert_eq!(id, "bob");
    ///     result?.into_finished()?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the threads cannot be listed. Errors of runs are in the result.
    ///
    /// # Panics
    ///
    /// If it is called outside of a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the runs, as with [`ThreadRun`](super::ThreadRun).
    pub async fn resume_all(&self, query: ThreadQuery<'_>) -> Result<Vec<Resumed<F>>, ThreadError> {
        Ok(typed::<F>(self.any.resume_all(query).await?))
    }

    /// Resumes the threads of this flow that wait for a question which has expired, as [`resume_all`](Self::resume_all). So a
    /// question gets its default answer although no one resumes its thread. The store finds these threads; they are not opened
    /// to look for them.
    ///
    /// A program calls it now and then:
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Chat { #[key(input, append)] lines: Vec<String> }
    /// # #[node(Chat)]
    /// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
    /// # flow!(Talk(Chat) { reply });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let threads = Talk::new().store(&InMemoryStore::new());
    /// # threads.thread("ann").run(vec!["hello".to_string()]).await?.into_finished()?;
    /// # let sweeper =
    /// tokio::spawn(async move {
    ///     loop {
    ///         match threads.sweep().await {
    ///             Ok(resumed) => println!("{} threads were due", resumed.len()),
    ///             Err(error) => eprintln!("{error}"),
    ///         }
    ///         tokio::time::sleep(std::time::Duration::from_secs(10)).await;
    ///     }
    /// });
    /// # sweeper.abort();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`resume_all`](Self::resume_all).
    ///
    /// # Panics
    ///
    /// If it is called outside of a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// As [`resume_all`](Self::resume_all).
    pub async fn sweep(&self) -> Result<Vec<Resumed<F>>, ThreadError> {
        Ok(typed::<F>(self.any.sweep().await?))
    }

    /// Gives the space of removed checkpoints and threads back to the system, if the store holds it back:
    /// [`Store::reclaim`](crate::checkpoint::Store::reclaim).
    ///
    /// # Errors
    ///
    /// If the store fails.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future may leave some of the space. Nothing else changes.
    pub async fn reclaim(&self) -> Result<(), ThreadError> {
        Ok(self.any.store.reclaim().await?)
    }
}

fn typed<F: Flow>(resumed: Vec<(String, Result<StateBox, RunError>)>) -> Vec<Resumed<F>> {
    let resumed = resumed.into_iter();
    resumed
        .map(|(id, ended)| (id, outcome(ended.map(into_state))))
        .collect()
}
