//! Sleeps while the clock of the store jumps.

use std::sync::atomic::AtomicI64;

use super::super::faults::Faulty;
use super::*;

const HOUR_MS: i64 = 3_600_000;
const INTERVAL: Duration = Duration::from_mins(10);

/// A waker over a store whose clock is this far ahead, in milliseconds, and a thread that sleeps for three days.
async fn sleeper(ahead_ms: &Arc<AtomicI64>, counter: &Arc<Counter>) -> Thread<Remind> {
    let store = Faulty::with_clock(InMemoryStore::new(), Arc::clone(ahead_ms));
    let store: Arc<dyn petalflow::checkpoint::Store> = Arc::new(store);
    let threads = Remind::new().manage_with(Arc::clone(counter)).store(&store);
    let failed = |id: &str, ended: Result<_, petalflow::RunError>| {
        if let Err(error) = ended {
            panic!("{id}: {error}");
        }
    };
    let waking = threads.wake().interval(INTERVAL).on_end(failed);
    tokio::spawn(waking.run());
    let thread = threads.thread("ann");
    asleep(thread.run(()).await.unwrap());
    thread
}

#[tokio::test(start_paused = true)]
async fn f43_a_clock_that_jumps_forward_wakes_early_and_once() {
    let (ahead, counter) = (Arc::default(), Arc::new(Counter::default()));
    let thread = sleeper(&ahead, &counter).await;
    sleep(DAY).await;
    ahead.fetch_add(48 * HOUR_MS, SeqCst);
    sleep(INTERVAL + Duration::from_secs(1)).await;
    assert_eq!(info(&thread).await.status, ThreadStatus::Finished);
    // Back again: what has ended stays so.
    ahead.fetch_sub(48 * HOUR_MS, SeqCst);
    sleep(5 * DAY).await;
    let log = thread.snapshot().await.unwrap().unwrap().state;
    assert_eq!(log.lines, ["letter 1, and a reminder"]);
    assert_eq!(counter.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn f43_a_clock_that_jumps_back_makes_a_sleep_longer_and_loses_none() {
    let (ahead, counter) = (Arc::default(), Arc::new(Counter::default()));
    let thread = sleeper(&ahead, &counter).await;
    let due_ms = info(&thread).await.due_ms;
    // Just before the end, so that the waker waits for it already.
    sleep((3 * DAY).saturating_sub(Duration::from_secs(5))).await;
    ahead.fetch_sub(HOUR_MS, SeqCst);
    sleep(Duration::from_mins(59)).await;
    let listed = info(&thread).await;
    assert_eq!(
        (listed.status, listed.due_ms),
        (ThreadStatus::Sleeping, due_ms)
    );
    sleep(Duration::from_mins(2)).await;
    assert_eq!(info(&thread).await.status, ThreadStatus::Finished);
    assert_eq!(counter.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn f43_a_clock_that_jumps_back_and_forth_between_wakes_ends_the_sleep_once() {
    let (ahead, counter) = (Arc::new(AtomicI64::new(0)), Arc::new(Counter::default()));
    let thread = sleeper(&ahead, &counter).await;
    let mut day = 0;
    while info(&thread).await.status != ThreadStatus::Finished {
        assert_eq!(info(&thread).await.status, ThreadStatus::Sleeping);
        day += 1;
        assert!(day < 10, "it never ends");
        ahead.store([7, -30, 0][day % 3] * HOUR_MS, SeqCst);
        sleep(DAY).await;
    }
    // On day 4 the clock is seven hours ahead.
    assert!((3..=4).contains(&day), "{day}");
    assert_eq!(counter.get(), 1);
}
