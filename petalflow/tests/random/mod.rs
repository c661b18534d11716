//! Random graphs whose runs end alike: without a store, with one and each durability, and when they are dropped, drained and edited
//! at random moments and then resumed.

mod case;
mod world;

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use petalflow::cache::InMemoryCache;
use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow::run::{CancelToken, RunErrorKind};
use petalflow::thread::{Durability, Edit, Outcome, Retention, Thread, ThreadError, Threads};
use petalflow::{Launch, RunError};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use case::{Case, Tape, Walk, WalkLog};
use world::World;

/// How many graphs are tried.
const CASES: u32 = 60;

/// How often a run is stopped before it is left to end.
const STOPS: usize = 12;

fn durabilities() -> [Durability; 4] {
    let every_third = Durability::Interval(3.try_into().unwrap());
    [
        Durability::Sync,
        Durability::Async,
        Durability::Exit,
        every_third,
    ]
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(future)
}

fn launch(case: &Case) -> Launch<Graph<Walk>> {
    let graph = case.build(&World::new(case)).expect("the graph is valid");
    graph.launch().limit(1_000).cache(&InMemoryCache::new())
}

/// Polls a run this often at most, and drops it then.
async fn polled<T>(run: impl Future<Output = T>, limit: usize) -> Option<T> {
    let (mut run, mut polls) = (pin!(run), 0);
    poll_fn(|cx| {
        polls += 1;
        if polls > limit {
            return Poll::Ready(None);
        }
        run.as_mut().poll(cx).map(Some)
    })
    .await
}

/// Runs the thread once, if it can be resumed, and from its input if nothing of it was stored.
async fn run_once(
    thread: &Thread<Graph<Walk>>,
    limit: usize,
) -> Option<Result<Outcome<Walk>, RunError>> {
    let ended = polled(thread.resume(()), limit).await?;
    match ended {
        Err(error) if matches!(error.thread_error(), Some(ThreadError::Unknown { .. })) => {
            polled(thread.run(()), limit).await
        }
        ended => Some(ended),
    }
}

/// The end of a run that is stopped as the tape says.
async fn stopped_and_resumed(
    threads: &Threads<Graph<Walk>>,
    tape: &mut Tape<'_>,
) -> Result<Walk, String> {
    for _ in 0..STOPS {
        let token = CancelToken::new();
        let thread = threads.clone().cancel_with(&token).thread("t");
        if tape.one_in(4) {
            token.drain();
        }
        let ended = match run_once(&thread, 1 + tape.below(24)).await {
            Some(Ok(Outcome::Finished(walk))) => return Ok(walk),
            Some(Err(error)) if matches!(error.kind(), RunErrorKind::Drained { .. }) => true,
            Some(Err(error)) => return Err(error.to_string()),
            Some(Ok(Outcome::Paused(paused))) => return Err(format!("{paused:?}")),
            None => false,
        };
        // The writes of the run that was dropped have an end.
        tokio::time::sleep(Duration::from_millis(1)).await;
        if ended && tape.one_in(2) {
            // It changes nothing but the checkpoint.
            let edited = thread.update(Edit::new(WalkLog(Vec::new()))).await;
            edited.map_err(|error| error.to_string())?;
        }
    }
    let ended = run_once(&threads.thread("t"), usize::MAX).await;
    match ended.expect("it is not dropped") {
        Ok(Outcome::Finished(walk)) => Ok(walk),
        ended => Err(format!("{ended:?}")),
    }
}

#[test]
fn random_graphs_end_alike_with_a_store_and_without() {
    let config = ProptestConfig {
        cases: CASES,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let bytes = proptest::collection::vec(any::<u8>(), 200);
    let outcome = TestRunner::new(config).run(&bytes, |bytes| {
        let mut tape = Tape(bytes.iter());
        let case = Case::draw(&mut tape);
        let plain = block_on(launch(&case).run(())).map_err(|error| error.to_string());
        prop_assert!(plain.is_ok(), "{plain:?}\n{case:#?}");
        for durability in durabilities() {
            let threads = || {
                let threads = launch(&case).store(&InMemoryStore::new());
                threads
                    .durability(durability)
                    .retention(Retention::max_checkpoints(2))
            };
            let stored = block_on(run_once(&threads().thread("t"), usize::MAX));
            let stored = stored.expect("it is not dropped");
            let stored = stored.map(|end| end.state().clone());
            let stored = stored.map_err(|error| error.to_string());
            prop_assert_eq!(&stored, &plain, "stored, {:?}\n{:#?}", durability, case);
            let resumed = block_on(stopped_and_resumed(&threads(), &mut tape));
            prop_assert_eq!(&resumed, &plain, "resumed, {:?}\n{:#?}", durability, case);
        }
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
}
