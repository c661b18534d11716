//! Programs that are woken when their threads are due.

use std::sync::Mutex;

use super::*;

#[tokio::test(start_paused = true)]
async fn f43_a_program_is_woken_in_the_order_of_time() {
    let store = InMemoryStore::new();
    let naps = NapFor::new().store(&store);
    let begun = now(&store).await;
    let ended = Arc::new(Mutex::new(Vec::new()));
    let report =
        {
            let (ended, store) = (Arc::clone(&ended), store.clone());
            move |id: &str, result: Result<petalflow::thread::Outcome<Naps>, petalflow::RunError>| {
            let lines = result.unwrap().into_finished().unwrap().lines;
            let at = futures_executor(now(&store)).saturating_sub(begun);
            ended.lock().unwrap().push((id.to_string(), lines.len(), at));
        }
        };
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let waking = naps
        .wake()
        .on_end(report)
        .run_until(async { drop(stopped.await) });
    let waking = tokio::spawn(waking);
    for (id, days) in [("a", 3), ("b", 1), ("c", 2)] {
        asleep_naps(naps.thread(id).run(days).await.unwrap());
    }
    sleep(10 * DAY).await;
    let order: Vec<_> = ended.lock().unwrap().drain(..).collect();
    let expected = [("b", 1), ("c", 2), ("a", 3)].map(|(id, days)| (id.to_string(), 1, days * DAY));
    assert_eq!(order, expected);
    // It waits for the run in progress, and begins no other.
    asleep_naps(naps.thread("slow").run(0).await.unwrap());
    asleep_naps(naps.thread("later").run(1).await.unwrap());
    sleep(Duration::from_secs(15)).await;
    assert_eq!(
        info(&naps.thread("slow")).await.status,
        ThreadStatus::Sleeping
    );
    stop.send(()).unwrap();
    waking.await.unwrap();
    assert_eq!(
        info(&naps.thread("slow")).await.status,
        ThreadStatus::Finished
    );
    sleep(2 * DAY).await;
    assert_eq!(
        info(&naps.thread("later")).await.status,
        ThreadStatus::Sleeping
    );
}

#[state]
#[derive(Debug)]
struct Naps {
    #[key(input)]
    days: u32,
    #[key(append)]
    lines: Vec<String>,
}

/// Sleeps for days, or with 0 for 10 seconds, and then works for a minute.
#[node(Naps)]
async fn nap_for(days: &u32, cx: Context) -> petalflow::Result<NapsLines> {
    if *days == 0 {
        cx.sleep(Duration::from_secs(10)).await?;
        sleep(Duration::from_mins(1)).await;
    }
    cx.sleep(*days * DAY).await?;
    Ok(NapsLines(vec![format!("{days} days")]))
}

flow!(NapFor(Naps) { nap_for });

fn asleep_naps(paused: petalflow::thread::Outcome<Naps>) {
    let paused = paused.into_finished().expect_err("it sleeps");
    assert!(paused.wakes.is_some());
}

#[tokio::test(start_paused = true)]
async fn f43_a_thousand_threads_are_due_at_one_moment_and_three_processes_wake_each_once() {
    let store = InMemoryStore::new();
    let counter = Arc::new(Counter::default());
    let once = |counter: &Arc<Counter>| {
        WakeOnce::new()
            .manage_with(Arc::clone(counter))
            .store(&store)
    };
    let threads = once(&counter);
    for id in 0..1_000 {
        asleep(threads.thread(format!("{id:04}")).run(()).await.unwrap());
    }
    let wakers: Vec<_> = (0..3)
        .map(|_| tokio::spawn(once(&counter).wake().interval(DAY / 24).max_runs(7).run()))
        .collect();
    sleep(2 * DAY).await;
    assert_eq!(counter.get(), 1_000);
    let query = petalflow::checkpoint::ThreadQuery {
        status: Some(ThreadStatus::Finished),
        ..Default::default()
    };
    assert_eq!(threads.list(query).await.unwrap().len(), 1_000);
    wakers.iter().for_each(tokio::task::JoinHandle::abort);
}

#[node(Log)]
async fn count_after(cx: Context, counter: Managed<Counter>) -> petalflow::Result<LogLines> {
    cx.sleep(DAY).await?;
    // So that other runs could come between.
    tokio::task::yield_now().await;
    counter.add();
    Ok(line("counted"))
}

flow!(WakeOnce(Log) { count_after });

#[tokio::test(start_paused = true)]
async fn f43_a_waker_goes_on_after_failures_and_continues_what_a_dead_process_has_woken() {
    let store = InMemoryStore::new();
    let threads = CatchNothing::new().store(&store);
    asleep(threads.thread("fails").run(()).await.unwrap());
    let slow = Beside::new().store(&store);
    asleep(slow.thread("killed").run(()).await.unwrap());
    sleep(2 * DAY).await;
    // The process that has woken it dies.
    drop(tokio::time::timeout(Duration::ZERO, slow.thread("killed").resume(())).await);
    let failures = Arc::new(Counter::default());
    let counter = Arc::clone(&failures);
    let on_end = move |_: &str, result: Result<_, petalflow::RunError>| {
        assert!(result.err().unwrap().to_string().contains("too late"));
        counter.add();
    };
    tokio::spawn(threads.wake().on_end(on_end).run());
    tokio::spawn(slow.wake().run());
    sleep(Duration::from_mins(1)).await;
    assert_eq!(failures.get(), 1);
    assert_eq!(
        info(&threads.thread("fails")).await.status,
        ThreadStatus::Failed
    );
    assert_eq!(
        info(&slow.thread("killed")).await.status,
        ThreadStatus::Finished
    );
}

flow!(CatchNothing(Log) { fail_later });

#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = String, expires = 2d, default = "late".to_string(), key = n)]
struct SoonOrLate {
    n: u32,
}

#[node(Log)]
async fn ask_two(cx: Context) -> petalflow::Result<LogLines> {
    let (a, b, slept) = tokio::join!(
        cx.ask(SoonOrLate { n: 1 }),
        cx.ask(SoonOrLate { n: 2 }),
        cx.sleep(3 * DAY),
    );
    slept?;
    Ok(LogLines(vec![a?, b?]))
}

flow!(AskTwo(Log) { ask_two });

/// A question expires by the clock of the store, as a sleep ends.
#[tokio::test(start_paused = true)]
async fn f43_questions_expire_by_the_clock_of_the_store_and_one_waker_serves_both() {
    let store = InMemoryStore::new();
    let threads = AskTwo::new().store(&store);
    let thread = threads.thread("ann");
    tokio::spawn(threads.wake().run());
    let begun = now(&store).await;
    let paused = thread.run(()).await.unwrap().into_finished().err().unwrap();
    assert_eq!(
        paused.interrupts.len(),
        2,
        "all that is asked at once is told"
    );
    let listed = info(&thread).await;
    let due = |days| Some(millis(begun + days * DAY));
    assert_eq!(
        (listed.status, listed.due_ms),
        (ThreadStatus::Waiting, due(2))
    );
    sleep(2 * DAY + Duration::from_secs(1)).await;
    let listed = info(&thread).await;
    assert_eq!(
        (listed.status, listed.due_ms),
        (ThreadStatus::Sleeping, due(3))
    );
    sleep(DAY).await;
    let log = thread.snapshot().await.unwrap().unwrap().state;
    assert_eq!(log.lines, ["late", "late"]);
}
