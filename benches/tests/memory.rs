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

/// The task of tokio has 128 bytes instead of 256, because it holds a pointer to the run. The run's data takes 48 bytes, and its
/// future 344 with the future of the node, which by hand is inside the task. Without optimization, rustc stores two words more
/// in the future.
#[test]
fn a_waiting_run_takes_at_most_twice_the_memory_of_a_task() {
    let by_hand = peak(|| tokio::spawn(sleep::by_hand()));
    let run = peak(|| tokio::spawn(async { sleep::Chain::run(()).await.unwrap().done }));
    let unoptimized = if cfg!(debug_assertions) { 16 } else { 0 };
    assert!(
        run <= 2 * by_hand + unoptimized,
        "{run} bytes, and {by_hand} for a task written by hand"
    );
}
