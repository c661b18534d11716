//! Random graphs: stages that follow each other in a loop.

use std::time::Duration;

use petalflow::graph::{GraphBuilder, GraphErrors};
use petalflow::policy::{Policy, Retry};
use petalflow::prelude::*;

use super::world::{Fault, World};

#[state]
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Walk {
    #[key(sum)]
    round: u32,
    #[key(append)]
    log: Vec<String>,
}

/// The state of a sub-flow.
#[state]
struct Inner {
    #[key(input)]
    round: u32,
    /// The calls that the state knows of.
    #[key(append)]
    calls: Vec<u32>,
    #[key(append, turn)]
    steps: Vec<String>,
    /// Whether this attempt goes wrong: decided by its first node, so that only another attempt can succeed.
    is_faulty: bool,
}

/// Choices read from a tape, so that a failing case shrinks.
pub(super) struct Tape<'a>(pub(super) std::slice::Iter<'a, u8>);

impl Tape<'_> {
    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::from(*self.0.next().unwrap_or(&0)) % limit
    }

    pub(super) fn one_in(&mut self, odds: usize) -> bool {
        self.below(odds) == odds - 1
    }

    fn millis(&mut self) -> u64 {
        self.below(3) as u64
    }
}

/// A sub-flow of a stage.
#[derive(Clone, Copy, Debug)]
struct Sub {
    fault: Fault,
    /// How many faults there are, of which each takes one attempt.
    faults: u32,
    keep: bool,
    cache: bool,
}

#[derive(Clone, Debug)]
enum Stage {
    Plain,
    /// Two nodes that take so long, and a join.
    Fork([u64; 2]),
    /// A node that runs for items.
    Each(u32),
    /// A node that fails in every second round, and its `catch`.
    Catch,
    /// A node that is deferred until another path has ended.
    Defer,
    Sub(Sub),
    /// A sub-flow that runs for items.
    EachSub(u32, Sub),
    /// Two sub-flows in one superstep.
    ForkSub([Sub; 2]),
}

/// A graph to be built.
#[derive(Clone, Debug)]
pub(super) struct Case {
    stages: Vec<Stage>,
    rounds: u32,
}

fn draw_sub(tape: &mut Tape<'_>, may_keep: bool) -> Sub {
    let keep = may_keep && tape.one_in(2);
    Sub {
        fault: [Fault::Fails, Fault::Hangs][tape.below(2)],
        faults: [0, 1, 2][tape.below(3)],
        keep,
        cache: !keep && tape.one_in(3),
    }
}

impl Case {
    pub(super) fn draw(tape: &mut Tape<'_>) -> Self {
        let stages = (0..1 + tape.below(4)).map(|_| match tape.below(10) {
            0 => Stage::Plain,
            1 => Stage::Fork([tape.millis(), tape.millis()]),
            2 => Stage::Each(1 + u32::from(tape.one_in(2))),
            3 => Stage::Catch,
            4 => Stage::Defer,
            5 | 6 => Stage::Sub(draw_sub(tape, true)),
            7 => Stage::EachSub(2, draw_sub(tape, false)),
            _ => Stage::ForkSub([draw_sub(tape, true), draw_sub(tape, true)]),
        });
        Case {
            stages: stages.collect(),
            rounds: [1, 2, 3][tape.below(3)],
        }
    }

    /// How often something goes wrong, by place: two for each stage.
    pub(super) fn faults(&self) -> Vec<u32> {
        let faults = self.stages.iter().flat_map(|stage| match stage {
            Stage::Sub(sub) | Stage::EachSub(_, sub) => [sub.faults, 0],
            Stage::ForkSub(subs) => subs.map(|sub| sub.faults),
            _ => [0, 0],
        });
        faults.collect()
    }

    pub(super) fn build(&self, world: &World) -> Result<Graph<Walk>, GraphErrors> {
        let mut builder =
            Graph::builder("random").node_fn("next", |_: &Walk, _| async { WalkRound(1) });
        builder = builder.edge(START, "next");
        let mut before = "next".to_string();
        for (number, stage) in self.stages.iter().enumerate() {
            let end = format!("end{number}");
            builder = add(builder, (number, stage), (&before, &end), world);
            before = end;
        }
        let rounds = self.rounds;
        builder = builder.node_fn("more", move |walk: &Walk, _| {
            let more = walk.round < rounds;
            async move { more }
        });
        builder = builder.edge(before, "more");
        builder = builder.route("more", "true", "next");
        builder.route("more", "false", END).build()
    }
}

/// A node that appends its name and the round, after this time.
fn notes(builder: GraphBuilder<Walk>, name: String, millis: u64) -> GraphBuilder<Walk> {
    let text = name.clone();
    builder.node_fn(name, move |walk: &Walk, _| {
        let line = format!("{text} in {}", walk.round);
        async move {
            tokio::time::sleep(Duration::from_millis(millis)).await;
            WalkLog(vec![line])
        }
    })
}

/// Adds a stage between the node before it and its last node.
fn add(
    builder: GraphBuilder<Walk>,
    (number, stage): (usize, &Stage),
    (before, end): (&str, &str),
    world: &World,
) -> GraphBuilder<Walk> {
    let name = |part: &str| format!("{part}{number}");
    let builder = notes(builder, end.into(), 0);
    let (a, b) = (name("a"), name("b"));
    match stage {
        Stage::Plain => builder.edge(before, end),
        Stage::Fork([first, second]) => {
            let builder = notes(notes(builder, a.clone(), *first), b.clone(), *second);
            let builder = builder.edge(before, &a).edge(before, &b);
            builder.join([a, b], end)
        }
        Stage::Each(items) => {
            let builder = lists(builder, a.clone(), *items);
            let builder = builder.node_as(&b, item {});
            builder.edge(before, &a).each(a, &b).edge(b, end)
        }
        Stage::Catch => {
            let builder = builder.node_fn(&a, |walk: &Walk, _| {
                let fails = walk.round % 2 == 1;
                async move {
                    match fails {
                        true => petalflow::Result::<WalkLog>::Err("an odd round".into()),
                        false => Ok(WalkLog(vec!["an even round".into()])),
                    }
                }
            });
            let builder = notes(builder, b.clone(), 1).edge(before, &a);
            builder.catch(&a, &b).edge(a, end).edge(b, end)
        }
        Stage::Defer => {
            let builder = notes(notes(builder, a.clone(), 1), b.clone(), 0);
            let c = name("c");
            let builder = notes(builder, c.clone(), 1)
                .edge(before, &a)
                .edge(before, &b);
            builder.edge(&a, &c).edge(c, END).defer(&b).edge(b, end)
        }
        Stage::Sub(sub) => {
            let builder = subflow(builder, &a, *sub, (number * 2, world));
            builder.edge(before, &a).edge(a, end)
        }
        Stage::ForkSub([first, second]) => {
            let builder = subflow(builder, &a, *first, (number * 2, world));
            let builder = subflow(builder, &b, *second, (number * 2 + 1, world));
            let builder = builder.edge(before, &a).edge(before, &b);
            builder.join([a, b], end)
        }
        Stage::EachSub(items, sub) => {
            let flow = inner(*sub, number * 2, world);
            let builder = lists(builder, a.clone(), *items);
            let input = |walk: &Walk, item: &u32| (walk.round * 10 + item).into();
            let builder = builder.subflow_with_item(&b, flow, input, line);
            let builder = builder.with(&b, policy(*sub));
            builder.edge(before, &a).each(a, &b).edge(b, end)
        }
    }
}

/// A node that sends items.
fn lists(builder: GraphBuilder<Walk>, name: String, items: u32) -> GraphBuilder<Walk> {
    builder.node_fn(name, move |_: &Walk, _| async move {
        Each((0..items).collect::<Vec<u32>>())
    })
}

#[node(Walk)]
async fn item(#[item] item: &u32, round: &u32) -> WalkLog {
    tokio::time::sleep(Duration::from_millis(u64::from(*item))).await;
    WalkLog(vec![format!("item {item} in {round}")])
}

const RETRY: &[Retry] = &[Retry::attempts(4).first(Duration::ZERO)];

fn policy(sub: Sub) -> Policy {
    Policy {
        retry: RETRY,
        timeout: Some(Duration::from_secs(1)),
        cache: sub.cache.then_some(Duration::from_secs(60)),
        ..Policy::NONE
    }
}

/// What the sub-flow has done in its call, and the calls that it knows of.
fn line(inner: Inner) -> WalkLog {
    WalkLog(vec![format!("{:?} {:?}", inner.calls, inner.steps)])
}

fn subflow(
    builder: GraphBuilder<Walk>,
    name: &str,
    sub: Sub,
    (place, world): (usize, &World),
) -> GraphBuilder<Walk> {
    let flow = inner(sub, place, world);
    let builder = builder.subflow(name, flow, |walk: &Walk| walk.round.into(), line);
    let builder = builder.with(name, policy(sub));
    match sub.keep {
        true => builder.keep_thread(name),
        false => builder,
    }
}

/// Notes its call, forks, may fail, and ends.
fn inner(sub: Sub, place: usize, world: &World) -> Graph<Inner> {
    let step = |text: &'static str| {
        move |inner: &Inner, _| {
            let text = format!("{text} of {}", inner.round);
            async move { InnerSteps(vec![text]) }
        }
    };
    let world = world.clone();
    let builder = Graph::builder("inner")
        .node_fn("first", move |inner: &Inner, _| {
            let (round, is_faulty) = (inner.round, world.draw(place));
            async move { (InnerCalls(vec![round]), InnerIsFaulty(is_faulty)) }
        })
        .node_fn("left", step("left"))
        .node_fn("right", step("right"))
        .node_fn("risky", move |inner: &Inner, _| {
            let is_faulty = inner.is_faulty;
            async move {
                match is_faulty {
                    true => sub.fault.happen().await,
                    false => Ok(()),
                }
            }
        })
        .node_fn("last", step("last"))
        .edge(START, "first")
        .edge("first", "left")
        .edge("first", "right")
        .join(["left", "right"], "risky")
        .edge("risky", "last");
    builder.build().expect("the graph is valid")
}
