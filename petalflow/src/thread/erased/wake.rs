//! Resumes threads when they are due.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::AnyThreads;
use super::bulk::{PAGE, damaged, is_left_alone};
use crate::checkpoint::ThreadQuery;
use crate::durable;
use crate::erased::StateBox;
use crate::future::BoxFuture;
use crate::outcome::{RunError, ThreadError};

/// How threads are woken.
pub(crate) struct WakeSettings {
    /// How often to look for threads that are due.
    pub(crate) interval: Duration,
    /// How many runs may be in progress.
    pub(crate) max_runs: usize,
}

/// What a waker tells.
pub(crate) enum WakeReport {
    /// The run of a thread has ended.
    Ended(String, Result<StateBox, RunError>),
    /// It could not look for threads.
    Failed(ThreadError),
}

/// A thread that is due, first by its time.
type Due = (u64, String);

impl AnyThreads {
    /// The time of the store's clock, in milliseconds since 1970 (UTC).
    pub(super) async fn now_ms(&self) -> Result<u64, ThreadError> {
        Ok(self.store.now_ms().await?)
    }

    /// Resumes threads when they are due, until `stop` completes. Then waits for the runs in progress.
    pub(crate) fn wake<'a>(
        &'a self,
        settings: WakeSettings,
        stop: impl Future<Output = ()> + Send + 'a,
        report: &'a mut (dyn FnMut(WakeReport) + Send),
    ) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let mut waker = ThreadWaker {
                threads: self.refusing_busy(),
                settings,
                report,
                runs: JoinSet::new(),
                running: HashSet::new(),
                again: HashSet::new(),
                refused: HashMap::new(),
                next_ms: None,
            };
            select(pin!(stop), pin!(waker.wake_for_ever())).await;
            while waker.ended().await {}
        })
    }
}

struct ThreadWaker<'r> {
    threads: AnyThreads,
    settings: WakeSettings,
    report: &'r mut (dyn FnMut(WakeReport) + Send),
    runs: JoinSet<(String, Result<StateBox, RunError>)>,
    /// The threads of the runs.
    running: HashSet<String>,
    /// Those of them that were due again while they ran.
    again: HashSet<String>,
    /// Why threads that are due could not be resumed. Each is told once.
    refused: HashMap<String, String>,
    /// When the first of the threads that have ended in a sleep is due.
    next_ms: Option<u64>,
}

impl ThreadWaker<'_> {
    async fn wake_for_ever(&mut self) {
        // Subscribed before the first look, so that nothing is missed.
        let mut due = durable::due_signal(self.threads.flow.stored_name());
        loop {
            due.mark_unchanged();
            let wait = match self.look().await {
                Ok(wait) => wait,
                Err(error) => {
                    (self.report)(WakeReport::Failed(error));
                    self.settings.interval
                }
            };
            self.wait(wait, &mut due).await;
        }
    }

    /// Resumes all that is due. Returns the time until it is to look again.
    async fn look(&mut self) -> Result<Duration, ThreadError> {
        let interval = self.settings.interval;
        let now_ms = self.threads.now_ms().await?;
        let interval_ms = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
        // Also what becomes due before it looks again.
        let due = self.due_by(now_ms.saturating_add(interval_ms)).await?;
        let later = due.partition_point(|(due_ms, _)| *due_ms <= now_ms);
        let listed: HashSet<&str> = due.iter().map(|(_, id)| &**id).collect();
        self.refused.retain(|id, _| listed.contains(&**id));
        for (_, id) in &due[..later] {
            while self.runs.len() >= self.settings.max_runs.max(1) {
                self.ended().await;
            }
            self.resume(id);
        }
        let next_ms = due.get(later).map(|(due_ms, _)| *due_ms);
        let next_ms = next_ms.into_iter().chain(self.next_ms.take()).min();
        let Some(next_ms) = next_ms else {
            return Ok(interval);
        };
        // The runs have taken time.
        let wait_ms = next_ms.saturating_sub(self.threads.now_ms().await?);
        Ok(interval.min(Duration::from_millis(wait_ms)))
    }

    /// What is due at this time, in the order of its times.
    async fn due_by(&mut self, due_by_ms: u64) -> Result<Vec<Due>, ThreadError> {
        let threads = self.threads.clone();
        let (mut due, mut after) = (Vec::new(), None::<String>);
        loop {
            let query = ThreadQuery {
                flow: Some(threads.flow.stored_name()),
                due_by_ms: Some(due_by_ms.min(i64::MAX as u64)),
                after: after.as_deref(),
                limit: Some(PAGE),
                ..ThreadQuery::default()
            };
            let page = threads.list(query).await?;
            after = page.last().map(|last| last.id.clone());
            if after.is_none() {
                break;
            }
            for info in page {
                match (info.damage, info.due_ms) {
                    (Some(problem), _) => {
                        let error = damaged(info.id.clone(), problem);
                        self.refuse(info.id, RunError::of_thread(error, threads.flow.name()));
                    }
                    (None, due_ms) => due.extend(due_ms.map(|due_ms| (due_ms, info.id))),
                }
            }
        }
        due.sort_unstable();
        Ok(due)
    }

    /// Resumes a thread, unless it runs here.
    fn resume(&mut self, id: &str) {
        if self.running.insert(id.into()) {
            let (id, run) = (id.to_string(), self.threads.thread(id).recover());
            self.runs.spawn(async move { (id, run.await) });
        } else {
            self.again.insert(id.into());
        }
    }

    /// Waits until a thread becomes due in this process, or until a time, and tells which runs end meanwhile. If one of them ends in a
    /// shorter sleep, waits until the end of that.
    async fn wait(&mut self, wait: Duration, due: &mut watch::Receiver<()>) {
        let mut end = Instant::now() + wait;
        loop {
            // Boxed, so that they are dropped before the rest of the loop.
            let over = select(Box::pin(sleep_until(end)), Box::pin(due.changed()));
            if self.runs.is_empty() {
                over.await;
                return;
            }
            let ended = select(Box::pin(over), Box::pin(self.ended())).await;
            if matches!(ended, Either::Left(_)) {
                return;
            }
            drop(ended);
            if let Some(next_ms) = self.next_ms.take()
                && let Ok(now_ms) = self.threads.now_ms().await
            {
                let sleeps = Duration::from_millis(next_ms.saturating_sub(now_ms));
                end = end.min(Instant::now() + sleeps.min(wait));
            }
        }
    }

    /// Waits for the end of a run, and tells it. Returns `false` if none is in progress.
    async fn ended(&mut self) -> bool {
        let Some(ended) = self.runs.join_next().await else {
            return false;
        };
        // The future of a run catches panics.
        let Ok((id, result)) = ended else {
            return true;
        };
        self.running.remove(&id);
        if self.again.remove(&id) {
            self.next_ms = Some(0);
        }
        match result {
            Err(error) if error.thread_error().is_some() => self.refuse(id, error),
            result => {
                let wakes_ms = result.as_ref().err().and_then(RunError::wakes_ms);
                self.next_ms = self.next_ms.into_iter().chain(wakes_ms).min();
                (self.report)(WakeReport::Ended(id, result));
            }
        }
        true
    }

    /// A thread could not be resumed. It remains due.
    fn refuse(&mut self, id: String, error: RunError) {
        if error.thread_error().is_some_and(is_left_alone) {
            return;
        }
        let problem = error.to_string();
        if self.refused.insert(id.clone(), problem.clone()).as_ref() != Some(&problem) {
            (self.report)(WakeReport::Ended(id, Err(error)));
        }
    }
}
