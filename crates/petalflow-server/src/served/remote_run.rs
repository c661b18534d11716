//! A run that an engine executes in other processes, as the server drives its own runs.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use petalflow::Flow;
use petalflow::run::CancelToken;

use super::remote::RemoteThreads;
use super::threads::{RunEvent, RunEvents};

/// The events of a run that the engine has begun. The stream ends with the run, or when the server stops: the engine goes on. With
/// `published`, readers of the turn receive what was published after this event.
pub(super) fn events<F: Flow>(
    threads: &Arc<dyn RemoteThreads<F>>,
    thread: &str,
    token: &CancelToken,
    published: Option<u64>,
) -> RunEvents {
    let live = match published {
        Some(number) => live(&**threads, thread, number),
        None => stream::empty().boxed(),
    };
    let ended = Box::pin(ended(
        Arc::clone(threads),
        thread.to_string(),
        token.clone(),
    ));
    stream::unfold(Some((live, ended)), async |run| {
        let (mut live, mut ended) = run?;
        tokio::select! {
            biased;
            Some(event) = live.next() => Some((event, Some((live, ended)))),
            failure = &mut ended => {
                Some((RunEvent::end(failure.map(Into::into)), None))
            }
        }
    })
    .boxed()
}

/// Waits until the thread rests, and returns why it has failed. What stops the thread is told to the engine, so it ends this, too.
async fn ended<F: Flow>(
    threads: Arc<dyn RemoteThreads<F>>,
    thread: String,
    token: CancelToken,
) -> Option<String> {
    tokio::select! {
        // Clients see the state of the thread, whether this fails or not.
        failure = threads.wait(&thread) => failure.ok().flatten(),
        () = drained(&token) => None,
    }
}

/// Completes when the server stops. A token does not wake anyone when it is drained, because runs look at it at their barriers.
async fn drained(token: &CancelToken) {
    while !token.is_draining() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// What readers of a turn need of the published events of a thread. Of events that cannot be read, the log has what counts.
#[cfg(feature = "protocol")]
fn live<F: Flow>(
    threads: &dyn RemoteThreads<F>,
    thread: &str,
    number: u64,
) -> BoxStream<'static, RunEvent> {
    use crate::turn_parts::LiveEvent;
    let events = threads.follow(thread, number).filter_map(async |event| {
        let live = LiveEvent::of_published(&event.ok()?).into_iter();
        let live = live.map(|live| RunEvent {
            failure: None,
            asks: false,
            #[cfg(feature = "metrics")]
            node: None,
            live: Some(live),
            #[cfg(feature = "agent")]
            output: None,
        });
        Some(stream::iter(live.collect::<Vec<_>>()))
    });
    events.flatten().boxed()
}

#[cfg(not(feature = "protocol"))]
fn live<F: Flow>(_: &dyn RemoteThreads<F>, _: &str, _: u64) -> BoxStream<'static, RunEvent> {
    stream::empty().boxed()
}
