//! The log of a thread that an engine runs in other processes, while it grows.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use futures_util::stream;
use petalflow::Flow;
use petalflow::checkpoint::ThreadStatus;
use petalflow::event::{EventName, LoggedEvent};
use petalflow::thread::{FollowedEvents, Thread, ThreadError};

use super::remote::RemoteThreads;
use super::remote_work;

/// The events in the log with numbers above this one, and those that follow, until the thread rests. They arrive superstep by
/// superstep if the engine publishes events, and otherwise when the thread rests.
pub(super) fn follow<F: Flow>(
    threads: &Arc<dyn RemoteThreads<F>>,
    thread: &str,
    number: u64,
) -> FollowedEvents {
    let follower = Follower {
        threads: Arc::clone(threads),
        thread: thread.to_string(),
        number,
        page: Vec::new().into_iter(),
        changes: None,
    };
    // `None` after an error.
    let events = stream::unfold(Some(follower), async |follower| {
        let mut follower = follower?;
        let next = follower.next().await.transpose()?;
        let follower = next.is_ok().then_some(follower);
        Some((next, follower))
    });
    FollowedEvents::new(events)
}

struct Follower<F: Flow> {
    threads: Arc<dyn RemoteThreads<F>>,
    thread: String,
    /// The number of the last event that was returned.
    number: u64,
    /// The events that were read and not returned yet.
    page: std::vec::IntoIter<LoggedEvent>,
    changes: Option<Changes>,
}

/// What says that the log may have more.
struct Changes {
    published: Option<FollowedEvents>,
    /// Completes when the thread rests. There is one for all supersteps, because each is a request that remains until then.
    rests: BoxFuture<'static, Result<(), ThreadError>>,
}

impl<F: Flow> Follower<F> {
    /// The next event. `None` if the thread rests and all of them were returned.
    async fn next(&mut self) -> Result<Option<LoggedEvent>, ThreadError> {
        loop {
            if let Some(event) = self.page.next() {
                self.number = event.number;
                return Ok(Some(event));
            }
            // First, so that no superstep ends between the log and the changes after it.
            if self.changes.is_none() {
                let (threads, thread) = (Arc::clone(&self.threads), self.thread.clone());
                self.changes = Some(Changes::of(threads, thread).await);
            }
            let number = self.number;
            let read = async move |thread: Thread<F>| {
                let info = thread.info().await?;
                let runs = info.is_some_and(|info| info.status == ThreadStatus::Running);
                Ok::<_, ThreadError>((thread.events_since(number).await?, runs))
            };
            let read = remote_work::read(&*self.threads, &self.thread, read).await;
            let (events, runs) = read??;
            if !events.is_empty() {
                self.page = events.into_iter();
            } else if !runs {
                return Ok(None);
            } else if let Some(changes) = &mut self.changes
                && let Some(ended) = changes.next().await
            {
                // The thread may run again already.
                self.changes = None;
                ended?;
            }
        }
    }
}

impl Changes {
    async fn of<F: Flow>(threads: Arc<dyn RemoteThreads<F>>, thread: String) -> Self {
        // The log does not depend on what is published.
        let newest = threads.newest_event(&thread).await.ok().flatten();
        Changes {
            published: newest.map(|newest| threads.follow(&thread, newest)),
            rests: Box::pin(async move { threads.wait(&thread).await.map(drop) }),
        }
    }

    /// Waits until a superstep has begun, and so the one before it was committed. `Some` if the thread rests.
    async fn next(&mut self) -> Option<Result<(), ThreadError>> {
        let committed = async {
            while let Some(published) = &mut self.published {
                match published.next().await {
                    Some(Ok(event)) if event.name() == Some(EventName::SuperstepStarted) => return,
                    Some(Ok(_)) => {}
                    _ => self.published = None,
                }
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = committed => None,
            rests = &mut self.rests => Some(rests),
        }
    }
}
