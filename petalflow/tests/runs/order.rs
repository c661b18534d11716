//! The order of what a run waits for.

use futures_util::StreamExt as _;
use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::{Ask, Decision, Interrupt, Resume};
use petalflow::prelude::*;
use std::collections::BTreeMap;

#[state]
#[derive(Clone, Debug)]
struct Work {
    #[key(append)]
    log: Vec<String>,
}

#[derive(serde::Serialize, Ask)]
#[ask(answer = u32, key = n)]
struct Pick {
    n: u32,
}

/// A node that asks two questions at the same time.
macro_rules! asking {
    ($($node:ident)*) => {$(
        #[node(Work)]
        async fn $node(cx: Context) -> petalflow::Result<()> {
            let (first, second) = futures_util::future::join(cx.ask(Pick { n: 2 }), cx.ask(Pick { n: 1 })).await;
            first?;
            second?;
            Ok(())
        }
    )*};
}

asking!(z_asks m_asks inner_z inner_a);

#[node(Work)]
async fn k_gated() {}

#[node(Work)]
async fn a_gated() {}

flow!(Inner(Work) { START -> inner_z & inner_a; });
flow! {
    Mixed(Work) {
        START -> z_asks & k_gated & inner & m_asks & a_gated;
        interrupt before a_gated;
        interrupt before k_gated;
        node inner: Inner { in: || (), out: |_work: Work| () };
    }
}
flow! {
    After(Work) {
        START -> k_gated & a_gated;
        interrupt after a_gated;
        interrupt after k_gated;
    }
}

fn names(interrupts: &[Interrupt]) -> Vec<String> {
    let name = |interrupt: &Interrupt| match &interrupt.kind {
        petalflow::interrupt::InterruptKind::Ask { question, .. } => {
            let question: BTreeMap<String, u8> = question.decode().unwrap();
            format!("{} {}", interrupt.node, question["n"])
        }
        _ => interrupt.node.clone(),
    };
    interrupts.iter().map(name).collect()
}

#[tokio::test]
async fn questions_and_approvals_come_in_the_order_of_their_nodes() {
    let thread = Mixed::new().store(&InMemoryStore::new()).thread("mixed");
    let paused = thread.run(()).await.unwrap();
    let order = [
        "z_asks 2",
        "z_asks 1",
        "k_gated",
        "inner_z 2",
        "inner_z 1",
        "inner_a 2",
        "inner_a 1",
        "m_asks 2",
        "m_asks 1",
        "a_gated",
    ];
    assert_eq!(names(paused.interrupts()), order);
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    assert_eq!(snapshot.interrupts, paused.interrupts());
    // The order of those that remain does not change.
    let answer = paused.interrupts()[1].answer::<Pick>(7).unwrap();
    let paused = thread.resume(answer).await.unwrap();
    let rest: Vec<_> = order.iter().filter(|name| **name != "z_asks 1").collect();
    assert_eq!(names(paused.interrupts()).iter().collect::<Vec<_>>(), rest);
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    assert_eq!(snapshot.interrupts, paused.interrupts());
}

#[tokio::test]
async fn approvals_after_nodes_come_in_the_same_order() {
    let thread = After::new().store(&InMemoryStore::new()).thread("after");
    let paused = thread.run(()).await.unwrap();
    assert_eq!(names(paused.interrupts()), ["k_gated", "a_gated"]);
    let snapshot = thread.snapshot().await.unwrap().unwrap();
    assert_eq!(names(&snapshot.interrupts), ["k_gated", "a_gated"]);
}

#[node(Work)]
async fn publish(cx: Context) -> petalflow::Result<()> {
    cx.ask(Pick { n: 3 }).await?;
    Ok(())
}

flow! {
    Twice(Work) {
        k_gated -> publish;
        interrupt after k_gated;
        interrupt before publish;
    }
}
flow! {
    Together(Work) {
        START -> k_gated & a_gated;
        interrupt before k_gated;
        interrupt before a_gated;
    }
}

#[tokio::test]
async fn stops_at_two_moments_take_two_approvals() {
    let thread = Twice::new().store(&InMemoryStore::new()).thread("twice");
    let paused = thread.run(()).await.unwrap();
    assert_eq!(names(paused.interrupts()), ["k_gated"]);
    let paused = thread.resume(Decision::approve()).await.unwrap();
    assert_eq!(names(paused.interrupts()), ["publish"]);
    let paused = thread.resume(Decision::approve()).await.unwrap();
    assert_eq!(names(paused.interrupts()), ["publish 3"]);
    thread
        .answer::<Pick>(1)
        .await
        .unwrap()
        .into_finished()
        .unwrap();
}

#[tokio::test]
async fn one_decision_decides_all_approvals_of_a_pause() {
    let threads = Together::new().store(&InMemoryStore::new());
    let paused = threads.thread("all").run(()).await.unwrap();
    assert_eq!(paused.interrupts().len(), 2);
    let done = threads
        .thread("all")
        .resume(Decision::approve())
        .await
        .unwrap();
    done.into_finished().unwrap();
    let thread = threads.thread("one by one");
    let paused = thread.run(()).await.unwrap();
    let one = Resume::new().decide(paused.interrupts()[0].id, Decision::approve());
    let paused = thread.resume(one).await.unwrap();
    assert_eq!(names(paused.interrupts()), ["a_gated"]);
}

#[tokio::test]
async fn the_events_of_a_barrier_have_an_order() {
    let thread = After::new().store(&InMemoryStore::new()).thread("events");
    let events: Vec<_> = thread.run(()).events().with_values().collect().await;
    let names: Vec<_> = events.iter().map(|event| event.kind.name()).collect();
    assert_eq!(names[..2], ["run_started", "checkpoint"]);
    let thread = Plain::new().store(&InMemoryStore::new()).thread("events");
    let events: Vec<_> = thread.run(()).events().with_values().collect().await;
    let names: Vec<_> = events.iter().map(|event| event.kind.name()).collect();
    assert_eq!(
        names,
        [
            "run_started",
            "checkpoint",
            "superstep_started",
            "node_started",
            "node_finished",
            "checkpoint",
            "superstep_finished",
            "values",
            "finished"
        ]
    );
}

flow!(Plain(Work) { k_gated });
