//! Nodes that sleep: in memory, on threads, in sub-flows, beside questions and other nodes.

mod cached;
mod clock;
mod waking;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use futures_util::StreamExt as _;
use petalflow::NodeError;
use petalflow::checkpoint::{InMemoryStore, Store as _, ThreadInfo, ThreadStatus};
use petalflow::event::EventKind;
use petalflow::interrupt::Ask;
use petalflow::prelude::*;
use petalflow::run::{CancelToken, RunErrorKind};
use petalflow::thread::{HistoryQuery, Paused, Thread, ThreadError};
use tokio::time::{Instant, sleep};

const DAY: Duration = Duration::from_hours(24);

/// How often something was done.
#[derive(Default)]
struct Counter(AtomicU32);

impl Counter {
    fn add(&self) -> u32 {
        self.0.fetch_add(1, SeqCst) + 1
    }

    fn get(&self) -> u32 {
        self.0.load(SeqCst)
    }
}

#[derive(serde::Serialize, serde::Deserialize, Ask)]
#[ask(answer = String)]
struct MayGo;

#[state]
#[derive(Debug)]
struct Log {
    #[key(append)]
    lines: Vec<String>,
}

fn line(text: impl Into<String>) -> LogLines {
    LogLines(vec![text.into()])
}

async fn info<F: Flow>(thread: &Thread<F>) -> ThreadInfo {
    thread.info().await.unwrap().expect("it exists")
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap()
}

/// Runs or resumes a thread that sleeps then. Returns when it wakes, in milliseconds.
fn asleep(paused: petalflow::thread::Outcome<Log>) -> Duration {
    let Err(Paused {
        interrupts, wakes, ..
    }) = paused.into_finished()
    else {
        panic!("it has finished");
    };
    assert!(interrupts.is_empty());
    let wakes = wakes.expect("it sleeps");
    wakes.duration_since(std::time::UNIX_EPOCH).unwrap()
}

async fn now(store: &InMemoryStore) -> Duration {
    Duration::from_millis(store.now_ms().await.unwrap())
}

#[node(Log)]
async fn remind(cx: Context, counter: Managed<Counter>) -> petalflow::Result<LogLines> {
    let sent = cx.once("first letter", async {
        Ok::<_, petalflow::BoxError>(counter.add())
    });
    let sent = sent.await?;
    cx.sleep(3 * DAY).await?;
    Ok(line(format!("letter {sent}, and a reminder")))
}

flow!(Remind(Log) { remind });

#[tokio::test(start_paused = true)]
async fn f43_a_sleep_in_memory_is_a_timer() {
    let begun = Instant::now();
    let log = Remind::new()
        .manage(Counter::default())
        .run(())
        .await
        .unwrap();
    assert_eq!(log.lines, ["letter 1, and a reminder"]);
    assert_eq!(begun.elapsed().as_secs(), 3 * DAY.as_secs());
}

#[test]
fn f43_a_sleep_in_memory_says_that_it_needs_tokio() {
    let launch = Remind::new().manage(Counter::default());
    let error = futures_executor(launch.run(())).err().unwrap().to_string();
    assert!(
        error.contains("node `remind` sleeps, which needs tokio"),
        "{error}"
    );
}

/// Polls a future that does not wait.
fn futures_executor<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let waker = std::task::Waker::noop();
    match future
        .as_mut()
        .poll(&mut std::task::Context::from_waker(waker))
    {
        std::task::Poll::Ready(output) => output,
        std::task::Poll::Pending => panic!("it waits"),
    }
}

#[tokio::test(start_paused = true)]
async fn f43_a_thread_sleeps_three_days_and_another_process_continues_it() {
    let (store, counter) = (InMemoryStore::new(), Arc::new(Counter::default()));
    let process = || {
        Remind::new()
            .manage_with(Arc::clone(&counter))
            .store(&store)
            .thread("ann")
    };
    let begun = now(&store).await;
    let ends = asleep(process().run(()).await.unwrap());
    assert_eq!(ends, begun + 3 * DAY);
    let listed = info(&process()).await;
    assert_eq!(
        (listed.status, listed.due_ms),
        (ThreadStatus::Sleeping, Some(millis(ends)))
    );

    // Before its time it sleeps again, until the same time, and does nothing twice.
    sleep(DAY).await;
    assert_eq!(asleep(process().resume(()).await.unwrap()), ends);
    assert_eq!(info(&process()).await.status, ThreadStatus::Sleeping);

    // A new input would discard what it is about to do.
    let refused = process().run(()).await.err().unwrap();
    let Some(ThreadError::Sleeping { thread, .. }) = refused.thread_error() else {
        panic!("{refused}");
    };
    assert_eq!(thread, "ann");

    sleep((2 * DAY).saturating_sub(Duration::from_millis(1))).await;
    assert_eq!(asleep(process().resume(()).await.unwrap()), ends);
    sleep(Duration::from_millis(1)).await;
    let refused = process().run(()).await.err().unwrap();
    assert!(
        matches!(refused.thread_error(), Some(ThreadError::Sleeping { .. })),
        "nobody has woken it"
    );
    let log = process().resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(
        (&*log.lines[0], counter.get()),
        ("letter 1, and a reminder", 1)
    );
    assert_eq!(info(&process()).await.due_ms, None);
    // The next turn sleeps anew.
    assert_eq!(
        asleep(process().run(()).await.unwrap()),
        now(&store).await + 3 * DAY
    );
    let discarded = process().run(()).discard_pending().await.unwrap();
    assert_eq!(asleep(discarded), now(&store).await + 3 * DAY);
}

#[tokio::test(start_paused = true)]
async fn f43_the_error_and_the_events_say_until_when_a_run_sleeps() {
    let store = InMemoryStore::new();
    let thread = Remind::new()
        .manage(Counter::default())
        .store(&store)
        .event_log(100)
        .thread("ann");
    let events: Vec<_> = thread.run(()).events().collect().await;
    let Some(EventKind::Sleeping { until, .. }) = events.last().map(|event| &event.kind) else {
        panic!("{events:?}");
    };
    let until_ms = millis(until.duration_since(std::time::UNIX_EPOCH).unwrap());
    assert_eq!(info(&thread).await.due_ms, Some(until_ms));
    let logged = thread.events_since(0).await.unwrap();
    let last = logged.last().unwrap();
    assert_eq!(last.kind, "sleeping");
    let json = serde_json::to_value(last).unwrap();
    assert_eq!(json["value"]["wakes_ms"], until_ms);
    let paused = thread
        .resume(())
        .await
        .unwrap()
        .into_finished()
        .err()
        .unwrap();
    let message = paused.to_string();
    assert!(
        message.starts_with("the run has not ended: it sleeps until 20"),
        "{message}"
    );
}

#[node(Log)]
async fn two_at_once(cx: Context) -> petalflow::Result<LogLines> {
    let (one, two) = tokio::join!(cx.sleep(DAY), cx.sleep(2 * DAY));
    one?;
    two?;
    cx.sleep(DAY).await?;
    Ok(line("slept"))
}

flow!(SleepTwice(Log) { two_at_once });

#[tokio::test(start_paused = true)]
async fn f43_sleeps_at_the_same_time_and_after_each_other_are_told_apart() {
    let store = InMemoryStore::new();
    let thread = SleepTwice::new().store(&store).thread("ann");
    let begun = now(&store).await;
    assert_eq!(asleep(thread.run(()).await.unwrap()), begun + DAY);
    for (days, wakes) in [(1, 2), (1, 3)] {
        sleep(days * DAY).await;
        assert_eq!(
            asleep(thread.resume(()).await.unwrap()),
            begun + wakes * DAY
        );
    }
    sleep(DAY).await;
    let log = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(log.lines, ["slept"]);
    assert_eq!(now(&store).await, begun + 3 * DAY);
}

#[node(Log)]
async fn short(cx: Context) -> petalflow::Result<LogLines> {
    cx.sleep(Duration::from_secs(10)).await?;
    Ok(line("short"))
}

#[node(Log)]
async fn long() -> LogLines {
    sleep(Duration::from_mins(1)).await;
    line("long")
}

#[node(Log)]
async fn days(cx: Context) -> petalflow::Result<LogLines> {
    cx.sleep(2 * DAY).await?;
    Ok(line("days"))
}

flow!(Beside(Log) { START -> short & long & days });

#[tokio::test(start_paused = true)]
async fn f43_siblings_go_on_and_a_short_sleep_ends_in_the_same_run() {
    let store = InMemoryStore::new();
    let thread = Beside::new().store(&store).thread("ann");
    let (begun, began) = (now(&store).await, Instant::now());
    let mut names = Vec::new();
    let mut events = thread.run(()).events();
    while let Some(event) = events.next().await {
        if let EventKind::NodeFinished { .. } = event.kind {
            names.push((event.node().unwrap().to_string(), began.elapsed().as_secs()));
        }
    }
    assert_eq!(names, [("short".into(), 10), ("long".into(), 60)]);
    assert_eq!(info(&thread).await.due_ms, Some(millis(begun + 2 * DAY)));
    sleep(2 * DAY).await;
    let log = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(log.lines, ["short", "long", "days"]);
    assert!(
        began.elapsed() < 2 * DAY + Duration::from_secs(61),
        "`long` has not run again"
    );
}

#[node(Log)]
async fn ask_until(cx: Context) -> petalflow::Result<LogLines> {
    tokio::select! {
        answer = cx.ask(MayGo) => Ok(line(answer?)),
        slept = cx.sleep(DAY) => slept.map(|()| line("nobody answered")),
    }
}

flow!(AskUntil(Log) { ask_until });

#[tokio::test(start_paused = true)]
async fn f43_a_sleep_beside_a_question_is_a_deadline() {
    let store = InMemoryStore::new();
    for answer in [Some("yes"), None] {
        let thread = AskUntil::new().store(&store).thread(format!("{answer:?}"));
        let ends = now(&store).await + DAY;
        let paused = thread.run(()).await.unwrap().into_finished().err().unwrap();
        assert_eq!(paused.interrupts.len(), 1);
        let listed = info(&thread).await;
        assert_eq!(
            (listed.status, listed.due_ms),
            (ThreadStatus::Waiting, Some(millis(ends)))
        );
        assert_eq!(
            paused
                .wakes
                .unwrap()
                .duration_since(std::time::UNIX_EPOCH)
                .unwrap(),
            ends
        );
        let outcome = if let Some(answer) = answer {
            thread.answer::<MayGo>(answer.into()).await
        } else {
            sleep(DAY).await;
            thread.resume(()).await
        };
        let log = outcome.unwrap().into_finished().unwrap();
        assert_eq!(log.lines, [answer.unwrap_or("nobody answered")]);
    }
}

#[node(Log, timeout = 5s, retry = 3)]
async fn flaky(cx: Context, counter: Managed<Counter>) -> petalflow::Result<LogLines> {
    cx.sleep(DAY).await?;
    if counter.add() < 3 {
        return Err("broken".into());
    }
    Ok(line("it works"))
}

flow!(TryLater(Log) { flaky });

#[tokio::test(start_paused = true)]
async fn f43_a_timeout_does_not_count_a_sleep_and_a_retry_does_not_repeat_it() {
    let store = InMemoryStore::new();
    let counter = Arc::new(Counter::default());
    let thread = TryLater::new()
        .manage_with(Arc::clone(&counter))
        .store(&store)
        .thread("ann");
    let ends = now(&store).await + DAY;
    assert_eq!(asleep(thread.run(()).await.unwrap()), ends);
    sleep(DAY).await;
    let log = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!((&*log.lines[0], counter.get()), ("it works", 3));
    assert!(now(&store).await < ends + Duration::from_mins(1));
    // Without a store the timer is a part of the node.
    let error = TryLater::new()
        .manage(Counter::default())
        .run(())
        .await
        .err()
        .unwrap();
    assert!(error.to_string().contains("5s"), "{error}");
}

#[node(Log)]
async fn fail_later(cx: Context) -> petalflow::Result<()> {
    cx.sleep(DAY).await?;
    Err("too late".into())
}

#[node(Log)]
async fn recover(#[item] failure: &NodeError) -> LogLines {
    line(&*failure.message)
}

flow!(CatchLater(Log) { fail_later; catch fail_later -> recover });

#[tokio::test(start_paused = true)]
async fn f43_a_failure_after_a_sleep_is_caught() {
    let store = InMemoryStore::new();
    let thread = CatchLater::new().store(&store).thread("ann");
    asleep(thread.run(()).await.unwrap());
    sleep(DAY).await;
    let log = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(log.lines, ["too late"]);
}

#[node(Log)]
async fn plan() -> Each<u32> {
    Each(vec![3, 1, 2])
}

#[node(Log)]
async fn nap(#[item] days: &u32, cx: Context) -> petalflow::Result<LogLines> {
    cx.sleep(*days * DAY).await?;
    Ok(line(days.to_string()))
}

flow!(Nap(Log) { plan -> each nap });

flow! {
    Around(Log) {
        START -> inner & short;
        inner -> after;
        node inner: Nap { in: || (), out: |log: Log| LogLines(log.lines), keep: thread };
    }
}

#[node(Log)]
async fn after() -> LogLines {
    line("after")
}

#[tokio::test(start_paused = true)]
async fn f43_items_and_sub_flows_sleep_each_for_its_own_time() {
    let store = InMemoryStore::new();
    let thread = Around::new().store(&store).thread("ann");
    let begun = now(&store).await;
    // Its own sleep is the first that ends, and with it all that does not sleep for days.
    assert_eq!(
        asleep(thread.run(()).await.unwrap()),
        begun + Duration::from_secs(10)
    );
    sleep(Duration::from_secs(10)).await;
    for days in 1..=3 {
        assert_eq!(asleep(thread.resume(()).await.unwrap()), begun + days * DAY);
        assert_eq!(info(&thread).await.status, ThreadStatus::Sleeping);
        let listed = info(&thread).await.due_ms;
        assert_eq!(listed, Some(millis(begun + days * DAY)));
        sleep((begun + days * DAY).saturating_sub(now(&store).await)).await;
    }
    let log = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(log.lines, ["3", "1", "2", "short", "after"]);
}

#[tokio::test(start_paused = true)]
async fn f43_a_cancelled_and_a_drained_run_sleep_until_the_same_time() {
    let store = InMemoryStore::new();
    for drains in [true, false] {
        let token = CancelToken::new();
        let thread = Beside::new()
            .store(&store)
            .cancel_with(&token)
            .thread(format!("{drains}"));
        let begun = now(&store).await;
        let run = tokio::spawn(thread.run(()).into_future());
        sleep(Duration::from_secs(20)).await;
        if drains {
            // The superstep ends as far as it can.
            token.drain();
            asleep(run.await.unwrap().unwrap());
            assert_eq!(info(&thread).await.status, ThreadStatus::Sleeping);
        } else {
            token.cancel();
            let error = run.await.unwrap().err().unwrap();
            assert_eq!(*error.kind(), RunErrorKind::Cancelled);
            assert_eq!(info(&thread).await.status, ThreadStatus::Held);
        }
        let again = Beside::new().store(&store).thread(format!("{drains}"));
        assert_eq!(asleep(again.resume(()).await.unwrap()), begun + 2 * DAY);
        sleep(2 * DAY).await;
        let log = again.resume(()).await.unwrap().into_finished().unwrap();
        assert_eq!(log.lines, ["short", "long", "days"]);
    }
}

#[tokio::test(start_paused = true)]
async fn f43_a_fork_of_a_thread_that_sleeps_begins_a_new_period() {
    let store = InMemoryStore::new();
    let thread = SleepTwice::new().store(&store).thread("ann");
    asleep(thread.run(()).await.unwrap());
    sleep(DAY).await;
    let newest = thread.history(HistoryQuery::all()).await.unwrap()[0].checkpoint;
    thread.fork(newest).await.unwrap();
    assert_eq!(info(&thread).await.status, ThreadStatus::Held);
    assert_eq!(
        asleep(thread.resume(()).await.unwrap()),
        now(&store).await + DAY
    );
}

/// The process ends after a sleep was stored, and before the run has ended.
#[tokio::test(start_paused = true)]
async fn f43_a_run_that_is_lost_while_it_sleeps_is_listed_as_due() {
    let store = InMemoryStore::new();
    let thread = Beside::new().store(&store).thread("ann");
    let begun = now(&store).await;
    let lost = tokio::time::timeout(Duration::from_secs(5), thread.run(())).await;
    assert!(lost.is_err());
    let listed = info(&thread).await;
    let first = begun + Duration::from_secs(10);
    assert_eq!(
        (listed.status, listed.due_ms),
        (ThreadStatus::Running, Some(millis(first)))
    );
    // `long` runs anew; the sleeps do not begin anew.
    assert_eq!(asleep(thread.resume(()).await.unwrap()), begun + 2 * DAY);
    assert_eq!(now(&store).await, begun + Duration::from_secs(65));
}

#[node(Log)]
async fn poll(cx: Context, counter: Managed<Counter>) -> petalflow::Result<LogLines> {
    for round in 0_u32.. {
        let name = format!("poll {round}");
        let polled = cx.once(&name, async { Ok::<_, petalflow::BoxError>(counter.add()) });
        if polled.await? == 4 {
            break;
        }
        cx.sleep(DAY).await?;
    }
    Ok(line("ready"))
}

flow!(Poll(Log) { poll });

#[tokio::test(start_paused = true)]
async fn f43_a_node_that_polls_sleeps_between_its_effects() {
    let store = InMemoryStore::new();
    let counter = Arc::new(Counter::default());
    let thread = Poll::new()
        .manage_with(Arc::clone(&counter))
        .store(&store)
        .thread("ann");
    let begun = now(&store).await;
    assert_eq!(asleep(thread.run(()).await.unwrap()), begun + DAY);
    for day in 2..=3 {
        sleep(DAY).await;
        assert_eq!(asleep(thread.resume(()).await.unwrap()), begun + day * DAY);
    }
    sleep(DAY).await;
    let log = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!((&*log.lines[0], counter.get()), ("ready", 4));
}
