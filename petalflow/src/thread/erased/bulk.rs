//! Operations on all threads that a query covers.

use tokio::task::JoinSet;

use super::AnyThreads;
use crate::checkpoint::{
    Retention, StoreError, ThreadCount, ThreadInfo, ThreadQuery, ThreadStatus,
};
use crate::durable;
use crate::erased::StateBox;
use crate::future::BoxFuture;
use crate::interrupt::AnyResume;
use crate::outcome::{RunError, ThreadError};

/// How many threads are listed at once.
pub(super) const PAGE: usize = 256;

/// How many threads are resumed at the same time.
const RUNS: usize = 16;

/// The id of a thread that was resumed, and how its run ended.
type Resumed = (String, Result<StateBox, RunError>);

impl AnyThreads {
    pub(crate) fn delete_all<'a>(
        &'a self,
        query: ThreadQuery<'a>,
    ) -> BoxFuture<'a, Result<usize, ThreadError>> {
        Box::pin(async move {
            let threads = self.refusing_busy();
            let mut pages = Pages::new(query);
            let mut deleted = 0;
            while let Some(page) = pages.next(self).await? {
                // One owner for the page, so that all of it is deleted in one call under its claims.
                let owner = durable::new_owner();
                let mut claims = Vec::new();
                for info in page.iter().filter(|info| info.damage.is_none()) {
                    match threads.thread(&info.id).claimed_by(owner.clone()).await {
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
        })
    }

    pub(crate) fn prune_all<'a>(
        &'a self,
        query: ThreadQuery<'a>,
        retention: Retention,
    ) -> BoxFuture<'a, Result<(), ThreadError>> {
        Box::pin(async move {
            let mut pages = Pages::new(query);
            let mut first_error = Ok(());
            while let Some(page) = pages.next(self).await? {
                for info in page {
                    let pruned = match info.damage {
                        Some(problem) => Err(damaged(info.id, problem)),
                        None => self.thread(&info.id).prune(retention).await,
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
        })
    }

    pub(crate) fn resume_all<'a>(
        &'a self,
        query: ThreadQuery<'a>,
    ) -> BoxFuture<'a, Result<Vec<Resumed>, ThreadError>> {
        Box::pin(async move {
            let threads = self.refusing_busy();
            let mut pages = Pages::new(query);
            let (mut runs, mut ended, mut resumed) = (JoinSet::new(), Vec::new(), Vec::new());
            while let Some(page) = pages.next(self).await? {
                // A thread whose first run was interrupted has no name of a flow yet.
                let mine = |info: &ThreadInfo| {
                    info.flow.is_empty() || info.flow == self.flow.stored_name()
                };
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
                    let thread = threads.thread(&info.id);
                    let run = if query.status == Some(ThreadStatus::Held) {
                        thread.resume(AnyResume::default())
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
                if !refused.is_some_and(is_left_alone) {
                    resumed.push((id, result));
                }
            }
            Ok(resumed)
        })
    }

    pub(crate) fn sweep(&self) -> BoxFuture<'_, Result<Vec<Resumed>, ThreadError>> {
        Box::pin(async move {
            let now_ms = self.now_ms().await?;
            let due = self.resume_all(ThreadQuery {
                flow: Some(self.flow.stored_name()),
                // Also if the process died after it had stored a question or a sleep, and before it set the status.
                due_by_ms: Some(now_ms),
                ..ThreadQuery::default()
            });
            due.await
        })
    }

    pub(crate) fn list<'a>(
        &'a self,
        query: ThreadQuery<'a>,
    ) -> BoxFuture<'a, Result<Vec<ThreadInfo>, ThreadError>> {
        Box::pin(async move {
            self.check_attributes(&query)?;
            Ok(self.store.threads(query).await?)
        })
    }

    pub(crate) fn counts<'a>(
        &'a self,
        query: ThreadQuery<'a>,
    ) -> BoxFuture<'a, Result<Vec<ThreadCount>, ThreadError>> {
        Box::pin(async move {
            self.check_attributes(&query)?;
            Ok(self.store.thread_counts(query).await?)
        })
    }
}

/// Whether another run has the thread, or a person holds it.
pub(super) fn is_left_alone(error: &ThreadError) -> bool {
    matches!(error, ThreadError::Busy { .. } | ThreadError::Held { .. })
}

pub(super) fn damaged(thread: String, problem: String) -> ThreadError {
    ThreadError::Store(StoreError::Damaged { thread, problem })
}

/// The pages of a list of threads.
struct Pages<'a> {
    query: ThreadQuery<'a>,
    /// Where the previous page ends, and where the current page ends: the time in an order by time, and the last id.
    after: [(u64, Option<String>); 2],
    /// How many threads may still be listed.
    left: usize,
}

impl<'a> Pages<'a> {
    fn new(query: ThreadQuery<'a>) -> Self {
        let after = (query.after_ms, query.after.map(String::from));
        Pages {
            query,
            after: [after.clone(), after],
            left: query.limit.unwrap_or(usize::MAX),
        }
    }

    async fn next(&mut self, threads: &AnyThreads) -> Result<Option<Vec<ThreadInfo>>, ThreadError> {
        let page = self.read(threads, 1, self.left.min(PAGE)).await?;
        let Some(last) = page.last() else {
            return Ok(None);
        };
        self.left -= page.len();
        self.after.rotate_left(1);
        self.after[1] = (self.query.order.time_of(last), Some(last.id.clone()));
        Ok(Some(page))
    }

    /// The threads after the page before the last one (0) or after the last one (1).
    async fn read(
        &self,
        threads: &AnyThreads,
        after: usize,
        limit: usize,
    ) -> Result<Vec<ThreadInfo>, ThreadError> {
        let page = ThreadQuery {
            after: self.after[after].1.as_deref(),
            after_ms: self.after[after].0,
            limit: Some(limit),
            ..self.query
        };
        threads.list(page).await
    }
}
