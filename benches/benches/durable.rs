//! The cost of storing a run: `cargo bench --bench durable`. Each figure has a limit.

#![allow(clippy::cast_precision_loss)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use petalflow::checkpoint::{InMemoryStore, Store, ThreadQuery};
use petalflow::thread::{HistoryQuery, Thread};
use petalflow_benches::table::{head, row};
use petalflow_benches::{chat, counter};
use tokio::runtime::{Builder, Runtime};

/// The number of supersteps of the loop.
const SUPERSTEPS: u32 = 10_000;

fn main() {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime can be built");
    head();
    supersteps(&runtime);
    resume(&runtime);
    bytes(&runtime);
}

fn count(store: &InMemoryStore) -> Thread<counter::Count> {
    counter::Count::new()
        .limit(u64::MAX)
        .store(store)
        .thread("t")
}

/// The shortest of several times, per unit. Disturbances only make a time longer.
fn shortest(times: usize, units: u32, mut work: impl FnMut() -> Duration) -> Duration {
    let times = (0..times).map(|_| work());
    times.min().unwrap_or_default() / units
}

fn supersteps(runtime: &Runtime) {
    let unstored = shortest(30, SUPERSTEPS, || {
        let run = counter::Count::new().limit(u64::MAX).run(0_u64);
        let begun = Instant::now();
        black_box(runtime.block_on(run).expect("it counts"));
        begun.elapsed()
    });
    let stored = shortest(30, SUPERSTEPS, || {
        let store = InMemoryStore::new();
        let run = count(&store).run(0_u64);
        let begun = Instant::now();
        let _ = black_box(runtime.block_on(run).expect("it counts"));
        begun.elapsed()
    });
    row(
        "a superstep of a loop, unstored",
        &format!("{} ns", unstored.as_nanos()),
        "",
    );
    row(
        "a superstep of a loop, stored in memory",
        &format!("{} ns", stored.as_nanos()),
        "",
    );
    row(
        "cost of storing, per superstep",
        &format!("{} ns", stored.saturating_sub(unstored).as_nanos()),
        "150 ns",
    );
}

fn resume(runtime: &Runtime) {
    let store = InMemoryStore::new();
    let thread = count(&store);
    let _ = runtime.block_on(thread.run(0_u64)).expect("it counts");
    let took = shortest(10, 1, || {
        let begun = Instant::now();
        let _ = black_box(runtime.block_on(thread.resume(())).expect("it has ended"));
        begun.elapsed()
    });
    row(
        "resuming a thread of 10,000 supersteps",
        &format!("{:.2} ms", took.as_secs_f64() * 1e3),
        "50 ms",
    );
}

fn bytes(runtime: &Runtime) {
    let store = InMemoryStore::new();
    let thread = chat::Talk::new().limit(10_000).store(&store).thread("t");
    let _ = runtime.block_on(thread.run(1_000_usize)).expect("it ends");
    let threads = runtime.block_on(store.threads(ThreadQuery::default()));
    let info = &threads.expect("the store lives")[0];
    let all: f64 = info.bytes as f64;
    row(
        "a chat of 1,000 messages of 206 bytes",
        &format!("{:.3} MB", all / 1e6),
        "0.25 MB",
    );
    let history = runtime.block_on(thread.history(HistoryQuery::all()));
    let mut sizes: Vec<u64> = history
        .expect("the store lives")
        .iter()
        .map(|info| info.bytes)
        .collect();
    sizes.reverse();
    let mean = |sizes: &[u64]| sizes.iter().sum::<u64>() / sizes.len() as u64;
    row(
        "bytes of a checkpoint, the first 100 and the last 100",
        &format!(
            "{} {}",
            mean(&sizes[1..101]),
            mean(&sizes[sizes.len() - 100..])
        ),
        "alike",
    );
    let took = shortest(10, 1, || {
        let begun = Instant::now();
        let _ = black_box(runtime.block_on(thread.snapshot()).expect("it is there"));
        begun.elapsed()
    });
    row(
        "reading that chat",
        &format!("{:.2} ms", took.as_secs_f64() * 1e3),
        "",
    );
}
