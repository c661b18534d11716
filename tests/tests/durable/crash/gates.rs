//! Approvals before and after nodes, and flows that keep their state.

use petalflow::interrupt::{Decision, InterruptKind, Resume};
use petalflow::prelude::*;
use petalflow_testing::crashes;

use crate::support::{Log, LogXs, appending, list};

appending! { a b c d }

flow!(Gated(Log) {
    a -> b & c;
    b & c -> d;
    interrupt before b;
    interrupt after b if |xs: &[String]| xs.len() > 2;
    interrupt before d;
});

#[tokio::test]
async fn approvals_survive() {
    crashes(Gated::new, || list(["i"]))
        .turn(|| list([]))
        .answers(|_| Decision::approve().by("Ann").into())
        .check()
        .await;
}

#[tokio::test]
async fn edits_are_applied_once() {
    crashes(Gated::new, || list(["i"]))
        .answers(|interrupts| {
            let mut resume = Resume::new();
            for interrupt in interrupts {
                let text = format!("edited at {}", interrupt.node);
                resume = resume.decide(interrupt.id, Decision::edit(LogXs(vec![text])));
            }
            resume
        })
        .check()
        .await;
}

#[tokio::test]
async fn a_skipped_node_stays_skipped() {
    crashes(Gated::new, || list(["i"]))
        .answers(|interrupts| {
            let skip = interrupts
                .iter()
                .all(|interrupt| interrupt.kind == InterruptKind::Before);
            if skip {
                Decision::skip().into()
            } else {
                Decision::approve().into()
            }
        })
        .check()
        .await;
}

#[tokio::test]
async fn a_rejection_is_reported_again() {
    crashes(Gated::new, || list(["i"]))
        .answers(|interrupts| {
            if interrupts.iter().any(|interrupt| interrupt.node == "d") {
                Decision::reject().because("no").into()
            } else {
                Decision::approve().into()
            }
        })
        .turn(|| list(["again"]))
        .tries(1)
        .check()
        .await;
}

#[petalflow::node(Log)]
async fn side() -> LogXs {
    LogXs(list(["side"]))
}

flow!(Nested(Log) {
    node inner: Gated { in: |xs: &[String]| xs.to_vec(), out: |log: Log| LogXs(log.xs) };
    START -> inner & side;
    inner & side -> d;
    interrupt before d;
});

#[tokio::test]
async fn approvals_in_subflows_survive() {
    crashes(Nested::new, || list(["i"]))
        .answers(|_| Decision::approve().into())
        .check()
        .await;
}

#[state]
#[derive(Clone, Debug, PartialEq)]
struct Rounds {
    #[key(append)]
    seen: Vec<usize>,
}

#[petalflow::node(Rounds)]
async fn more(seen: &[usize]) -> bool {
    seen.len() < 4
}

flow!(Chain(Log) { a -> b });

flow!(Kept(Rounds) {
    node inner: Chain { in: || list(["x"]), out: |log: Log| RoundsSeen(vec![log.xs.len()]), keep: thread };
    START -> inner -> more;
    more -> match { true => inner, false => END };
});

#[tokio::test]
async fn a_subflow_with_a_stored_state_takes_each_turn_once() {
    crashes(Kept::new, || ())
        .turn(|| ())
        .after(|rounds, crashed| {
            let turns: Vec<usize> = (1..=5).map(|turn| 3 * turn).collect();
            assert_eq!(rounds.seen, turns, "{crashed}");
        })
        .check()
        .await;
}
