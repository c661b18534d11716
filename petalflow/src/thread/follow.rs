//! The events of a thread as they are stored.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use futures_util::stream::unfold;

use super::{Thread, ThreadError};
use crate::checkpoint::{ThreadStatus, ThreadStorage};
use crate::durable;
use crate::event::LoggedEvent;
use crate::flow::Flow;

/// How often the log of a thread is read that another process runs.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

impl<F: Flow> Thread<F> {
    /// The stored events of the thread with numbers above `number`, and those that follow, until no run is in progress. So a
    /// server gives a client the events of a thread, and a client that reconnects names the last event that it has received: none
    /// is lost or repeated. The thread needs an [event log](super::Threads::event_log).
    ///
    /// Events are stored superstep by superstep, and arrive then. While a run of the same [`Threads`](super::Threads) has the
    /// thread, or of a clone, they arrive at once. Otherwise the log is read once per second while the thread is listed as
    /// [`Running`](ThreadStatus::Running), because another process may run it. The stream ends when the run has ended, failed or
    /// paused, and all of its events were returned. Of a thread that does not run, it has the stored events.
    ///
    /// After a crash the thread is `Running` until a process recovers it, and the stream waits for that.
    ///
    /// # Errors
    ///
    /// An item is an error if the store fails, or its contents cannot be read. It is the last item.
    ///
    /// # Cancel safety
    ///
    /// Dropping the stream changes nothing. The run does not depend on it.
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
    /// let thread = Talk::new().store(&InMemoryStore::new()).event_log(1_000).thread("ann");
    /// let run = thread.run(vec!["hello".to_string()]).begin().await?;
    /// tokio::spawn(run);
    ///
    /// let mut events = thread.follow(0);
    /// let first = events.next().await.expect("the run has begun")?;
    /// assert_eq!((first.number, &*first.kind), (1, "run_started"));
    /// // The client connects again, and has received this one.
    /// let mut events = thread.follow(first.number);
    /// let mut last = first;
    /// while let Some(event) = events.next().await {
    ///     last = event?;
    /// }
    /// assert_eq!(last.kind, "finished");
    /// # Ok(())
    /// # }
    /// ```
    pub fn follow(&self, number: u64) -> FollowedEvents {
        followed(self.any.checked(), number)
    }
}

/// The events of a thread with numbers above `number`, and those that follow.
pub(super) fn followed(storage: Result<ThreadStorage, ThreadError>, number: u64) -> FollowedEvents {
    let begun = storage.map(|storage| Follower {
        storage,
        number,
        page: Vec::new().into_iter(),
    });
    // `None` after an error.
    let events = unfold(Some(begun), async |begun| {
        let mut follower = match begun? {
            Ok(follower) => follower,
            Err(error) => return Some((Err(error), None)),
        };
        let next = follower.next().await.transpose()?;
        let follower = next.is_ok().then_some(Ok(follower));
        Some((next, follower))
    });
    FollowedEvents::new(events)
}

/// The events of a thread as they are stored, made by [`Thread::follow`].
///
/// ```
/// use petalflow::thread::FollowedEvents;
///
/// async fn print(mut events: FollowedEvents) -> petalflow::Result<()> {
///     while let Some(event) = events.next().await {
///         let event = event?;
///         println!("{}: {}", event.number, event.value);
///     }
///     Ok(())
/// }
/// # let _ = print;
/// ```
#[must_use = "nothing is read before the stream is polled"]
pub struct FollowedEvents(
    Option<Pin<Box<dyn Stream<Item = Result<LoggedEvent, ThreadError>> + Send>>>,
);

impl FollowedEvents {
    /// The events of a thread that an engine runs: for servers that show threads wherever they are.
    ///
    /// ```
    /// use petalflow::thread::FollowedEvents;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut events = FollowedEvents::new(futures_util::stream::empty());
    /// assert!(events.next().await.is_none());
    /// # }
    /// ```
    pub fn new(
        events: impl Stream<Item = Result<LoggedEvent, ThreadError>> + Send + 'static,
    ) -> Self {
        FollowedEvents(Some(Box::pin(events)))
    }

    /// The next event. `None` at the end.
    ///
    /// # Errors
    ///
    /// See [`Thread::follow`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no event.
    pub async fn next(&mut self) -> Option<Result<LoggedEvent, ThreadError>> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }
}

impl Stream for FollowedEvents {
    type Item = Result<LoggedEvent, ThreadError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(events) = &mut self.0 else {
            return Poll::Ready(None);
        };
        let next = std::task::ready!(events.as_mut().poll_next(cx));
        if !matches!(next, Some(Ok(_))) {
            self.0 = None;
        }
        Poll::Ready(next)
    }
}

impl std::fmt::Debug for FollowedEvents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FollowedEvents")
            .field("has_ended", &self.0.is_none())
            .finish_non_exhaustive()
    }
}

struct Follower {
    storage: ThreadStorage,
    /// The number of the last event that was returned.
    number: u64,
    /// The events that were read and not returned yet.
    page: std::vec::IntoIter<LoggedEvent>,
}

impl Follower {
    /// The next event. `None` if no run is in progress and all of them were returned.
    async fn next(&mut self) -> Result<Option<LoggedEvent>, ThreadError> {
        loop {
            if let Some(event) = self.page.next() {
                self.number = event.number;
                return Ok(Some(event));
            }
            // Both before the log is read: the last events of a run are stored before its status, and its status before it ends.
            let live = durable::live_run(&self.storage);
            let is_running = live.is_some() || self.is_listed_as_running().await?;
            let events = durable::events_since(&self.storage, self.number).await?;
            if !events.is_empty() {
                self.page = events.into_iter();
                continue;
            }
            match live {
                // An error means that the run has ended.
                Some(mut live) => drop(live.changed().await),
                None if is_running => tokio::time::sleep(POLL_INTERVAL).await,
                None => return Ok(None),
            }
        }
    }

    async fn is_listed_as_running(&self) -> Result<bool, ThreadError> {
        let info = self.storage.info().await?;
        Ok(info.is_some_and(|info| info.status == ThreadStatus::Running))
    }
}
