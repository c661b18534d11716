//! Approvals that are told, and decided, while other nodes of their superstep run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use petalflow::Launch;
use petalflow::checkpoint::{DecisionKind, InMemoryStore};
use petalflow::event::{EventKind, EventName};
use petalflow::interrupt::{AnswerError, Decision, Interrupt, InterruptKind, Resume};
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use petalflow::thread::{Durability, HistoryQuery, Thread, ThreadError};
use tokio::time::{Instant, sleep};

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Log {
    #[key(append)]
    lines: Vec<String>,
}

/// How often the long effect of a sibling has run.
#[derive(Default)]
struct Effects(AtomicU32);

/// Takes a second, with an effect of half a second at its begin.
#[node(Log)]
async fn heavy(cx: Context, effects: Managed<Effects>) -> petalflow::Result<LogLines> {
    let effect = async {
        sleep(Duration::from_millis(500)).await;
        effects.0.fetch_add(1, SeqCst);
        petalflow::Result::<()>::Ok(())
    };
    cx.once("effect", effect).await?;
    sleep(Duration::from_millis(500)).await;
    Ok(LogLines(vec!["heavy".into()]))
}

#[node(Log)]
async fn publish() -> LogLines {
    LogLines(vec!["published".into()])
}

#[node(Log)]
async fn after_publish() -> LogLines {
    LogLines(vec!["after".into()])
}

#[node(Log)]
async fn list() -> Each<u32> {
    Each(vec![1, 2, 3])
}

#[node(Log)]
async fn send(#[item] item: &u32) -> LogLines {
    LogLines(vec![format!("sent {item}")])
}

#[node(Log)]
async fn nothing() {}

flow!(Before(Log) { START -> heavy & publish; publish -> after_publish; interrupt before publish; });
flow!(BeforeItems(Log) { START -> list & nothing; list -> each send; nothing -> heavy; interrupt before send; });
flow!(OnlyBefore(Log) { publish -> after_publish; interrupt before publish; });
flow!(OnlyAfter(Log) { publish -> after_publish; interrupt after publish; });

flow! {
    Inside(Log) {
        both;
        node both: Before { in: || (), out: |log: Log| LogLines(log.lines) };
    }
}

flow! {
    BesideBefore(Log) {
        START -> heavy & inner;
        node inner: OnlyBefore { in: || (), out: |log: Log| LogLines(log.lines) };
    }
}

flow! {
    BesideAfter(Log) {
        START -> heavy & inner;
        node inner: OnlyAfter { in: || (), out: |log: Log| LogLines(log.lines) };
    }
}

#[derive(Route)]
enum Way {
    Out,
}

#[node(Log)]
async fn choose() -> Way {
    Way::Out
}

flow!(BeforeChoice(Log) { START -> heavy & choose; choose -> match { Out => END }; interrupt before choose; });

const DURABILITIES: [Durability; 3] = [Durability::Sync, Durability::Async, Durability::Exit];

fn thread<F: Flow<State = Log> + Clone>(
    launch: Launch<F>,
    durability: Durability,
) -> (Thread<F>, Arc<Effects>) {
    let effects = Arc::new(Effects::default());
    let launch = launch.manage_with(Arc::clone(&effects));
    let threads = launch.store(&InMemoryStore::new());
    (threads.durability(durability).thread("t"), effects)
}

/// Waits until a snapshot of the thread shows approvals.
async fn open<F: Flow<State = Log>>(thread: &Thread<F>) -> Vec<Interrupt> {
    loop {
        sleep(Duration::from_millis(10)).await;
        let snapshot = thread.snapshot().await.unwrap();
        let interrupts = snapshot.map(|snapshot| snapshot.interrupts);
        if let Some(interrupts) = interrupts.filter(|open| !open.is_empty()) {
            return interrupts;
        }
    }
}

/// Waits until the history has an approval of this node.
async fn is_noted<F: Flow<State = Log>>(thread: &Thread<F>) -> DecisionKind {
    let history = thread.history(HistoryQuery::all()).await.unwrap();
    let mut notes = history.iter().flat_map(|info| &info.notes);
    let note = notes.next().expect("the decision is in the history");
    assert_eq!(note.by.as_deref(), Some("Ann"));
    note.decision
}

/// Runs the flow and decides when the approval is seen. Returns the sorted lines of the end.
async fn decided_in_between<F: Flow<State = Log> + Clone>(
    launch: Launch<F>,
    by_id: bool,
    decision: fn() -> Decision<Log>,
    case: &str,
) -> Vec<String> {
    let mut ends = Vec::new();
    for durability in DURABILITIES {
        let case = format!("{case}, {durability:?}, by id: {by_id}");
        let (thread, effects) = thread(launch.clone(), durability);
        let begun = Instant::now();
        let decide = async {
            let asked = open(&thread).await;
            assert_eq!(asked.len(), 1, "{case}");
            assert!(begun.elapsed() < Duration::from_millis(100), "{case}");
            let resume = if by_id {
                Resume::new().decide(asked[0].id, decision())
            } else {
                decision().into()
            };
            let resumed = thread.resume(resume).begin().await.unwrap();
            assert!(begun.elapsed() < Duration::from_millis(200), "{case}");
            is_noted(&thread).await;
            resumed.await
        };
        let (ran, resumed) = tokio::join!(thread.run(()), decide);
        let mut lines = ran.unwrap().into_finished().unwrap().lines;
        lines.sort_unstable();
        let again = resumed.unwrap().into_finished().unwrap().lines;
        assert_eq!(again.len(), lines.len(), "{case}");
        let elapsed = begun.elapsed().as_millis();
        assert!((1000..1100).contains(&elapsed), "{case}: {elapsed} ms");
        assert_eq!(effects.0.load(SeqCst), 1, "{case}");
        ends.push(lines);
    }
    assert!(ends.iter().all(|end| *end == ends[0]), "{case}: {ends:?}");
    ends.swap_remove(0)
}

fn approve() -> Decision<Log> {
    Decision::approve().by("Ann")
}

fn skip() -> Decision<Log> {
    Decision::skip().by("Ann")
}

#[tokio::test(start_paused = true)]
async fn f42_an_approval_is_decided_while_its_siblings_run() {
    for by_id in [true, false] {
        let published = ["after", "heavy", "published"];
        let lines = decided_in_between(Before::new(), by_id, approve, "before").await;
        assert_eq!(lines, published);
        let lines = decided_in_between(Before::new(), by_id, skip, "skipped").await;
        assert_eq!(lines, ["after", "heavy"]);
        let lines = decided_in_between(Inside::new(), by_id, approve, "inside").await;
        assert_eq!(lines, published);
        let lines = decided_in_between(Inside::new(), by_id, skip, "inside, skipped").await;
        assert_eq!(lines, ["after", "heavy"]);
        let lines = decided_in_between(BesideBefore::new(), by_id, approve, "beside").await;
        assert_eq!(lines, published);
        let lines = decided_in_between(BesideBefore::new(), by_id, skip, "beside, skipped").await;
        assert_eq!(lines, ["after", "heavy"]);
        let lines = decided_in_between(BesideAfter::new(), by_id, approve, "after").await;
        assert_eq!(lines, published);
        let lines = decided_in_between(BeforeItems::new(), by_id, approve, "items").await;
        assert_eq!(lines, ["heavy", "sent 1", "sent 2", "sent 3"]);
        let lines = decided_in_between(BeforeItems::new(), by_id, skip, "items, skipped").await;
        assert_eq!(lines, ["heavy"]);
    }
}

#[tokio::test(start_paused = true)]
async fn f42_an_approval_is_told_when_it_is_asked() {
    for durability in DURABILITIES {
        let (thread, _) = thread(Before::new(), durability);
        let begun = Instant::now();
        let mut told = Vec::new();
        let mut events = thread.run(()).events();
        while let Some(event) = events.next().await {
            if let EventKind::Asked { interrupts } = &event.kind {
                assert_eq!(interrupts[0].kind, InterruptKind::Before);
                assert_eq!(interrupts[0].node, "publish");
            }
            let name = EventName::from(&event.kind);
            if matches!(name, EventName::Asked | EventName::Interrupted) {
                told.push((name, begun.elapsed().as_millis()));
            }
        }
        let expected = [(EventName::Asked, 0), (EventName::Interrupted, 1000)];
        assert_eq!(told, expected, "{durability:?}");
        let end = thread.resume(approve()).await.unwrap();
        assert_eq!(end.into_finished().unwrap().lines.len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn f42_who_follows_a_thread_is_told_when_something_is_asked() {
    for durability in DURABILITIES {
        let store = InMemoryStore::new();
        let threads = Inside::new().manage(Effects::default()).store(&store);
        let thread = threads.durability(durability).event_log(100).thread("t");
        let begun = Instant::now();
        let look = async {
            open(&thread).await;
            // Also in another process.
            let asked = loop {
                sleep(Duration::from_millis(10)).await;
                let events = thread.events_since(0).await.unwrap();
                let asked = events.iter().filter(|event| event.kind == "asked").count();
                if asked > 0 {
                    break asked;
                }
            };
            assert!(begun.elapsed() < Duration::from_millis(100));
            assert_eq!(asked, 1, "{durability:?}");
            drop(thread.resume(approve()).begin().await.unwrap());
        };
        let (ran, ()) = tokio::join!(thread.run(()), look);
        assert_eq!(ran.unwrap().into_finished().unwrap().lines.len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn f42_a_rejection_ends_the_run_while_its_siblings_run() {
    for durability in DURABILITIES {
        let (thread, effects) = thread(Before::new(), durability);
        let begun = Instant::now();
        let reject = async {
            open(&thread).await;
            let decision = Decision::reject().by("Ann").because("no");
            thread.resume(decision).await
        };
        let (ran, resumed) = tokio::join!(thread.run(()), reject);
        let elapsed = begun.elapsed().as_millis();
        // The effect that was in flight is recorded. Nothing else goes on.
        assert!((500..600).contains(&elapsed), "{durability:?}: {elapsed}");
        assert_eq!(effects.0.load(SeqCst), 1, "{durability:?}");
        for error in [ran.unwrap_err(), resumed.unwrap_err()] {
            let expected = RunErrorKind::Rejected {
                node: "publish".into(),
                by: Some("Ann".into()),
                reason: Some("no".into()),
            };
            assert_eq!(*error.kind(), expected, "{durability:?}");
        }
        assert_eq!(is_noted(&thread).await, DecisionKind::Rejected);
        let snapshot = thread.snapshot().await.unwrap().unwrap();
        assert!(snapshot.info.next.is_empty(), "{durability:?}");
        assert!(snapshot.interrupts.is_empty(), "{durability:?}");
        // A new turn begins.
        let asked = thread.run(()).await.unwrap();
        assert_eq!(asked.interrupts().len(), 1, "{durability:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn f42_a_decision_that_is_accepted_survives_the_run() {
    for durability in DURABILITIES {
        let (thread, _) = thread(Before::new(), durability);
        let run = tokio::spawn({
            let thread = thread.clone();
            async move { thread.run(()).await }
        });
        open(&thread).await;
        let deciding = thread.resume(skip()).begin().await.unwrap();
        // Nothing but the store has the decision.
        run.abort();
        drop(deciding);
        assert!(run.await.is_err());
        let mut log = thread.resume(()).await.unwrap().into_finished().unwrap();
        log.lines.sort_unstable();
        assert_eq!(log.lines, ["after", "heavy"], "{durability:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn f42_what_a_run_cannot_take_is_refused_and_only_one_of_two_decisions_is_taken() {
    let (thread, _) = thread(Before::new(), Durability::Sync);
    let decide = async {
        let id = open(&thread).await[0].id;
        // The nodes that run have the state.
        let edit = Decision::edit(LogLines(vec!["by hand".into()]));
        let refused = thread.resume(edit).await.unwrap_err();
        assert!(matches!(
            refused.thread_error(),
            Some(ThreadError::Busy { .. })
        ));
        drop(thread.resume(approve()).begin().await.unwrap());
        for resume in [Resume::new().decide(id, skip()), skip().into()] {
            let refused = thread.resume(resume).begin().await.unwrap_err();
            let error = refused.thread_error();
            assert!(
                matches!(
                    error,
                    Some(ThreadError::Answer(AnswerError::Answered { .. }))
                ),
                "{refused}"
            );
        }
    };
    let (ran, ()) = tokio::join!(thread.run(()), decide);
    let lines = ran.unwrap().into_finished().unwrap().lines;
    assert!(lines.contains(&"published".into()), "{lines:?}");
}

#[tokio::test(start_paused = true)]
async fn f42_a_node_that_chooses_is_not_skipped_while_its_siblings_run() {
    let (thread, _) = thread(BeforeChoice::new(), Durability::Sync);
    let decide = async {
        open(&thread).await;
        let refused = thread.resume(skip()).await.unwrap_err().to_string();
        assert!(refused.contains("because it chooses a route"), "{refused}");
        thread.resume(approve()).await
    };
    let (ran, resumed) = tokio::join!(thread.run(()), decide);
    assert_eq!(ran.unwrap().into_finished().unwrap().lines, ["heavy"]);
    assert_eq!(resumed.unwrap().into_finished().unwrap().lines, ["heavy"]);
}
