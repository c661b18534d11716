//! Programs that combine questions, approvals, effects, retries, timeouts, items, kept states, drains and cancellations.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::{Ask, Decision, Expiry, Interrupt};
use petalflow::policy::Retry;
use petalflow::prelude::*;
use petalflow::run::{CancelToken, RunErrorKind};
use petalflow::thread::{Thread, Threads};
use petalflow::{Launch, NodeError};
use tokio::time::{Instant, sleep};

/// A question that expires after so many hours, or never.
#[derive(serde::Serialize, serde::Deserialize)]
struct Which {
    about: String,
    hours: Option<u64>,
}

impl Ask for Which {
    type Answer = String;
    const NAME: &'static str = "Which";

    fn key(&self) -> String {
        self.about.clone()
    }

    fn expires(&self) -> Option<Expiry<String>> {
        Some(Expiry {
            after: Duration::from_hours(self.hours?),
            answer: format!("{} expired", self.about),
        })
    }
}

fn which(about: &str) -> Which {
    Which {
        about: about.into(),
        hours: None,
    }
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Log {
    #[key(append)]
    lines: Vec<String>,
}

/// How often each has happened.
#[derive(Default)]
struct Counts {
    published: AtomicU32,
    paid: AtomicU32,
    heavy: AtomicU32,
    /// How often the heavy node still fails.
    fails: AtomicU32,
}

fn line(text: impl Into<String>) -> LogLines {
    LogLines(vec![text.into()])
}

#[node(Log)]
async fn heavy(counts: Managed<Counts>) -> petalflow::Result<LogLines> {
    sleep(Duration::from_secs(1)).await;
    counts.heavy.fetch_add(1, SeqCst);
    if counts.fails.load(SeqCst) > 0 {
        counts.fails.fetch_sub(1, SeqCst);
        return Err("heavy fails".into());
    }
    Ok(line("heavy"))
}

#[node(Log)]
async fn again() -> LogLines {
    sleep(Duration::from_secs(1)).await;
    line("again")
}

#[node(Log)]
async fn publish(counts: Managed<Counts>) -> LogLines {
    counts.published.fetch_add(1, SeqCst);
    line("published")
}

/// Asks in its second attempt, which follows the first failure.
#[node(Log, retry = [Retry::attempts(2).first(Duration::ZERO)])]
async fn asks_second(cx: Context, counts: Managed<Counts>) -> petalflow::Result<LogLines> {
    if counts.paid.fetch_add(1, SeqCst) == 0 {
        return Err("the first attempt fails".into());
    }
    Ok(line(cx.ask(which("it")).await?))
}

#[node(Log)]
async fn asks_slowly(cx: Context, counts: Managed<Counts>) -> petalflow::Result<LogLines> {
    let effect = async {
        counts.paid.fetch_add(1, SeqCst);
        petalflow::Result::<()>::Ok(())
    };
    cx.once("pay", effect).await?;
    let answer = cx.ask(which("it")).await?;
    sleep(Duration::from_millis(500)).await;
    Ok(line(answer))
}

#[node(Log)]
async fn list() -> Each<u64> {
    Each(vec![1, 2, 3])
}

/// The first item asks, the second fails, the third takes long.
#[node(Log)]
async fn mixed(#[item] item: &u64, cx: Context) -> petalflow::Result<LogLines> {
    Ok(line(match item {
        1 => cx.ask(which("one")).await?,
        2 => return Err("two fails".into()),
        _ => {
            sleep(Duration::from_secs(1)).await;
            "three".into()
        }
    }))
}

#[node(Log)]
async fn caught(#[item] failure: &NodeError) -> LogLines {
    line(&*failure.message)
}

/// Each item has its own time.
#[node(Log)]
async fn expiring(#[item] item: &u64, cx: Context) -> petalflow::Result<LogLines> {
    if *item == 3 {
        sleep(Duration::from_hours(3)).await;
        return Ok(line("three"));
    }
    let (about, hours) = (item.to_string(), Some(*item));
    Ok(line(cx.ask(Which { about, hours }).await?))
}

flow!(Second(Log) { START -> heavy & asks_second; });
flow!(Slowly(Log) { START -> heavy & asks_slowly; });
flow!(Mixed(Log) { list -> each mixed; catch mixed -> caught; });
flow!(Expiring(Log) { list -> each expiring; });
flow!(Approved(Log) { START -> heavy & publish; interrupt before publish; });
flow!(Three(Log) { START -> heavy & asks_slowly & publish; interrupt before publish; });
flow!(Narrow(Log) { START -> asks_slowly & publish & heavy; interrupt before publish; });
flow!(Publish(Log) { publish; interrupt before publish; });

flow! {
    Inside(Log) {
        both;
        node both: Approved { in: || (), out: |log: Log| LogLines(log.lines) };
    }
}

flow! {
    PublishAll(Log) {
        START -> list & heavy;
        list -> each one;
        heavy -> again;
        node one: Publish { in: |#[item] _item: &u64| (), out: |log: Log| LogLines(log.lines) };
    }
}

#[state]
struct Kept {
    #[key(append)]
    answers: Vec<String>,
}

#[node(Kept)]
async fn remember(cx: Context) -> petalflow::Result<KeptAnswers> {
    Ok(KeptAnswers(vec![cx.ask(which("it")).await?]))
}

flow!(Remember(Kept) { remember });

flow! {
    Keeping(Log) {
        START -> heavy & memory;
        node memory: Remember { in: || (), out: |kept: Kept| line(kept.answers.join("+")), keep: thread };
    }
}

fn threads<F: Flow<State = Log> + Clone>(launch: Launch<F>) -> (Threads<F>, Arc<Counts>) {
    let counts = Arc::new(Counts::default());
    let launch = launch.manage_with(Arc::clone(&counts));
    (launch.store(&InMemoryStore::new()), counts)
}

/// Waits until a snapshot of the thread shows this many questions.
async fn open<F: Flow<State = Log>>(thread: &Thread<F>, count: usize) -> Vec<Interrupt> {
    loop {
        sleep(Duration::from_millis(10)).await;
        let snapshot = thread.snapshot().await.unwrap();
        let interrupts = snapshot.map(|snapshot| snapshot.interrupts);
        if let Some(interrupts) = interrupts.filter(|open| open.len() == count) {
            return interrupts;
        }
    }
}

fn sorted(log: Log) -> Vec<String> {
    let mut lines = log.lines;
    lines.sort_unstable();
    lines
}

#[tokio::test(start_paused = true)]
async fn f42_a_failure_before_a_question_is_no_failure_of_the_task_that_waits_or_has_ended() {
    // It waits.
    let (all, _) = threads(Second::new());
    let thread = all.thread("waits");
    assert_eq!(thread.run(()).await.unwrap().interrupts().len(), 1);
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    let errors = snapshot.tasks.iter().filter(|task| task.error.is_some());
    assert_eq!(errors.count(), 0, "{:?}", snapshot.tasks);
    // It has ended, and its sibling fails.
    let (all, counts) = threads(Second::new());
    let thread = all.thread("ended");
    counts.fails.store(1, SeqCst);
    let answer = async {
        open(&thread, 1).await;
        drop(thread.answer::<Which>("yes".into()).begin().await.unwrap());
    };
    let (ran, ()) = tokio::join!(thread.run(()), answer);
    let failed = ran.unwrap_err();
    assert!(failed.to_string().contains("heavy fails"), "{failed}");
    assert_eq!(failed.retried(), [], "{failed}");
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    let mut tasks = snapshot.tasks.iter();
    let asked = tasks.find(|task| task.node == "asks_second").unwrap();
    assert!(asked.finished && asked.error.is_none(), "{asked:?}");
    let log = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(sorted(log), ["heavy", "yes"]);
    // It has ended, and the run is cancelled.
    let (all, _) = threads(Second::new());
    let token = CancelToken::new();
    let thread = all.cancel_with(&token).thread("cancelled");
    let answer = async {
        open(&thread, 1).await;
        drop(thread.answer::<Which>("yes".into()).begin().await.unwrap());
        token.cancel();
    };
    let (ran, ()) = tokio::join!(thread.run(()), answer);
    let cancelled = ran.unwrap_err();
    assert_eq!(*cancelled.kind(), RunErrorKind::Cancelled);
    assert_eq!(cancelled.retried(), [], "{cancelled}");
}

#[tokio::test(start_paused = true)]
async fn f42_items_that_ask_fail_and_take_long_end_alike_whenever_the_answer_comes() {
    let mut ends = Vec::new();
    for is_live in [true, false] {
        let (all, _) = threads(Mixed::new());
        let thread = all.thread("t");
        let answer = async {
            if is_live {
                open(&thread, 1).await;
                drop(thread.answer::<Which>("one".into()).begin().await.unwrap());
            }
        };
        let (ran, ()) = tokio::join!(thread.run(()), answer);
        let mut end = ran.unwrap();
        if !is_live {
            end = thread.answer::<Which>("one".into()).await.unwrap();
        }
        ends.push(end.into_finished().unwrap().lines);
    }
    assert_eq!(ends[0], ends[1]);
    assert_eq!(ends[0], ["one", "three", "two fails"]);
}

#[tokio::test(start_paused = true)]
async fn f42_each_item_expires_at_its_own_time() {
    let (all, _) = threads(Expiring::new());
    let begun = Instant::now();
    let ended = all.thread("t").run(()).await.unwrap();
    let lines = ended.into_finished().unwrap().lines;
    assert_eq!(lines, ["1 expired", "2 expired", "three"]);
    assert_eq!(begun.elapsed().as_secs() / 3600, 3);
}

#[tokio::test(start_paused = true)]
async fn f42_a_node_that_was_approved_runs_once_although_its_sibling_fails() {
    let (all, counts) = threads(Approved::new());
    counts.fails.store(1, SeqCst);
    let thread = all.thread("t");
    let approve = async {
        open(&thread, 1).await;
        let decision = Decision::approve();
        drop(thread.resume(decision).begin().await.unwrap());
    };
    let (ran, ()) = tokio::join!(thread.run(()), approve);
    assert!(ran.unwrap_err().to_string().contains("heavy fails"));
    let log = thread.resume(()).await.unwrap().into_finished().unwrap();
    assert_eq!(sorted(log), ["heavy", "published"]);
    assert_eq!(counts.published.load(SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn f42_a_rejection_inside_a_sub_flow_ends_the_thread() {
    let (all, counts) = threads(Inside::new());
    let thread = all.thread("t");
    let reject = async {
        open(&thread, 1).await;
        thread.resume(Decision::reject().by("Ann")).await
    };
    let (ran, resumed) = tokio::join!(thread.run(()), reject);
    for error in [ran.unwrap_err(), resumed.unwrap_err()] {
        let kind = error.kind();
        assert!(matches!(kind, RunErrorKind::Rejected { .. }), "{kind:?}");
    }
    assert_eq!(counts.heavy.load(SeqCst), 0);
    // The next turn asks anew.
    assert_eq!(thread.run(()).await.unwrap().interrupts().len(), 1);
    let end = thread.resume(Decision::approve()).await.unwrap();
    assert_eq!(sorted(end.into_finished().unwrap()), ["heavy", "published"]);
}

#[tokio::test(start_paused = true)]
async fn f42_approvals_inside_items_are_decided_together_while_others_run() {
    let (all, counts) = threads(PublishAll::new());
    let thread = all.thread("t");
    let approve = async {
        open(&thread, 3).await;
        let decision = Decision::approve();
        drop(thread.resume(decision).begin().await.unwrap());
    };
    let begun = Instant::now();
    let (ran, ()) = tokio::join!(thread.run(()), approve);
    let log = ran.unwrap().into_finished().unwrap();
    let expected = ["again", "heavy", "published", "published", "published"];
    assert_eq!(sorted(log), expected);
    assert_eq!(counts.published.load(SeqCst), 3);
    assert_eq!(begun.elapsed().as_secs(), 2);
}

#[tokio::test(start_paused = true)]
async fn f42_a_kept_state_has_each_answer_once_also_after_a_crash() {
    let (all, _) = threads(Keeping::new());
    let thread = all.thread("t");
    for (turn, crashes) in [(1, false), (2, true), (3, false)] {
        let run = tokio::spawn({
            let thread = thread.clone();
            async move { thread.run(()).await }
        });
        open(&thread, 1).await;
        let answering = thread.answer::<Which>(format!("{turn}"));
        drop(answering.begin().await.unwrap());
        let log = if crashes {
            run.abort();
            assert!(run.await.is_err());
            let resumed = thread.resume(()).await.unwrap();
            resumed.into_finished().unwrap()
        } else {
            run.await.unwrap().unwrap().into_finished().unwrap()
        };
        let kept = ["1", "1+2", "1+2+3"][turn - 1];
        assert!(log.lines.contains(&kept.into()), "turn {turn}: {log:?}");
        assert_eq!(log.lines.len(), 2 * turn, "turn {turn}: {log:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn f42_a_drain_and_a_cancellation_lose_no_answer() {
    for drains in [true, false] {
        let token = CancelToken::new();
        let (all, counts) = threads(Three::new());
        let thread = all.clone().cancel_with(&token).thread("t");
        let stop = async {
            open(&thread, 2).await;
            drop(thread.answer::<Which>("yes".into()).begin().await.unwrap());
            drop(thread.resume(Decision::approve()).begin().await.unwrap());
            sleep(Duration::from_millis(100)).await;
            if drains {
                token.drain();
            } else {
                token.cancel();
            }
        };
        let (ran, ()) = tokio::join!(thread.run(()), stop);
        let log = match ran {
            // It was in its last superstep.
            Ok(ended) if drains => ended.into_finished().unwrap(),
            Err(error) if !drains => {
                assert_eq!(*error.kind(), RunErrorKind::Cancelled);
                let resumed = all.thread("t").resume(()).await.unwrap();
                resumed.into_finished().unwrap()
            }
            other => panic!("drains: {drains}: {other:?}"),
        };
        assert_eq!(sorted(log), ["heavy", "published", "yes"]);
        let once = (counts.paid.load(SeqCst), counts.published.load(SeqCst));
        assert_eq!(once, (1, 1), "drains: {drains}");
    }
}

#[tokio::test(start_paused = true)]
async fn f42_a_superstep_that_takes_too_long_keeps_what_was_decided() {
    let late = Duration::from_millis(600);
    let (all, counts) = threads(Three::new().superstep_timeout(late));
    let thread = all.thread("t");
    let decide = async {
        open(&thread, 2).await;
        drop(thread.resume(Decision::approve()).begin().await.unwrap());
    };
    let (ran, ()) = tokio::join!(thread.run(()), decide);
    let late = ran.unwrap_err();
    assert!(
        matches!(late.kind(), RunErrorKind::Timeout { .. }),
        "{late}"
    );
    // The question is still open, and the approval is not asked for again.
    let asked = thread.snapshot().await.unwrap().unwrap().interrupts;
    assert_eq!(asked.len(), 1, "{asked:?}");
    let late = thread.answer::<Which>("yes".into()).await.unwrap_err();
    assert!(
        matches!(late.kind(), RunErrorKind::Timeout { .. }),
        "{late}"
    );
    let once = (counts.paid.load(SeqCst), counts.published.load(SeqCst));
    assert_eq!(once, (1, 1));
}

#[tokio::test(start_paused = true)]
async fn f42_who_waits_takes_no_place_of_those_that_run() {
    let (all, _) = threads(Narrow::new().max_concurrency(1));
    let thread = all.thread("t");
    let begun = Instant::now();
    let decide = async {
        open(&thread, 2).await;
        assert!(begun.elapsed() < Duration::from_millis(100));
        drop(thread.answer::<Which>("yes".into()).begin().await.unwrap());
        drop(thread.resume(Decision::approve()).begin().await.unwrap());
    };
    let (ran, ()) = tokio::join!(thread.run(()), decide);
    let log = ran.unwrap().into_finished().unwrap();
    assert_eq!(sorted(log), ["heavy", "published", "yes"]);
    // One after the other: the heavy node, and the one that has the answer.
    assert_eq!(begun.elapsed().as_millis() / 100, 15);
}

#[tokio::test(start_paused = true)]
async fn f42_an_answer_while_a_sibling_runs_repeats_no_effect() {
    let (all, counts) = threads(Slowly::new());
    let thread = all.thread("t");
    let answer = async {
        open(&thread, 1).await;
        thread.answer::<Which>("yes".into()).await
    };
    let (ran, answered) = tokio::join!(thread.run(()), answer);
    for end in [ran, answered] {
        let log = end.unwrap().into_finished().unwrap();
        assert_eq!(sorted(log), ["heavy", "yes"]);
    }
    let once = (counts.paid.load(SeqCst), counts.heavy.load(SeqCst));
    assert_eq!(once, (1, 1));
}
