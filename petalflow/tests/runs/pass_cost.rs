//! What a pass of an engine reads and writes does not depend on how many checkpoints a thread has.

use petalflow::engine::{ThreadEngine, ThreadRecords};
use petalflow::prelude::*;
use petalflow_test_support::allocated;
use tokio::runtime::{Builder, Runtime};

use super::engine::begun;

#[state]
struct Counter {
    #[key(input)]
    n: u64,
}

#[node(Counter)]
async fn add(n: &u64) -> (CounterN, bool) {
    (CounterN(*n + 1), true)
}

flow!(Count(Counter) { add -> match { true => add, false => END } });

/// The most that passes cost.
#[derive(Default, Debug)]
struct Cost {
    allocations: u64,
    bytes: u64,
    /// How many records they changed.
    changed: usize,
}

/// One pass, as an engine makes it: with a copy of the records, of which the changes are applied to the original.
async fn pass(engine: &ThreadEngine<Count>, records: &mut ThreadRecords, used: u64) -> usize {
    let mut changed = 0;
    let mut pass = engine.advance("t", records.clone(), used, []);
    while let Some(batch) = pass.next().await {
        records.apply(&batch.changes);
        changed += batch.changes.0.len();
        assert!(batch.end.is_none_or(|end| end.continues()));
    }
    changed
}

/// Makes passes, and returns the most that one of them cost.
fn passes(
    runtime: &Runtime,
    engine: &ThreadEngine<Count>,
    records: &mut ThreadRecords,
    numbers: std::ops::Range<u64>,
) -> Cost {
    let mut most = Cost::default();
    for used in numbers {
        let mut changed = 0;
        let cost = allocated(|| changed = runtime.block_on(pass(engine, records, used)));
        most.allocations = most.allocations.max(cost.count);
        most.bytes = most.bytes.max(cost.bytes);
        most.changed = most.changed.max(changed);
    }
    most
}

#[test]
fn a_pass_reads_and_writes_the_same_after_thousands_of_checkpoints() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let engine = ThreadEngine::new(Count::new().limit(u64::MAX));
    let mut records = runtime.block_on(begun(&engine, 0));
    passes(&runtime, &engine, &mut records, 0..250);
    // So many that a checkpoint which builds on no other is among them.
    let early = passes(&runtime, &engine, &mut records, 250..500);
    passes(&runtime, &engine, &mut records, 500..2_000);
    let late = passes(&runtime, &engine, &mut records, 2_000..2_250);
    assert_eq!(records.iter().count(), 2_252);
    // The checkpoint. The status does not change.
    assert_eq!((early.changed, late.changed), (1, 1));
    // A larger number takes more bytes, and a larger map is deeper.
    let grown = |early: u64, late: u64| late * 100 > early * 115;
    assert!(
        !grown(early.allocations, late.allocations),
        "{early:?} {late:?}"
    );
    assert!(!grown(early.bytes, late.bytes), "{early:?} {late:?}");
}
