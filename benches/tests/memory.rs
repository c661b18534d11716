//! The memory of a run in flight: what a server holds for each run that waits.

use petalflow_benches::sleep;
use tokio::runtime::Builder;
use tokio::task::JoinHandle;

/// The bytes per task while many of them wait.
fn peak(spawn: impl Fn() -> JoinHandle<u32>) -> u64 {
    const RUNS: u64 = 1_000;
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let work = || {
        runtime.block_on(async {
            let handles: Vec<_> = (0..RUNS).map(|_| spawn()).collect();
            for handle in handles {
                handle.await.unwrap();
            }
        });
    };
    // The first run builds the execution plan.
    work();
    allocation_counter::measure(work).bytes_max / RUNS
}

/// The state, the effects and the futures of the run and of its node are boxes of their own. By hand all of it is inside the task of
/// tokio.
#[test]
fn a_waiting_run_takes_at_most_four_times_the_memory_of_a_task() {
    let by_hand = peak(|| tokio::spawn(sleep::by_hand()));
    let run = peak(|| tokio::spawn(async { sleep::Chain::run(()).await.unwrap().done }));
    assert!(
        run <= 4 * by_hand,
        "{run} bytes, and {by_hand} for a task written by hand"
    );
}
