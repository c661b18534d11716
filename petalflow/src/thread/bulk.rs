//! Operations on all threads that a query covers.

use tokio::task::JoinSet;

use super::{OnBusy, Outcome, Retention, ThreadError, Threads};
use crate::checkpoint::{StoreError, ThreadInfo, ThreadQuery, ThreadStatus};
use crate::clock::now_ms;
use crate::durable;
use crate::flow::Flow;
use crate::outcome::RunError;

/// How many threads are listed at once.
const PAGE: usize = 256;

/// How many threads are resumed at the same time.
const RUNS: usize = 16;

/// How the run of a thread that was resumed ended.
type Resumed<F> = (String, Result<Outcome<<F as Flow>::State>, RunError>);

impl<F: Flow> Threads<F> {
    /// Deletes the threads that the query covers, of all flows that share the store. Returns how many. A thread that is busy
    /// remains, and so does one that is listed as [damaged](ThreadInfo::damage): [`Thread::delete`](super::Thread::delete) deletes
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
        let threads = self.clone().on_busy(OnBusy::Refuse);
        let mut pages = Pages::new(query);
        let mut deleted = 0;
        while let Some(page) = pages.next(self).await? {
            // One owner for the page, so that all of it is deleted in one call under its claims.
            let owner = durable::new_owner();
            let mut claims = Vec::new();
            for info in page.iter().filter(|info| info.damage.is_none()) {
                match threads.thread(&*info.id).claimed_by(owner.clone()).await {
                    Ok(claim) => claims.push((&*info.id, claim)),
                    Err(ThreadError::Busy { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
            // A run may have changed a thread after it was listed and before it was claimed.
            let unchanged = pages.read(self, 0, 2 * PAGE).await?;
            let is_unchanged = |id: &&str| unchanged.iter().any(|info| info.id == *id);
            let ids = claims.iter().map(|(id, _)| *id).filter(is_unchanged);
            let ids: Vec<&str> = ids.collect();
            self.store.delete_many(&ids, Some(&owner)).await?;
            deleted += ids.len();
        }
        Ok(deleted)
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
        let mut pages = Pages::new(query);
        let mut first_error = Ok(());
        while let Some(page) = pages.next(self).await? {
            for info in page {
                let pruned = match info.damage {
                    Some(problem) => Err(damaged(info.id, problem)),
                    None => self.thread(info.id).prune(retention).await,
                };
                match pruned {
                    Err(error @ ThreadError::Store(StoreError::Damaged { .. })) => {
                        first_error = first_error.and(Err(error));
                    }
                    pruned => pruned?,
                }
            }
        }
        first_error
    }

    /// Resumes the threads of this flow that the query covers, without answers, several at the same time. Returns how each run
    /// ended, with the id of its thread. A thread that is busy is left out: another run has it. So is a thread that a person
    /// [holds](ThreadStatus::Held), unless the query asks for these.
    /// A thread that is listed as [damaged](ThreadInfo::damage) is not resumed, and its damage is its error.
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
        let threads = self.clone().on_busy(OnBusy::Refuse);
        let mut pages = Pages::new(query);
        let (mut runs, mut ended, mut resumed) = (JoinSet::new(), Vec::new(), Vec::new());
        while let Some(page) = pages.next(self).await? {
            // A thread whose first run was interrupted has no name of a flow yet.
            let mine =
                |info: &ThreadInfo| info.flow.is_empty() || info.flow == self.flow.stored_name();
            for info in page.into_iter().filter(mine) {
                if let Some(problem) = info.damage {
                    let error = damaged(info.id.clone(), problem);
                    let error = RunError::of_thread(error, self.flow.name());
                    resumed.push((info.id, Err(error)));
                    continue;
                }
                if runs.len() >= RUNS {
                    ended.extend(runs.join_next().await);
                }
                let thread = threads.thread(&*info.id);
                let run = if query.status == Some(ThreadStatus::Held) {
                    thread.resume(())
                } else {
                    thread.recover()
                };
                runs.spawn(async move { (info.id, run.await) });
            }
        }
        while let Some(run) = runs.join_next().await {
            ended.push(run);
        }
        for run in ended {
            let (id, result) = run.map_err(|lost| ThreadError::Request(lost.to_string()))?;
            let refused = result.as_ref().err().and_then(RunError::thread_error);
            let left_out = |error: &ThreadError| {
                matches!(error, ThreadError::Busy { .. } | ThreadError::Held { .. })
            };
            if !refused.is_some_and(left_out) {
                resumed.push((id, result));
            }
        }
        Ok(resumed)
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
        let due = ThreadQuery {
            flow: Some(self.flow.stored_name()),
            // Also if the process died after it had stored a question, and before it set the status.
            due_by_ms: Some(now_ms()),
            ..ThreadQuery::default()
        };
        self.resume_all(due).await
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
        Ok(self.store.reclaim().await?)
    }
}

fn damaged(thread: String, problem: String) -> ThreadError {
    ThreadError::Store(StoreError::Damaged { thread, problem })
}

/// The pages of a list of threads.
struct Pages<'a> {
    query: ThreadQuery<'a>,
    /// The last id of the previous page, and the last id of the current page.
    after: [Option<String>; 2],
    /// How many threads may still be listed.
    left: usize,
}

impl<'a> Pages<'a> {
    fn new(query: ThreadQuery<'a>) -> Self {
        let after = query.after.map(String::from);
        Pages {
            query,
            after: [after.clone(), after],
            left: query.limit.unwrap_or(usize::MAX),
        }
    }

    async fn next<F: Flow>(
        &mut self,
        threads: &Threads<F>,
    ) -> Result<Option<Vec<ThreadInfo>>, ThreadError> {
        let page = self.read(threads, 1, self.left.min(PAGE)).await?;
        let Some(last) = page.last() else {
            return Ok(None);
        };
        self.left -= page.len();
        self.after.rotate_left(1);
        self.after[1] = Some(last.id.clone());
        Ok(Some(page))
    }

    /// The threads after the page before the last one (0) or after the last one (1).
    async fn read<F: Flow>(
        &self,
        threads: &Threads<F>,
        after: usize,
        limit: usize,
    ) -> Result<Vec<ThreadInfo>, ThreadError> {
        let page = ThreadQuery {
            after: self.after[after].as_deref(),
            limit: Some(limit),
            ..self.query
        };
        threads.list(page).await
    }
}
