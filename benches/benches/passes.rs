//! The cost of a superstep of an engine that keeps the records of a thread: `cargo bench --bench passes`. It has a limit, and does
//! not depend on how many checkpoints the thread has.

use std::time::{Duration, Instant};

use petalflow::engine::{ThreadEngine, ThreadRecords};
use petalflow_benches::counter::Count;
use petalflow_benches::table::{head, row};
use tokio::runtime::Builder;

/// How many supersteps are measured at a time.
const MEASURED: u32 = 100;

fn main() {
    let runtime = Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime can be built");
    head();
    runtime.block_on(async {
        let engine = ThreadEngine::new(Count::new().limit(u64::MAX));
        let mut records = ThreadRecords::default();
        let begun = engine.begin("t", &records, 0_u64).await;
        records.apply(&begun.expect("the input is stored"));
        let mut used = 0;
        for checkpoints in [250, 2_000, 9_000] {
            while used < checkpoints {
                superstep(&engine, &mut records, used).await;
                used += 1;
            }
            let mut took = Duration::ZERO;
            for _ in 0..MEASURED {
                let begun = Instant::now();
                superstep(&engine, &mut records, used).await;
                took += begun.elapsed();
                used += 1;
            }
            let each = took / MEASURED;
            row(
                &format!("a superstep after {checkpoints} checkpoints"),
                &format!("{} µs", each.as_micros()),
                "100 µs",
            );
        }
    });
}

async fn superstep(engine: &ThreadEngine<Count>, records: &mut ThreadRecords, used: u64) {
    let mut pass = engine.advance("t", records.clone(), used, []);
    while let Some(batch) = pass.next().await {
        records.apply(&batch.changes);
    }
}
