//! A store that becomes unavailable during a run: the run fails with the reason, and the resumed thread has the same result.

mod files;
#[cfg(unix)]
mod servers;

use std::sync::atomic::{AtomicBool, Ordering};

use petalflow::RunError;
use petalflow::checkpoint::{InMemoryStore, Store};
use petalflow::prelude::*;
use petalflow::thread::{Durability, Outcome, Thread};

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Relay {
    /// How many rounds to go, and how many bytes to write in each.
    #[key(input)]
    size: (u64, usize),
    #[key(sum)]
    round: u64,
    #[key(append)]
    log: Vec<String>,
}

/// Where the store goes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Before the effect of a node is recorded.
    Recorded,
    /// While a superstep runs that records nothing itself.
    Superstep,
    /// Never from within the run.
    Nowhere,
}

/// Takes the store away, once.
struct Outage {
    place: Place,
    happened: AtomicBool,
    stop: Box<dyn Fn() + Send + Sync>,
}

impl Outage {
    fn at(place: Place, stop: impl Fn() + Send + Sync + 'static) -> Self {
        Outage {
            place,
            happened: AtomicBool::new(false),
            stop: Box::new(stop),
        }
    }

    fn none() -> Self {
        Self::at(Place::Nowhere, || {})
    }

    /// A node in the middle of the run is at this place.
    fn pass(&self, place: Place, round: u64) {
        let here = place == self.place && round == ROUNDS / 2;
        if here && !self.happened.swap(true, Ordering::SeqCst) {
            (self.stop)();
        }
    }
}

#[node(Relay)]
async fn pace() -> RelayRound {
    RelayRound(1)
}

#[node(Relay)]
async fn charge(round: &u64, cx: Context, outage: Managed<Outage>) -> petalflow::Result<RelayLog> {
    outage.pass(Place::Recorded, *round);
    let paid = cx
        .once("charge", async {
            Ok::<_, petalflow::BoxError>(round * 100)
        })
        .await?;
    Ok(RelayLog(vec![format!("round {round}: paid {paid}")]))
}

#[node(Relay)]
async fn beside(log: &[String], size: &(u64, usize)) -> RelayLog {
    RelayLog(vec![format!("{} {}", log.len(), "x".repeat(size.1))])
}

#[node(Relay)]
async fn judge(round: &u64, size: &(u64, usize), outage: Managed<Outage>) -> bool {
    outage.pass(Place::Superstep, *round);
    *round < size.0
}

flow!(Race(Relay) {
    START -> pace -> charge & beside -> judge;
    judge -> match { true => pace, false => END };
});

const ROUNDS: u64 = 20;

/// A thread of the race.
fn race(
    store: &(impl Store + Clone),
    durability: Durability,
    outage: Outage,
    id: &str,
) -> Thread<Race> {
    Race::new()
        .limit(1_000)
        .manage(outage)
        .store(store)
        .durability(durability)
        .thread(id)
}

/// Begins or resumes the thread.
async fn run_or_resume(thread: &Thread<Race>, size: (u64, usize)) -> Result<Relay, RunError> {
    let begun = thread.snapshot().await;
    let run = match begun.expect("the store can be read") {
        None => thread.run(size),
        Some(_) => thread.resume(()),
    };
    match run.await? {
        Outcome::Finished(state) => Ok(state),
        Outcome::Paused(paused) => panic!("{paused:?}"),
    }
}

/// The end as bytes; `is` must be that of a run that nothing has happened to.
#[track_caller]
fn assert_same_end(unbroken: &Relay, is: &Relay) {
    let bytes = |relay: &Relay| serde_json::to_vec(&(relay.size, relay.round, &relay.log)).unwrap();
    assert!(bytes(unbroken) == bytes(is), "{is:?} is not {unbroken:?}");
}

async fn run_without_outage(size: (u64, usize)) -> Relay {
    let thread = race(&InMemoryStore::new(), Durability::Sync, Outage::none(), "t");
    run_or_resume(&thread, size).await.unwrap()
}
