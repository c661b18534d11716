//! The events of a thread, for listeners in any process.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::stream::{self, BoxStream, Stream, StreamExt as _};
use petalflow::Flow;
use petalflow::engine::{FollowedEvent, StoredEvents, StreamReader};
use petalflow::state::Storable;
use tokio::time::timeout;

use crate::error::RestateError;
use crate::thread::RestateThread;

/// How long no event comes before the server is asked whether the thread runs. Its end may have been dropped.
const IDLE: Duration = Duration::from_secs(1);

/// The same after an event that says that the thread rests. It may run again already.
const AFTER_END: Duration = Duration::from_millis(20);

/// The events of a thread, made by [`RestateThread::follow`], which has an example.
#[must_use = "nothing is read before the stream is polled"]
pub struct FollowedThread(BoxStream<'static, Result<FollowedEvent, RestateError>>);

impl std::fmt::Debug for FollowedThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FollowedThread").finish_non_exhaustive()
    }
}

impl FollowedThread {
    /// The next event. `None` at the end.
    ///
    /// # Errors
    ///
    /// See [`RestateThread::follow`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no event.
    pub async fn next(&mut self) -> Option<Result<FollowedEvent, RestateError>> {
        self.0.next().await
    }
}

impl Stream for FollowedThread {
    type Item = Result<FollowedEvent, RestateError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(cx)
    }
}

impl<F: Flow<State: Storable>> RestateThread<F> {
    /// The events of the thread with numbers above `number`, and those that follow, until the thread rests. They arrive while nodes
    /// run, from all processes that run them. 0: all events that remain. A listener that connects again gives the number of the last
    /// event that it has. Begin to follow after [`begin`](Self::begin): of a thread that does not run, the stream has the events that
    /// remain.
    ///
    /// What a lost process said is left out from the moment at which another one begins its task again. If the listener has received
    /// some of it, [`FollowedEvent::restarts`] says when to discard it. Events can be lost: [`FollowedEvent::missed`] says how many.
    /// What counts is the checkpoint, which [`snapshot`](Self::snapshot) reads.
    ///
    /// ```no_run
    /// # use petalflow::prelude::*;
    /// # use petalflow_restate::RestateThread;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("petals".into()) }
    /// # flow!(Write(Essay) { write });
    /// async fn print(thread: &RestateThread<Write>) -> petalflow::Result<()> {
    ///     let mut events = thread.follow(0);
    ///     while let Some(event) = events.next().await {
    ///         let event = event?;
    ///         if event.restarts {
    ///             println!("it begins again");
    ///         }
    ///         println!("{}", event.event.value);
    ///     }
    ///     Ok(())
    /// }
    /// # let _ = print;
    /// ```
    ///
    /// # Errors
    ///
    /// An item is an error if the flow [has no events](crate::RestateFlow::events), or they cannot be read, or the server does not
    /// answer. It is the last item.
    ///
    /// # Cancel safety
    ///
    /// Dropping the stream changes nothing. The run does not depend on it.
    pub fn follow(&self, number: u64) -> FollowedThread {
        let follower = self.source().map(|source| Follower {
            thread: self.clone(),
            events: source.events(self.id()),
            reader: StreamReader::default(),
            after: number,
            rested_at: None,
        });
        // `None` after an error.
        let events = stream::unfold(Some(follower), async |follower| {
            let mut follower = match follower? {
                Ok(follower) => follower,
                Err(error) => return Some((Err(error), None)),
            };
            let next = follower.next().await.transpose()?;
            let follower = next.is_ok().then_some(Ok(follower));
            Some((next, follower))
        });
        FollowedThread(events.boxed())
    }
}

struct Follower<F: Flow> {
    thread: RestateThread<F>,
    events: StoredEvents,
    reader: StreamReader,
    /// The number of the last event that the listener has.
    after: u64,
    /// The version at which the thread rests, if the newest event says that it does.
    rested_at: Option<u64>,
}

impl<F: Flow<State: Storable>> Follower<F> {
    /// The next event. `None` if the thread rests and all of them were returned.
    async fn next(&mut self) -> Result<Option<FollowedEvent>, RestateError> {
        let mut rests = false;
        loop {
            let wait = if self.rested_at.is_some() && !rests {
                AFTER_END
            } else {
                IDLE
            };
            let Ok(read) = timeout(wait, self.events.next()).await else {
                if rests {
                    return Ok(None);
                }
                let rests_at = self.thread.rests_at().await?;
                rests = rests_at.is_some();
                // Otherwise the event is that of an earlier turn, and those of the newest turn may be on their way.
                if rests && rests_at == self.rested_at {
                    return Ok(None);
                }
                continue;
            };
            let failed = |source| RestateError::Events {
                thread: self.thread.id().into(),
                source,
            };
            let ended = || Err("the stream of events has ended".into());
            let (number, event) = read.unwrap_or_else(ended).map_err(failed)?;
            rests = false;
            let attempt = event.attempt;
            // What the listener has is read again, to know which attempts are lost.
            let Some(event) = self.reader.read(number, event) else {
                continue;
            };
            let is_end = event.task.is_none()
                && ["finished", "interrupted", "sleeping", "failed"].contains(&&*event.event.kind);
            self.rested_at = is_end.then_some(attempt);
            if number > self.after {
                return Ok(Some(event));
            }
        }
    }
}
