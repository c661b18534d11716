//! Questions to people.

use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::event::EventKind;
use petalflow::interrupt::{Answer, Ask, Expiry, Interrupt, InterruptKind};
use petalflow::prelude::*;
use petalflow::thread::{Durability, Outcome, ThreadError, Threads};
use petalflow::{Flow, Launch, NodeError};
use petalflow_test_support::assert_contains;
use serde::{Deserialize, Serialize};

use crate::support::{Trace, expect_finished, flow_and_graph, list, run_both};

#[derive(Serialize, Deserialize, Debug, PartialEq)]
struct Prompt {
    key: String,
}

impl Ask for Prompt {
    type Answer = String;
    const NAME: &'static str = "prompt";

    fn key(&self) -> String {
        self.key.clone()
    }
}

fn prompt(key: &str) -> Prompt {
    Prompt { key: key.into() }
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Texts {
    #[key(input, append)]
    xs: Vec<String>,
}

#[node(Texts)]
async fn twice(cx: Context) -> petalflow::Result<TextsXs> {
    let a = cx.ask(prompt("1")).await?;
    let b = cx.ask(prompt("2")).await?;
    Ok(TextsXs(vec![format!("{a} {b}")]))
}

flow_and_graph!(Twice(Texts) { twice } nodes: twice);

#[tokio::test]
async fn c62_a_node_runs_again_from_its_beginning_and_answers_are_found_by_name() {
    run_both!(Twice, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let Outcome::Paused(paused) = thread.run(list(["DE"])).await.unwrap() else {
            panic!("asked nothing")
        };
        assert_eq!(paused.state.xs, ["DE"]);
        let [interrupt] = &paused.interrupts[..] else {
            panic!("{paused:?}")
        };
        assert_eq!(interrupt.question::<Prompt>(), Some(prompt("1")));
        let resume = petalflow::interrupt::Resume::new()
            .answer(interrupt.answer::<Prompt>("answer 1".into()).unwrap())
            .update(TextsXs(list(["foofoo"])));
        let outcome = thread.resume(resume).await.unwrap();
        // C64: no writes before the node returns.
        assert_eq!(outcome.state().xs, ["DE", "foofoo"]);
        assert_eq!(
            outcome.interrupts()[0].question::<Prompt>(),
            Some(prompt("2"))
        );
        let outcome = thread.answer::<Prompt>("answer 2".into()).await.unwrap();
        let texts = outcome.into_finished().unwrap();
        assert_eq!(texts.xs, ["DE", "foofoo", "answer 1 answer 2"]);
        texts
    });
}

#[node(Texts)]
async fn spread(xs: &[String]) -> Each<String> {
    Each(xs.to_vec())
}

#[node(Texts)]
async fn one(#[item] text: &str, cx: Context) -> petalflow::Result<TextsXs> {
    Ok(TextsXs(vec![cx.ask(prompt(text)).await?]))
}

flow_and_graph!(Many(Texts) { spread -> each one } nodes: spread, one);

#[tokio::test]
async fn c67_c68_several_questions_are_answered_by_id_and_keep_their_order() {
    run_both!(Many, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let outcome = thread.run(list(["a", "b", "c", "d", "e"])).await.unwrap();
        let interrupts = outcome.interrupts().to_vec();
        assert_eq!(interrupts.len(), 5);
        let error = thread.answer::<Prompt>("x".into()).await.unwrap_err();
        assert_contains(&error, "answer one by its id");
        let mut answers: Vec<Answer> = interrupts
            .iter()
            .map(|interrupt| {
                let Prompt { key } = interrupt.question().unwrap();
                interrupt.answer::<Prompt>(format!("human {key}")).unwrap()
            })
            .collect();
        answers.reverse();
        let late = answers.split_off(3);
        // Some first: the others still wait.
        let outcome = thread.resume(answers).await.unwrap();
        assert_eq!(outcome.interrupts().len(), 2);
        let again = late[0].clone();
        let texts = expect_finished(thread.resume(late)).await;
        assert_eq!(
            texts.xs[5..],
            ["human a", "human b", "human c", "human d", "human e"]
        );
        let error = thread.resume(again).await.unwrap_err();
        assert_contains(&error, "has an answer already (`prompt`)");
        texts
    });
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Outer {
    #[key(append)]
    xs: Vec<String>,
}

#[node(Texts)]
async fn before(cx: Context, xs: &[String]) -> petalflow::Result<TextsXs> {
    let done = cx
        .once("count", async { Ok::<_, petalflow::BoxError>(xs.len()) })
        .await?;
    Ok(TextsXs(vec![format!("before {done}")]))
}

flow!(Inner(Texts) { before -> twice });

#[node(Outer)]
async fn side() -> OuterXs {
    OuterXs(vec!["side".into()])
}

#[node(Outer)]
async fn last() -> OuterXs {
    OuterXs(vec!["last".into()])
}

flow!(Nest(Outer) {
    node inner: Inner { in: |xs: &[String]| TextsInput { xs: xs.to_vec() }, out: |t: Texts| OuterXs(t.xs) };
    START -> side & inner;
    side & inner -> last;
});

#[tokio::test]
async fn a_subflow_waits_alone_and_resumes_inside() {
    let threads: Threads<Nest> = Nest::new().store(&InMemoryStore::new());
    let thread = threads.thread("t");
    let outcome = thread.run(()).await.unwrap();
    let [interrupt] = outcome.interrupts() else {
        panic!("{outcome:?}")
    };
    assert_eq!(
        (interrupt.namespace.as_str(), interrupt.node.as_str()),
        ("inner", "twice")
    );
    let first = interrupt.answer::<Prompt>("A".into()).unwrap();
    let outcome = thread.resume(first).await.unwrap();
    assert_eq!(outcome.interrupts().len(), 1);
    let outcome = thread.answer::<Prompt>("B".into()).await.unwrap();
    let outer = outcome.into_finished().unwrap();
    assert_eq!(outer.xs, ["before 0", "A B", "side", "last"]);
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct StepLog {
    #[key(append)]
    steps: Vec<String>,
}

#[node(StepLog)]
async fn asks_twice(cx: Context) -> petalflow::Result<StepLogSteps> {
    let mut steps = Vec::new();
    for step in ["step1", "step2"] {
        cx.ask(prompt(step)).await?;
        steps.push(step.to_string());
    }
    Ok(StepLogSteps(steps))
}

flow_and_graph!(AskTwice(StepLog) { asks_twice } nodes: asks_twice);

#[tokio::test]
async fn c64_nothing_is_written_before_the_node_returns() {
    run_both!(AskTwice, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let mut outcome = thread.run(()).await.unwrap();
        for _ in 0..2 {
            assert_eq!(outcome.interrupts().len(), 1);
            let snapshot = thread.snapshot().await.unwrap().unwrap();
            assert_eq!(snapshot.state.steps, [""; 0]);
            assert_eq!(snapshot.interrupts, outcome.interrupts());
            outcome = thread.answer::<Prompt>("on".into()).await.unwrap();
        }
        let log = outcome.into_finished().unwrap();
        assert_eq!(log.steps, ["step1", "step2"]);
        log
    });
}

#[tokio::test]
async fn a_question_waits_whatever_the_durability() {
    for durability in [
        Durability::Sync,
        Durability::Async,
        Durability::Exit,
        Durability::Interval(2.try_into().unwrap()),
    ] {
        run_both!(Replay, |launch| {
            let trace = Trace::default();
            let launch = launch.manage(trace.clone());
            let store = InMemoryStore::new();
            for turn in 1..=3 {
                // A launch of its own each time, as in a process of its own.
                let thread = || {
                    launch
                        .clone()
                        .store(&store)
                        .durability(durability)
                        .thread("t")
                };
                let asked = thread().run(list([])).await.unwrap().interrupts().to_vec();
                let stored = thread().snapshot().await.unwrap().unwrap();
                assert_eq!(
                    (asked.len(), &stored.interrupts),
                    (1, &asked),
                    "{durability:?}"
                );
                let answer = asked[0].answer::<Prompt>("b".into()).unwrap();
                let texts = thread()
                    .resume(answer)
                    .await
                    .unwrap()
                    .into_finished()
                    .unwrap();
                assert_eq!(texts.xs, ["a", "b", "end"].repeat(turn), "{durability:?}");
            }
            assert_eq!(
                (trace.count("ia"), trace.count("ib"), trace.count("end")),
                (3, 6, 3)
            );
        });
    }
}

#[node(Texts)]
async fn ia(trace: Managed<Trace>) -> TextsXs {
    trace.record("ia");
    TextsXs(list(["a"]))
}

#[node(Texts)]
async fn ib(cx: Context, trace: Managed<Trace>) -> petalflow::Result<TextsXs> {
    trace.record("ib");
    Ok(TextsXs(vec![cx.ask(prompt("ib")).await?]))
}

flow_and_graph!(Pair(Texts) { START -> ia & ib; } nodes: ia, ib);

#[tokio::test]
async fn c66_an_input_during_a_question_is_refused_unless_it_is_allowed() {
    // LangGraph silently drops the question and the pending results.
    run_both!(Pair, |launch| {
        let trace = Trace::default();
        let thread = launch
            .manage(trace.clone())
            .store(&InMemoryStore::new())
            .thread("t");
        let outcome = thread.run(list(["0"])).await.unwrap();
        assert_eq!(outcome.interrupts().len(), 1);
        let error = thread.run(list(["new"])).await.unwrap_err();
        let Some(ThreadError::Waiting { waiting, .. }) = error.thread_error() else {
            panic!("{error}")
        };
        assert_eq!(waiting, outcome.interrupts());
        assert_contains(&error, "(node `ib`, prompt)");
        assert_contains(&error, ".discard_pending()");
        // Nothing was lost by trying.
        let snapshot = thread.snapshot().await.unwrap().unwrap();
        assert_eq!(snapshot.state.xs, ["0"]);
        assert_eq!(snapshot.interrupts.len(), 1);
        let outcome = thread.run(list(["new"])).discard_pending().await.unwrap();
        assert_ne!(
            outcome.interrupts()[0].id,
            waiting[0].id,
            "it is asked anew"
        );
        assert_eq!((trace.count("ia"), trace.count("ib")), (2, 2));
        let texts = expect_finished(thread.answer::<Prompt>("b".into())).await;
        assert_eq!(texts.xs, ["0", "new", "a", "b"]);
        texts
    });
}

#[node(Texts)]
async fn caught(#[item] failure: &NodeError) -> TextsXs {
    TextsXs(vec![format!("caught {}", failure.message)])
}

flow_and_graph!(Guarded(Texts) { START -> ia & ib; catch ib -> caught; } nodes: ia, ib, caught);

#[tokio::test]
async fn c59_a_question_is_not_a_failure_and_cannot_be_caught() {
    run_both!(Guarded, |launch| {
        let thread = launch
            .manage(Trace::default())
            .store(&InMemoryStore::new())
            .thread("t");
        let outcome = thread.run(list([])).await.unwrap();
        assert_eq!(outcome.interrupts().len(), 1);
        let texts = expect_finished(thread.answer::<Prompt>("b".into())).await;
        assert_eq!(texts.xs, ["a", "b"]);
        texts
    });
}

flow!(AskOne(Texts) { ia -> ib });

#[node(Outer)]
async fn prompts() -> Each<String> {
    Each(list(["a", "b", "c", "d", "e"]))
}

flow! {
    AskMany(Outer) {
        node inner: AskOne { in: |#[item] text: &String| TextsInput { xs: vec![text.clone()] }, out: |t: Texts| OuterXs(t.xs[2..].to_vec()) };
        prompts -> each inner -> last;
    }
}

#[tokio::test]
async fn c68_questions_in_five_nested_flows_are_answered_by_id_in_order() {
    let trace = Trace::default();
    let thread = AskMany::new()
        .manage(trace.clone())
        .store(&InMemoryStore::new())
        .thread("t");
    let outcome = thread.run(()).await.unwrap();
    let interrupts = outcome.interrupts();
    let namespaces: Vec<_> = interrupts
        .iter()
        .map(|interrupt| &*interrupt.namespace)
        .collect();
    assert_eq!(
        namespaces,
        ["inner[0]", "inner[1]", "inner[2]", "inner[3]", "inner[4]"]
    );
    // By id, in any order.
    let answer = |at: usize| {
        let text = format!("human input for prompt {}", ["a", "b", "c", "d", "e"][at]);
        interrupts[at].answer::<Prompt>(text).unwrap()
    };
    let outcome = thread.resume(vec![answer(3), answer(0)]).await.unwrap();
    assert_eq!(outcome.interrupts().len(), 3);
    let outcome = thread
        .resume(vec![answer(4), answer(2), answer(1)])
        .await
        .unwrap();
    let mut expected: Vec<String> = ["a", "b", "c", "d", "e"]
        .map(|prompt| format!("human input for prompt {prompt}"))
        .into();
    expected.push("last".into());
    assert_eq!(outcome.into_finished().unwrap().xs, expected);
    assert_eq!(
        trace.count("ia"),
        5,
        "what was done inside is not done again"
    );
}

flow_and_graph!(Replay(Texts) { ia -> ib -> end; } nodes: ia, ib, end);

#[node(Texts)]
async fn end(trace: Managed<Trace>) -> TextsXs {
    trace.record("end");
    TextsXs(list(["end"]))
}

#[tokio::test]
async fn c74_going_back_before_a_question_asks_it_again() {
    run_both!(Replay, |launch| {
        let trace = Trace::default();
        let thread = launch
            .manage(trace.clone())
            .store(&InMemoryStore::new())
            .thread("t");
        let first = thread.run(list([])).await.unwrap().interrupts()[0].id;
        expect_finished(thread.answer::<Prompt>("hello".into())).await;
        let history = thread
            .history(petalflow::thread::HistoryQuery::all())
            .await
            .unwrap();
        let before = history.iter().rfind(|info| info.next == ["ib"]).unwrap();
        thread.fork(before.checkpoint).await.unwrap();
        let outcome = thread.resume(()).await.unwrap();
        assert_eq!(outcome.state().xs, ["a"]);
        assert_ne!(
            outcome.interrupts()[0].id,
            first,
            "an answer to the first is none to this one"
        );
        assert_eq!(
            (trace.count("ia"), trace.count("ib"), trace.count("end")),
            (1, 3, 1)
        );
        let texts = expect_finished(thread.answer::<Prompt>("again".into())).await;
        assert_eq!(texts.xs, ["a", "again", "end"]);
        texts
    });
}

#[tokio::test]
async fn c62_the_same_by_id_and_as_events() {
    run_both!(Twice, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let mut asked = thread
            .run(list(["DE"]))
            .await
            .unwrap()
            .interrupts()
            .to_vec();
        let mut lines = Vec::new();
        for answer in ["answer 1", "answer 2"] {
            let answer = Answer::new::<Prompt>(asked[0].id, &answer.to_string()).unwrap();
            let mut events = thread.resume(answer).events().updates();
            while let Some(event) = events.next().await {
                match event.kind {
                    EventKind::Interrupted { interrupts, .. } => asked = interrupts,
                    EventKind::NodeFinished { update, .. } => {
                        lines.extend(update.of::<TextsXs>().only().cloned());
                    }
                    _ => panic!("{event:?}"),
                }
            }
        }
        assert_eq!(lines, [list(["answer 1 answer 2"])]);
        lines
    });
}

#[tokio::test]
async fn c73_the_error_of_a_question_without_a_store_names_the_solution() {
    let error = Twice::run(list([])).await.unwrap_err();
    assert_contains(&error, ".store(&store).thread(id)");
}

#[derive(Serialize, Deserialize)]
struct Bid;

/// Long enough for a run to stop at the question. The tests wait in real time, because the time at which a question expires
/// is stored: another process may compare it with its own clock.
const SOON: Duration = Duration::from_millis(250);

impl Ask for Bid {
    type Answer = String;
    const NAME: &'static str = "bid";

    fn expires(&self) -> Option<Expiry<String>> {
        Some(Expiry {
            after: SOON,
            answer: "nothing".into(),
        })
    }
}

#[node(Texts)]
async fn bids(cx: Context) -> petalflow::Result<TextsXs> {
    let bid = cx.ask(Bid).await?;
    Ok(TextsXs(vec![format!(
        "{bid}, {}",
        cx.ask(prompt("then")).await?
    )]))
}

#[node(Texts)]
async fn waits(cx: Context) -> petalflow::Result<TextsXs> {
    Ok(TextsXs(vec![cx.ask(Bid).await?]))
}

flow!(BidOnce(Texts) { bids });

flow_and_graph!(Auction(Texts) { START -> bids & waits; } nodes: bids, waits);
flow_and_graph! {
    AuctionInside(Texts) {
        node inside: BidOnce { in: || Vec::new(), out: |texts: Texts| TextsXs(texts.xs) };
        START -> inside & waits;
    }
    nodes: inside = |b| b.subflow("inside", BidOnce, |_: &Texts| Vec::new().into(), |texts: Texts| TextsXs(texts.xs)), waits
}

fn names(interrupts: &[Interrupt]) -> Vec<String> {
    let name = |interrupt: &Interrupt| match &interrupt.kind {
        InterruptKind::Ask { name, .. } => name.clone(),
        kind => format!("{kind:?}"),
    };
    interrupts.iter().map(name).collect()
}

/// A question that expired without an answer answers itself when the thread is resumed. The writes of its node stay.
async fn answers_itself<F: Flow<State = Texts>>(launch: Launch<F>) -> Texts {
    let thread = launch.store(&InMemoryStore::new()).thread("t");
    let outcome = thread.run(list([])).await.unwrap();
    assert_eq!(names(outcome.interrupts()), ["bid", "bid"]);
    let bids = outcome.interrupts().to_vec();
    tokio::time::sleep(SOON + Duration::from_millis(5)).await;
    let outcome = thread.resume(()).await.unwrap();
    assert_eq!(names(outcome.interrupts()), ["prompt"]);
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    assert_eq!(snapshot.interrupts, outcome.interrupts());
    for bid in &bids {
        let late = thread
            .resume(bid.answer::<Bid>("much".into()).unwrap())
            .await;
        let error = late.unwrap_err();
        assert_contains(
            &error,
            "or the question has expired; this answer is not recorded",
        );
    }
    let outcome = thread.answer::<Prompt>("so be it".into()).await.unwrap();
    let texts = outcome.into_finished().unwrap();
    assert_eq!(texts.xs, ["nothing, so be it", "nothing"]);
    texts
}

#[tokio::test]
async fn an_expired_question_cannot_be_answered_after_a_resume() {
    run_both!(Auction, |launch| answers_itself(launch).await);
    run_both!(AuctionInside, |launch| answers_itself(launch).await);
}

#[tokio::test]
async fn an_answer_to_an_expired_question_is_accepted_until_a_resume() {
    run_both!(Auction, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let outcome = thread.run(list([])).await.unwrap();
        let [first, _] = outcome.interrupts() else {
            panic!("{outcome:?}")
        };
        tokio::time::sleep(SOON + Duration::from_millis(5)).await;
        let answer = first.answer::<Bid>("just in time".into()).unwrap();
        let outcome = thread.resume(answer).await.unwrap();
        assert_eq!(names(outcome.interrupts()), ["prompt"]);
        let outcome = thread.answer::<Prompt>("done".into()).await.unwrap();
        let texts = outcome.into_finished().unwrap();
        assert_eq!(texts.xs, ["just in time, done", "nothing"]);
        texts
    });
}

#[derive(Serialize, Deserialize)]
struct Offer;

impl Ask for Offer {
    type Answer = String;
    const NAME: &'static str = "offer";

    fn expires(&self) -> Option<Expiry<String>> {
        Some(Expiry {
            after: Duration::from_hours(1),
            answer: "nothing".into(),
        })
    }
}

#[node(Texts)]
async fn offer(cx: Context) -> petalflow::Result<TextsXs> {
    Ok(TextsXs(vec![cx.ask(Offer).await?]))
}

flow_and_graph! { Sale(Texts) { offer; } nodes: offer }

#[tokio::test]
async fn a_question_that_has_not_expired_waits() {
    run_both!(Sale, |launch| {
        let thread = launch.store(&InMemoryStore::new()).thread("t");
        let outcome = thread.run(list([])).await.unwrap();
        let [offer] = outcome.interrupts() else {
            panic!("{outcome:?}")
        };
        assert_eq!(offer.expires_ms, Some(offer.asked_ms + 3_600_000));
        let outcome = thread.resume(()).await.unwrap();
        assert_eq!(names(outcome.interrupts()), ["offer"]);
    });
}
