//! A background task that resumes threads when they are due.

use std::future::Future;
use std::time::Duration;

use super::erased::{WakeReport, WakeSettings};
use super::run::outcome;
use super::{Outcome, ThreadError, Threads};
use crate::erased::into_state;
use crate::flow::Flow;
use crate::future::BoxFuture;
use crate::outcome::RunError;

/// What is called with the end of a run.
type OnEnd<F> = Box<dyn FnMut(&str, Result<Outcome<<F as Flow>::State>, RunError>) + Send>;

/// A background task that resumes the threads of a flow when they are due: when a [sleep](crate::Context::sleep) of theirs ends, or a
/// question that they wait for [expires](crate::interrupt::Ask::expires). Made by [`Threads::wake`].
#[must_use = "it does nothing before `run`"]
pub struct Wake<F: Flow> {
    threads: Threads<F>,
    settings: WakeSettings,
    on_end: OnEnd<F>,
    on_error: Box<dyn FnMut(ThreadError) + Send>,
}

impl<F: Flow> std::fmt::Debug for Wake<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wake")
            .field("threads", &self.threads)
            .field("interval", &self.settings.interval)
            .field("max_runs", &self.settings.max_runs)
            .finish_non_exhaustive()
    }
}

impl<F: Flow> Threads<F> {
    /// A background task that resumes the threads of this flow when they are due, in the order of their times. Several processes can
    /// do it over one store: each thread is resumed by one of them.
    ///
    /// It also continues a thread that was due and whose process died before the next checkpoint. It leaves threads alone that are
    /// busy, and those that a person [holds](crate::checkpoint::ThreadStatus::Held). To do it once, in place of a task, call
    /// [`sweep`](Self::sweep).
    ///
    /// ```
    /// use std::time::Duration;
    /// use petalflow::checkpoint::{InMemoryStore, ThreadStatus};
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Invoice {
    ///     #[key(append)]
    ///     letters: Vec<String>,
    /// }
    ///
    /// #[node(Invoice)]
    /// async fn remind(cx: Context) -> petalflow::Result<InvoiceLetters> {
    ///     cx.sleep(Duration::from_secs(3 * 86_400)).await?;
    ///     Ok(InvoiceLetters(vec!["please pay".into()]))
    /// }
    ///
    /// flow!(Dun(Invoice) { remind });
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> petalflow::Result<()> {
    /// let invoices = Dun::new().store(&InMemoryStore::new());
    /// tokio::spawn(invoices.wake().on_error(|error| eprintln!("{error}")).run());
    /// let _ = invoices.thread("invoice-7").run(()).await?;
    ///
    /// // The time of this test is paused, so this takes no time.
    /// tokio::time::sleep(Duration::from_secs(4 * 86_400)).await;
    /// let info = invoices.thread("invoice-7").info().await?.expect("it exists");
    /// assert_eq!(info.status, ThreadStatus::Finished);
    /// # Ok(())
    /// # }
    /// ```
    pub fn wake(&self) -> Wake<F> {
        Wake {
            threads: self.clone(),
            settings: WakeSettings {
                interval: Duration::from_secs(10),
                max_runs: 16,
            },
            on_end: Box::new(|_, _| {}),
            on_error: Box::new(|_| {}),
        }
    }
}

impl<F: Flow> Wake<F> {
    /// Sets how often it looks for threads that are due, or will be before it looks again. The default is 10 seconds. So a sleep that is
    /// longer than the interval ends on time, and a shorter one at most one interval late.
    pub fn interval(mut self, interval: Duration) -> Self {
        self.settings.interval = interval.max(Duration::from_millis(1));
        self
    }

    /// Sets how many runs are in progress at most. The default is 16.
    pub fn max_runs(mut self, max_runs: usize) -> Self {
        self.settings.max_runs = max_runs.max(1);
        self
    }

    /// Calls this with the id of each thread whose run has ended, and how it has. A thread that cannot be resumed is told once for each
    /// reason, with a [`thread_error`](RunError::thread_error), and is tried again.
    pub fn on_end(
        mut self,
        on_end: impl FnMut(&str, Result<Outcome<F::State>, RunError>) + Send + 'static,
    ) -> Self {
        self.on_end = Box::new(on_end);
        self
    }

    /// Calls this when the store fails while it looks for threads. It goes on after an interval.
    pub fn on_error(mut self, on_error: impl FnMut(ThreadError) + Send + 'static) -> Self {
        self.on_error = Box::new(on_error);
        self
    }

    /// Resumes threads without end.
    ///
    /// # Panics
    ///
    /// If it is polled outside of a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the runs in progress are dropped. Their threads remain due, or are those of runs that were interrupted.
    pub fn run(self) -> BoxFuture<'static, ()> {
        self.run_until(std::future::pending())
    }

    /// Resumes threads until `stop` completes. Then it begins no run any more, and waits for those in progress.
    ///
    /// ```
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Nothing {}
    /// # #[node(Nothing)]
    /// # async fn work() {}
    /// # flow!(Work(Nothing) { work });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # let threads = Work::new().store(&InMemoryStore::new());
    /// let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    /// let waking = tokio::spawn(threads.wake().run_until(async { drop(stopped.await) }));
    /// let _ = stop.send(());
    /// waking.await.expect("it has ended");
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If it is polled outside of a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// As [`run`](Self::run).
    pub fn run_until(
        self,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> BoxFuture<'static, ()> {
        let Wake {
            threads,
            settings,
            mut on_end,
            mut on_error,
        } = self;
        Box::pin(async move {
            let mut report = move |report| match report {
                WakeReport::Ended(id, ended) => on_end(&id, outcome(ended.map(into_state))),
                WakeReport::Failed(error) => on_error(error),
            };
            threads.any.wake(settings, stop, &mut report).await;
        })
    }
}
