//! Random graphs of such nodes.

use std::sync::Arc;

use petalflow::graph::GraphBuilder;
use petalflow::prelude::*;
use proptest::prelude::*;

use super::walker::{Lists, Pick, Sends, Two, VARIETIES, Walk, Walker, World};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    Each,
    Two,
    Many,
    Lists,
    Sends,
}

#[derive(Clone, Debug)]
pub(super) struct Spec {
    pub(super) kind: Kind,
    pub(super) item: u8,
    pub(super) variety: usize,
    pub(super) deferred: bool,
    pub(super) catch: Option<u32>,
    /// The targets by route; for a node that does not choose the plain ones, then those of `each`.
    pub(super) to: [Vec<u32>; 2],
    pub(super) leads_to_end: bool,
}

/// A graph to be built.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) nodes: Vec<Spec>,
    pub(super) starts: Vec<u32>,
    pub(super) joins: Vec<(Vec<u32>, Option<u32>)>,
    pub(super) seed: u64,
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

    pub(super) fn of(&mut self, from: &[u32]) -> Option<u32> {
        if from.is_empty() {
            None
        } else {
            Some(from[self.below(from.len())])
        }
    }
}

pub(super) fn place(number: usize) -> u32 {
    u32::try_from(number).unwrap()
}

#[allow(
    clippy::too_many_lines,
    reason = "it draws one part of the case after another"
)]
pub(super) fn case(tape: &mut Tape<'_>, seed: u64) -> Case {
    let count = 2 + tape.below(5);
    let mut nodes: Vec<Spec> = (0..count)
        .map(|number| Spec {
            kind: [
                Kind::Plain,
                Kind::Plain,
                Kind::Plain,
                Kind::Each,
                Kind::Two,
                Kind::Two,
                Kind::Many,
                Kind::Lists,
                Kind::Sends,
                Kind::Sends,
            ][tape.below(10)],
            item: u8::from(number > 0 && tape.one_in(3)),
            variety: if tape.one_in(2) {
                tape.below(VARIETIES.len())
            } else {
                0
            },
            deferred: tape.one_in(10),
            catch: None,
            to: [Vec::new(), Vec::new()],
            leads_to_end: false,
        })
        .collect();
    let plain: Vec<u32> = (0..count)
        .filter(|&number| nodes[number].item == 0)
        .map(place)
        .collect();
    let takes: Vec<u32> = (0..count)
        .filter(|&number| nodes[number].item == 1)
        .map(place)
        .collect();
    for (number, spec) in nodes.iter_mut().enumerate() {
        let own = place(number);
        // Mostly onward; only a node that chooses may lead back.
        let ahead = |of: &[u32]| {
            of.iter()
                .copied()
                .filter(|&to| to > own)
                .collect::<Vec<u32>>()
        };
        let (plain_ahead, takes_ahead) = (ahead(&plain), ahead(&takes));
        match spec.kind {
            Kind::Plain | Kind::Each => {
                for _ in 0..tape.below(3) {
                    let to = tape.of(&plain_ahead);
                    spec.to[0].extend(to);
                    spec.leads_to_end |= to.is_none();
                }
                if spec.kind == Kind::Each {
                    spec.to[1].extend(tape.of(&takes_ahead));
                }
            }
            Kind::Two | Kind::Many => {
                for route in 0..2 {
                    for _ in 0..tape.below(3) {
                        let from = if tape.one_in(3) { &plain } else { &plain_ahead };
                        spec.to[route].extend(tape.of(from));
                    }
                }
            }
            Kind::Lists | Kind::Sends => {
                (0..2).for_each(|route| spec.to[route].extend(tape.of(&takes_ahead)));
            }
        }
        spec.to.iter_mut().for_each(|to| {
            to.sort_unstable();
            to.dedup();
        });
    }
    for number in 0..count {
        if tape.one_in(5) {
            nodes[number].catch = Some(place(nodes.len()));
            let ahead: Vec<u32> = plain
                .iter()
                .copied()
                .filter(|&to| to > place(number))
                .collect();
            let to = [tape.of(&ahead).into_iter().collect(), Vec::new()];
            nodes.push(Spec {
                kind: Kind::Plain,
                item: 2,
                variety: 0,
                deferred: false,
                catch: None,
                to,
                leads_to_end: false,
            });
        }
    }
    let mut starts = vec![0];
    for &number in &plain {
        if number > 0
            && (tape.one_in(4)
                || !nodes
                    .iter()
                    .any(|node| node.to.iter().flatten().any(|to| *to == number)))
        {
            starts.push(number);
        }
    }
    let sides: Vec<u32> = (0..count)
        .filter(|&number| matches!(nodes[number].kind, Kind::Plain | Kind::Each))
        .map(place)
        .collect();
    let joins = (0..tape.below(3)).filter_map(|_| {
        let (a, b) = (tape.of(&sides)?, tape.of(&sides)?);
        let ahead: Vec<u32> = plain.iter().copied().filter(|&to| to > a.max(b)).collect();
        (a != b).then(|| (vec![a.min(b), a.max(b)], tape.of(&ahead)))
    });
    let joins = joins.collect();
    Case {
        nodes,
        starts,
        joins,
        seed,
    }
}

impl Case {
    pub(super) fn world(&self, delays: u64) -> World {
        World {
            choices: self.seed,
            delays,
            ran: Arc::default(),
        }
    }

    pub(super) fn build(&self, world: &World) -> Option<Graph<Walk>> {
        let name = |number: u32| format!("n{number}");
        let mut builder = Graph::builder("random");
        for (number, spec) in self.nodes.iter().enumerate() {
            builder = add(builder, place(number), spec, world);
        }
        for &start in &self.starts {
            builder = builder.edge(START, name(start));
        }
        for (number, spec) in self.nodes.iter().enumerate() {
            let from = name(place(number));
            for (way, targets) in spec.to.iter().enumerate() {
                let route = ["P", "Q"][way];
                if targets.is_empty() {
                    builder = match spec.kind {
                        Kind::Two | Kind::Many | Kind::Lists | Kind::Sends => {
                            builder.route(&from, route, END)
                        }
                        Kind::Plain | Kind::Each => builder,
                    };
                }
                for &to in targets {
                    builder = match (spec.kind, way) {
                        (Kind::Plain, _) | (Kind::Each, 0) => builder.edge(&from, name(to)),
                        (Kind::Each, _) => builder.each(&from, name(to)),
                        (Kind::Two | Kind::Many | Kind::Sends, _) => {
                            builder.route(&from, route, name(to))
                        }
                        (Kind::Lists, _) => builder.route_each(&from, route, name(to)),
                    };
                }
            }
            if spec.leads_to_end {
                builder = builder.edge(&from, END);
            }
            if let Some(to) = spec.catch {
                builder = builder.catch(&from, name(to));
            }
            if spec.deferred {
                builder = builder.defer(&from);
            }
        }
        for (sides, to) in &self.joins {
            builder = builder.join(
                sides.iter().map(|side| name(*side)),
                to.map_or_else(|| END.to_string(), name),
            );
        }
        builder.build().ok()
    }
}

pub(super) fn add(
    builder: GraphBuilder<Walk>,
    place: u32,
    spec: &Spec,
    world: &World,
) -> GraphBuilder<Walk> {
    match spec.variety {
        0 => add_variety::<0>(builder, place, spec, world),
        1 => add_variety::<1>(builder, place, spec, world),
        2 => add_variety::<2>(builder, place, spec, world),
        3 => add_variety::<3>(builder, place, spec, world),
        4 => add_variety::<4>(builder, place, spec, world),
        5 => add_variety::<5>(builder, place, spec, world),
        6 => add_variety::<6>(builder, place, spec, world),
        _ => add_variety::<7>(builder, place, spec, world),
    }
}

pub(super) fn add_variety<const VARIETY: usize>(
    builder: GraphBuilder<Walk>,
    place: u32,
    spec: &Spec,
    world: &World,
) -> GraphBuilder<Walk> {
    match spec.kind {
        Kind::Plain => add_kind::<VARIETY, ()>(builder, place, spec, world),
        Kind::Each => add_kind::<VARIETY, Each<u32>>(builder, place, spec, world),
        Kind::Two => add_kind::<VARIETY, Two>(builder, place, spec, world),
        Kind::Many => add_kind::<VARIETY, Vec<Two>>(builder, place, spec, world),
        Kind::Lists => add_kind::<VARIETY, Lists>(builder, place, spec, world),
        Kind::Sends => add_kind::<VARIETY, Sends>(builder, place, spec, world),
    }
}

pub(super) fn add_kind<const VARIETY: usize, T: Pick + 'static>(
    builder: GraphBuilder<Walk>,
    place: u32,
    spec: &Spec,
    world: &World,
) -> GraphBuilder<Walk> {
    fn walker<const VARIETY: usize, const ITEM: u8, T>(
        place: u32,
        spec: &Spec,
        world: &World,
    ) -> Walker<VARIETY, ITEM, T> {
        Walker {
            place,
            may_fail: spec.catch.is_some(),
            world: world.clone(),
            then: std::marker::PhantomData,
        }
    }
    let name = format!("n{place}");
    match spec.item {
        0 => builder.node_as(name, walker::<VARIETY, 0, T>(place, spec, world)),
        1 => builder.node_as(name, walker::<VARIETY, 1, T>(place, spec, world)),
        _ => builder.node_as(name, walker::<VARIETY, 2, T>(place, spec, world)),
    }
}

pub(super) fn cases() -> impl Strategy<Value = Case> {
    (proptest::collection::vec(any::<u8>(), 120), any::<u64>())
        .prop_map(|(tape, seed)| case(&mut Tape(tape.iter()), seed))
}
