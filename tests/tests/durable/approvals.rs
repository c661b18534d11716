//! Stops for people: `interrupt before`, `interrupt after`.

use petalflow::Flow;
use petalflow::checkpoint::{Cause, InMemoryStore};
use petalflow::interrupt::{Ask, Decision, InterruptKind, Resume};
use petalflow::prelude::*;
use petalflow::run::RunErrorKind;
use petalflow::thread::{HistoryQuery, Outcome, Thread};
use petalflow_test_support::assert_contains;

use crate::support::{Log, LogXs, appending, flow_and_graph, list, run_both};

appending! { a b node1 node2 }

flow_and_graph!(After(Log) { a -> b; interrupt after a; } nodes: a, b);
flow_and_graph!(Before(Log) { node1 -> node2; interrupt before node1; } nodes: node1, node2);
flow_and_graph!(BeforeLast(Log) { a -> b; interrupt before b; } nodes: a, b);

/// What a thread waits for: nodes, and on which side of them.
fn waits<S: State>(outcome: &Outcome<S>) -> Vec<(String, InterruptKind)> {
    let interrupts = outcome.interrupts().iter();
    interrupts
        .map(|interrupt| (interrupt.node.clone(), interrupt.kind.clone()))
        .collect()
}

/// What people decided, oldest first: node, decision, who, why.
async fn notes<F: Flow>(thread: &Thread<F>) -> Vec<[String; 4]> {
    let mut history = thread.history(HistoryQuery::all()).await.unwrap();
    history.reverse();
    let notes = history.into_iter().flat_map(|info| info.notes);
    notes
        .map(|note| {
            assert!(note.at_ms > 0);
            let or_none = |text: Option<String>| text.unwrap_or_default();
            [
                note.node,
                note.decision.to_string(),
                or_none(note.by),
                or_none(note.reason),
            ]
        })
        .collect()
}

/// Goes on with a thread to its end.
async fn resume_to_end<F: Flow>(thread: &Thread<F>, with: impl Into<Resume<F::State>>) -> F::State {
    let outcome = thread.resume(with).await.unwrap();
    outcome.into_finished().unwrap()
}

#[tokio::test]
async fn c71_g065_g067_an_interrupt_after_a_node_stores_its_writes_and_does_not_run_it_again() {
    // agentmesh runs the node again when the run is resumed.
    run_both!(After, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let outcome = thread.run(list(["0"])).await.unwrap();
        assert_eq!(waits(&outcome), [("a".into(), InterruptKind::After)]);
        assert_eq!(outcome.state().xs, ["0", "a"]);
        let snapshot = thread.snapshot().await.unwrap().unwrap();
        assert_eq!(snapshot.state.xs, ["0", "a"]);
        assert_eq!(snapshot.info.next, ["b"]);
        assert_eq!(snapshot.interrupts.len(), 1);
        let log = resume_to_end(&thread, Decision::approve()).await;
        assert_eq!(log.xs, ["0", "a", "b"]);
        log
    });
}

#[tokio::test]
async fn c71_g064_g066_an_interrupt_before_a_node_runs_it_after_the_approval() {
    run_both!(Before, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let outcome = thread.run(list(["abc"])).await.unwrap();
        assert_eq!(waits(&outcome), [("node1".into(), InterruptKind::Before)]);
        assert_eq!(outcome.state().xs, ["abc"]);
        // A resume is not an approval.
        let again = thread.resume(()).await.unwrap();
        assert_eq!(
            again.interrupts(),
            outcome.interrupts(),
            "asked once, at one time"
        );
        let log = resume_to_end(&thread, Decision::approve()).await;
        assert_eq!(log.xs, ["abc", "node1", "node2"]);
        log
    });
}

#[tokio::test]
async fn c71_a_goto_at_an_interrupt_replaces_the_node() {
    // In LangGraph the node that waits runs as well: "abc|node-1|node-2|node-2".
    run_both!(Before, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let _ = thread.run(list(["abc"])).await.unwrap();
        let log = resume_to_end(&thread, Resume::new().goto("node2")).await;
        assert_eq!(log.xs, ["abc", "node2"]);
        log
    });
}

#[tokio::test]
async fn g068_a_rejection_ends_the_run_with_its_author_and_reason() {
    // agentmesh looks only whether there is an approval, so a rejected one proceeds.
    run_both!(BeforeLast, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let _ = thread.run(list([])).await.unwrap();
        let reject = Decision::reject().by("ann").because("not like this");
        let error = thread.resume(reject).await.unwrap_err();
        assert_eq!(
            *error.kind(),
            RunErrorKind::Rejected {
                node: "b".into(),
                by: Some("ann".into()),
                reason: Some("not like this".into())
            }
        );
        for word in ["`b`", "ann", "not like this"] {
            assert!(error.to_string().contains(word), "{error}");
        }
        assert_eq!(error.state::<Log>().unwrap().xs, ["a"]);
        let snapshot = thread.snapshot().await.unwrap().unwrap();
        assert_eq!(
            (snapshot.info.cause, snapshot.is_finished()),
            (Cause::Rejected, true)
        );
        assert_eq!(
            notes(&thread).await,
            [["b", "rejected", "ann", "not like this"]]
        );
        // It stays where it stopped. A new turn begins at the start.
        let turn = thread.run(list(["again"])).await.unwrap();
        assert_eq!(turn.interrupts().len(), 1);
        turn.state().clone()
    });
}

#[tokio::test]
async fn g068_an_edit_is_applied_before_the_run_resumes() {
    run_both!(BeforeLast, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let _ = thread.run(list([])).await.unwrap();
        let edit = Decision::edit(LogXs(list(["edited"]))).by("ann");
        let log = resume_to_end(&thread, edit).await;
        assert_eq!(log.xs, ["a", "edited", "b"]);
        assert_eq!(notes(&thread).await, [["b", "edited", "ann", ""]]);
        log
    });
}

#[tokio::test]
async fn an_edit_after_a_node_folds_into_its_writes() {
    run_both!(After, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let _ = thread.run(list([])).await.unwrap();
        let edit = Decision::edit(Overwrite(LogXs(list(["mine"]))));
        let log = resume_to_end(&thread, edit).await;
        assert_eq!(log.xs, ["mine", "b"]);
        log
    });
}

#[tokio::test]
async fn a_skipped_node_does_not_run_and_its_edges_fire() {
    run_both!(Before, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let _ = thread.run(list([])).await.unwrap();
        let log = resume_to_end(&thread, Decision::skip().by("bob")).await;
        assert_eq!(log.xs, ["node2"]);
        assert_eq!(notes(&thread).await, [["node1", "skipped", "bob", ""]]);
        log
    });
}

#[derive(Route)]
enum Way {
    A,
    B,
}

#[node(Log)]
async fn chooses(xs: &[String]) -> (LogXs, Way) {
    let way = if xs.is_empty() { Way::A } else { Way::B };
    (LogXs(list(["chooses"])), way)
}

flow_and_graph!(Choice(Log) { chooses -> a | b; interrupt before chooses; } nodes: chooses, a, b);

#[tokio::test]
async fn a_node_with_routes_cannot_be_skipped() {
    run_both!(Choice, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let _ = thread.run(list([])).await.unwrap();
        let error = thread.resume(Decision::skip()).await.unwrap_err();
        assert_contains(&error, "choose the next node with `Resume::goto`");
        assert_eq!(
            thread.snapshot().await.unwrap().unwrap().interrupts.len(),
            1,
            "it still waits"
        );
        let log = resume_to_end(&thread, Resume::new().goto("b")).await;
        assert_eq!(log.xs, ["b"]);
        log
    });
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Post {
    #[key(input)]
    text: String,
    #[key(append)]
    log: Vec<String>,
}

#[node(Post)]
async fn publish(text: &str) -> PostLog {
    PostLog(vec![format!("published {text}")])
}

fn is_long(text: &str) -> petalflow::Result<bool> {
    match text {
        "" => Err("there is nothing to look at".into()),
        "bad" => panic!("a bad guard"),
        text => Ok(text.len() > 5),
    }
}

flow_and_graph! {
    Guarded(Post) { publish; interrupt before publish if |text: &str| -> petalflow::Result<bool> { is_long(text) }; }
    nodes: publish = |b| b.node(publish {}).interrupt_before_if("publish", |post: &Post| is_long(&post.text))
}

#[tokio::test]
async fn g069_a_guard_decides_whether_the_run_pauses_and_its_error_fails_the_run() {
    run_both!(Guarded, |launch| {
        let threads = launch.store(&InMemoryStore::new());
        let short = threads
            .thread("short")
            .run("short".to_string())
            .await
            .unwrap();
        assert_eq!(short.into_finished().unwrap().log, ["published short"]);
        let long = threads
            .thread("long")
            .run("long enough".to_string())
            .await
            .unwrap();
        assert_eq!(long.interrupts().len(), 1);
        let error = threads.thread("none").run(String::new()).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "node `publish` failed in superstep 1: the guard of `interrupt before publish` failed: there is nothing to look at"
        );
        let panicked = threads
            .thread("bad")
            .run("bad".to_string())
            .await
            .unwrap_err();
        assert_contains(&panicked, "failed: it panicked");
        // The thread is unchanged, and resumes when the guard has a value to check.
        let thread = threads.thread("none");
        let fixed = Resume::new().update(PostText("short".into()));
        let post = resume_to_end(&thread, fixed).await;
        assert_eq!(post.log, ["published short"]);
        post
    });
}

#[tokio::test]
async fn g070_a_value_and_an_approval_in_one_call() {
    run_both!(Guarded, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let _ = thread.run("long enough".to_string()).await.unwrap();
        let resume = Resume::new()
            .update(PostText("much too long".into()))
            .decide_all(Decision::approve());
        let post = resume_to_end(&thread, resume).await;
        assert_eq!(post.log, ["published much too long"]);
        post
    });
}

#[node(Log)]
async fn again(xs: &[String]) -> (LogXs, bool) {
    (LogXs(list(["again"])), xs.len() < 2)
}

flow_and_graph! {
    Loop(Log) { again -> match { true => again, false => END }; interrupt before again; }
    nodes: again
}

#[tokio::test]
async fn g071_an_approval_applies_once() {
    // agentmesh stores approvals in the state, so the same interrupt never fires again in that run.
    run_both!(Loop, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let mut outcome = thread.run(list([])).await.unwrap();
        let mut ids = Vec::new();
        for _ in 0..3 {
            ids.push(outcome.interrupts()[0].id);
            outcome = thread.resume(Decision::approve()).await.unwrap();
        }
        let log = outcome.into_finished().unwrap();
        assert_eq!(log.xs, ["again"; 3]);
        ids.dedup();
        assert_eq!(ids.len(), 3);
        assert_eq!(notes(&thread).await.len(), 3);
        log
    });
}

flow_and_graph! {
    Two(Log) { START -> a & b & node1; a & b & node1 -> node2; interrupt before a; interrupt before b; interrupt after node1; }
    nodes: a, b, node1, node2
}

#[tokio::test]
async fn g072_two_interrupts_in_one_superstep_are_both_stored() {
    // agentmesh stores only the last of them.
    run_both!(Two, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let outcome = thread.run(list([])).await.unwrap();
        assert_eq!(
            waits(&outcome),
            [
                ("a".into(), InterruptKind::Before),
                ("b".into(), InterruptKind::Before)
            ]
        );
        let stored = thread.snapshot().await.unwrap().unwrap();
        assert_eq!(stored.interrupts.len(), 2);
        let finished: Vec<_> = stored
            .tasks
            .iter()
            .map(|task| (&*task.node, task.finished))
            .collect();
        assert_eq!(finished, [("a", false), ("b", false), ("node1", true)]);
        // One is decided; the other waits.
        let [first, second] = outcome.interrupts() else {
            panic!("{outcome:?}")
        };
        let one = Resume::new().decide(second.id, Decision::approve().by("bob"));
        let outcome = thread.resume(one).await.unwrap();
        assert_eq!(outcome.interrupts(), std::slice::from_ref(first));
        let other = Resume::new().decide(first.id, Decision::skip());
        // The superstep ends, and the stop after it comes.
        let outcome = thread.resume(other).await.unwrap();
        assert_eq!(waits(&outcome), [("node1".into(), InterruptKind::After)]);
        assert_eq!(outcome.state().xs, ["b", "node1"]);
        let log = resume_to_end(&thread, Decision::approve()).await;
        assert_eq!(log.xs, ["b", "node1", "node2"]);
        log
    });
}

#[tokio::test]
async fn a_decision_for_a_node_that_does_not_wait_is_refused_and_changes_nothing() {
    run_both!(BeforeLast, |launch| {
        let threads = launch.store(&InMemoryStore::new());
        let other = threads
            .thread("other")
            .run(list([]))
            .await
            .unwrap()
            .interrupts()[0]
            .id;
        let thread = threads.thread("t");
        let _ = thread.run(list([])).await.unwrap();
        let before = thread.snapshot().await.unwrap().unwrap().info;
        let error = thread
            .resume(Resume::new().decide(other, Decision::approve()))
            .await;
        let text = error.unwrap_err().to_string();
        assert!(
            text.contains("it waits for") && text.contains("node `b`"),
            "{text}"
        );
        assert_eq!(thread.snapshot().await.unwrap().unwrap().info, before);
        let _ = resume_to_end(&thread, Decision::approve()).await;
        let error = thread
            .resume(Decision::approve())
            .await
            .unwrap_err()
            .to_string();
        assert_contains(&error, "has an answer already (`approved`)");
        // Without the id.
        error.split_once(' ').unwrap().1.to_string()
    });
}

#[tokio::test]
async fn g064_a_run_that_could_pause_is_refused_without_a_store() {
    run_both!(Before, |launch| {
        let error = launch.run(list([])).await.unwrap_err().to_string();
        assert_contains(&error, ".store(&store).thread(id)");
        error
    });
}

flow_and_graph! {
    Nest(Log) {
        node inner: BeforeLast { in: |xs: &[String]| xs.to_vec(), out: |log: Log| Overwrite(LogXs(log.xs)) };
        node late: After { in: |xs: &[String]| xs.to_vec(), out: |log: Log| Overwrite(LogXs(log.xs)) };
        node1 -> inner -> late;
    }
    nodes:
        node1,
        inner = |b| b.subflow("inner", BeforeLast, |log: &Log| log.xs.clone().into(), |log: Log| Overwrite(LogXs(log.xs))),
        late = |b| b.subflow("late", After, |log: &Log| log.xs.clone().into(), |log: Log| Overwrite(LogXs(log.xs)))
}

#[tokio::test]
async fn a_subflow_pauses_and_is_approved_through_the_parent() {
    run_both!(Nest, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let outcome = thread.run(list([])).await.unwrap();
        let interrupt = &outcome.interrupts()[0];
        assert_eq!((&*interrupt.namespace, &*interrupt.node), ("inner", "b"));
        let edit = Decision::edit(LogXs(list(["edited"])));
        let error = thread.resume(edit).await.unwrap_err().to_string();
        assert_contains(&error, "inside `inner`");
        let outcome = thread.resume(Decision::skip().by("ann")).await.unwrap();
        let interrupt = &outcome.interrupts()[0];
        assert_eq!((&*interrupt.namespace, &*interrupt.node), ("late", "a"));
        assert_eq!(interrupt.kind, InterruptKind::After);
        let log = resume_to_end(&thread, Decision::approve()).await;
        assert_eq!(log.xs, ["node1", "a", "a", "b"]);
        assert_eq!(notes(&thread).await[0], ["b", "skipped", "ann", ""]);
        log
    });
}

flow_and_graph! {
    NestChoice(Log) {
        node inner: Choice { in: |xs: &[String]| xs.to_vec(), out: |log: Log| Overwrite(LogXs(log.xs)) };
        inner -> node1;
    }
    nodes:
        inner = |b| b.subflow("inner", Choice, |log: &Log| log.xs.clone().into(), |log: Log| Overwrite(LogXs(log.xs))),
        node1
}

#[tokio::test]
async fn a_node_with_routes_cannot_be_skipped_in_a_subflow() {
    run_both!(NestChoice, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let _ = thread.run(list([])).await.unwrap();
        let error = thread.resume(Decision::skip()).await.unwrap_err();
        assert!(
            error.to_string().ends_with(
                "node `chooses` inside `inner` cannot be skipped, because it chooses a route: approve or reject it"
            ),
            "{error}"
        );
        let waits = thread.snapshot().await.unwrap().unwrap().interrupts.len();
        assert_eq!(waits, 1, "it still waits");
        let log = resume_to_end(&thread, Decision::approve()).await;
        assert_eq!(log.xs, ["chooses", "a", "node1"]);
        log
    });
}

#[derive(serde::Serialize, Ask)]
#[ask(answer = String, name = "which")]
struct Which {}

#[derive(serde::Serialize, Ask)]
#[ask(answer = bool, name = "other")]
struct Other {}

#[node(Log)]
async fn ask(cx: Context) -> petalflow::Result<LogXs> {
    Ok(LogXs(vec![cx.ask(Which {}).await?]))
}

flow_and_graph!(Asks(Log) { ask } nodes: ask);

#[tokio::test]
async fn a_decision_and_an_answer_that_nobody_waits_for_say_what_the_thread_waits_for() {
    run_both!(Asks, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let waits = thread.run(list(["in"])).await.unwrap();
        let id = waits.interrupts()[0].id;
        let waits_for = format!("; it waits for {id} (node `ask`, which)");
        let decided = thread.resume(Decision::approve()).await.unwrap_err();
        let expected = format!("the thread does not wait for an approval{waits_for}");
        assert_eq!(decided.to_string(), expected);
        let answered = thread.answer::<Other>(true).await.unwrap_err();
        let expected = format!("the thread does not wait for an answer to `other`{waits_for}");
        assert_eq!(answered.to_string(), expected);
    });
}

#[tokio::test]
async fn f42_words_about_answers_do_not_contradict_themselves() {
    run_both!(Asks, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let waits = thread.run(list(["in"])).await.unwrap();
        let interrupt = &waits.interrupts()[0];
        let id = interrupt.id;
        let decided = thread.resume(Resume::new().decide(id, Decision::approve()));
        assert_eq!(
            decided.await.unwrap_err().to_string(),
            format!(
                "{id} is the question `which` of node `ask`, and a decision is for an approval; answer the question"
            )
        );
        let answer = |text: &str| interrupt.answer::<Which>(text.to_string()).unwrap();
        let twice = Resume::new().answer(answer("a")).answer(answer("b"));
        let expected = format!("there are two answers to {id} in this `Resume`; give one");
        let refused = thread.resume(twice).await.unwrap_err();
        assert_eq!(refused.to_string(), expected);
        let both = Resume::new()
            .answer(answer("a"))
            .decide(id, Decision::approve());
        let refused = thread.resume(both).await.unwrap_err();
        assert_eq!(refused.to_string(), expected);
        // Nothing has changed.
        let done = thread.resume(Resume::new().answer(answer("a"))).await;
        assert_eq!(done.unwrap().into_finished().unwrap().xs, ["in", "a"]);
    });
}
