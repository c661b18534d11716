//! Nodes that wait for a time.

use std::time::{Duration, SystemTime};

use super::Context;
use crate::clock::{duration_ms, now_ms, to_ms};
use crate::error::BoxError;
use crate::future::BoxFuture;
use crate::task_services::outlived_error;

impl Context {
    /// Waits for this time, which may be days.
    ///
    /// On a thread, the node is dropped while it sleeps, as one that [asks](Self::ask), and its timeouts do not run. When the time has
    /// come, it runs again from its start, and this completes at once. Effects before the sleep are repeated; put those that must not be
    /// into [`once`](Self::once). If all other nodes of the superstep have ended or wait, the run ends: nothing is held meanwhile. The
    /// thread is [`Sleeping`](crate::checkpoint::ThreadStatus::Sleeping), and any process continues it after that time, with
    /// [`Threads::wake`](crate::thread::Threads::wake) or by hand, with `resume(())`.
    ///
    /// The end of the sleep is stored when it begins, by the clock of the store, and by its position in the run of the node: its third
    /// sleep is the third one again when the node runs again. Several sleeps can go on at the same time, as in `join!`, and a sleep beside
    /// a question is a deadline for it. Anything else that the node does beside a sleep is dropped, and begins again when the node does;
    /// effects of `once` that have begun are awaited first.
    ///
    /// In a run without a store, it is a timer of tokio, and the timeouts of the node and the run go on.
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
    /// let thread = Dun::new().store(&InMemoryStore::new()).thread("invoice-7");
    /// let paused = thread.run(()).await?.into_finished().err().expect("it sleeps");
    /// assert!(paused.interrupts.is_empty() && paused.wakes.is_some());
    /// assert_eq!(thread.info().await?.expect("it exists").status, ThreadStatus::Sleeping);
    ///
    /// // The time of this test is paused, so this takes no time.
    /// tokio::time::sleep(Duration::from_secs(3 * 86_400)).await;
    /// assert_eq!(thread.resume(()).await?.into_finished()?.letters, ["please pay"]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If a run without a store is not polled by a runtime of tokio, or if the run of the node has ended: a clone of the context on a
    /// spawned task may outlive it. If the store fails, the run ends.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, as in `select!`, the node sleeps unless it ends first. A node that runs again finds the end of the sleep
    /// at the same position.
    pub fn sleep(&self, duration: Duration) -> BoxFuture<'_, Result<(), BoxError>> {
        let wait_ms = duration_ms(duration);
        self.sleep_for(move |now_ms| now_ms.saturating_add(wait_ms))
    }

    /// Waits until this time, by the clock of the store, in all other ways like [`sleep`](Self::sleep). If the time has come, it completes
    /// at once.
    ///
    /// ```
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Launch { #[key(append)] log: Vec<String> }
    /// use std::time::{Duration, SystemTime};
    ///
    /// #[node(Launch)]
    /// async fn wait(cx: Context) -> petalflow::Result<LaunchLog> {
    ///     cx.sleep_until(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).await?;
    ///     Ok(LaunchLog(vec!["it is after 2001-09-09".into()]))
    /// }
    ///
    /// flow!(Wait(Launch) { wait });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// assert_eq!(Wait::run(()).await?.log.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As [`sleep`](Self::sleep).
    ///
    /// # Cancel safety
    ///
    /// As [`sleep`](Self::sleep).
    pub fn sleep_until(&self, time: SystemTime) -> BoxFuture<'_, Result<(), BoxError>> {
        let end_ms = to_ms(time);
        self.sleep_for(move |_| end_ms)
    }

    fn sleep_for<'a>(
        &'a self,
        end: impl FnOnce(u64) -> u64 + Send + 'a,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            if let Some(services) = &self.0.shared.services {
                return services.sleep(&self.0.task_ref(), end).await;
            }
            if self.0.life.is_over() {
                return Err(outlived_error(self.node(), "sleep"));
            }
            let now_ms = now_ms();
            let wait = Duration::from_millis(end(now_ms).saturating_sub(now_ms));
            if wait.is_zero() {
                return Ok(());
            }
            if tokio::runtime::Handle::try_current().is_err() {
                return Err(format!(
                    "node `{}` sleeps, which needs tokio, and no runtime of tokio polls the run: run it in one, with `enable_all()`",
                    self.node()
                )
                .into());
            }
            tokio::time::sleep(wait).await;
            Ok(())
        })
    }
}
