//! Threads that are exported, and replayed with the same program and with changed ones.

mod changed;
mod continued;
mod exported;
mod flows;
mod judged;
mod large;
mod planted;
mod requests;
mod subflows;

use petalflow::checkpoint::InMemoryStore;
use petalflow::prelude::*;
use petalflow::state::Durable;
use petalflow::thread::{Retention, ThreadFile, Threads};
use petalflow_testing::{Replay, ReplayReport};

/// The threads of a launch, with their results.
fn threads<F: Flow<State: State<Storage = Durable>>>(launch: Launch<F>) -> Threads<F> {
    let retention = Retention::ALL.with_results();
    launch.store(&InMemoryStore::new()).retention(retention)
}

/// The thread as it is read from its file.
async fn exported<F: Flow>(threads: &Threads<F>, id: &str) -> ThreadFile {
    let file = threads.thread(id).export().await.unwrap();
    let text = file.to_string();
    let read: ThreadFile = text.parse().unwrap();
    assert_eq!(read.to_string(), text);
    read
}

/// The rows of a report: superstep, node, what, name, expected, found.
fn rows(report: &ReplayReport) -> Vec<String> {
    let rows = report.replayed.differences.iter().map(|row| {
        let superstep = row.superstep.map_or("program".into(), |(turn, superstep)| {
            format!("{turn}.{superstep}")
        });
        let node = row.node.as_deref().unwrap_or("-");
        let (what, name) = (row.kind, &row.name);
        format!(
            "{superstep} {node} {what} {name}: {} => {}",
            row.expected, row.found
        )
    });
    rows.collect()
}

/// What differs when no node runs, and when all run.
async fn both<F: Flow<State: State<Storage = Durable>>>(
    file: &ThreadFile,
    launch: impl Fn() -> Launch<F>,
) -> (ReplayReport, ReplayReport) {
    let replay = || Replay::of_file(file.clone()).flow(launch());
    (replay().report().await, replay().run_all().report().await)
}
