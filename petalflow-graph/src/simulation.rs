//! The analyses against a simulator that was written without them: it runs every execution of small random graphs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use proptest::prelude::*;

use crate::graph::{Edge, Graph, Node, Source, Target, Via};
use crate::rules::check_with;
use crate::steps::batches;
use crate::together::by_pairs;
use crate::{
    Analysis, KeyFacts, KeySet, NodeFacts, Routes, Rule, Tables, explore, stuck, verdicts_of,
};

/// What was seen over all executions.
#[derive(Debug, Default)]
struct Seen {
    pairs: BTreeSet<(u32, u32)>,
    ran: BTreeSet<u32>,
    stuck: BTreeSet<u32>,
    unmet: BTreeSet<(u32, usize)>,
    /// Keys that some end has not.
    missing: BTreeSet<usize>,
    /// What ran more than once in a superstep, other than on a list.
    several: BTreeSet<u32>,
    /// From somewhere no end can be reached.
    endless: bool,
}

/// Where an execution is.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Now {
    /// The nodes, and whether they run several times, other than on a list.
    active: BTreeMap<u32, bool>,
    waiting: BTreeMap<u32, bool>,
    joins: BTreeMap<u32, BTreeSet<Source>>,
    lasting: BTreeSet<usize>,
    fleeting: BTreeSet<usize>,
}

/// One way for a node to run: the edges that fire, each with items or an empty list.
#[derive(Clone, Debug)]
struct Run {
    fires: Vec<(usize, bool)>,
    writes: bool,
}

struct Simulator<'a> {
    graph: &'a Graph,
    all_many: bool,
    all_take: bool,
    keys: &'a [KeyFacts<'a>],
    nodes: &'a [NodeFacts<'a>],
}

impl Simulator<'_> {
    /// All executions, or none if there are too many.
    fn run(&self) -> Option<Seen> {
        let mut seen = Seen::default();
        let mut known: BTreeMap<Now, usize> = BTreeMap::new();
        let mut steps = Vec::new();
        let assigned = (0..self.keys.len()).filter(|&key| self.keys[key].assigned);
        let (fleeting, lasting) = assigned.partition(|&key| self.keys[key].ephemeral);
        let mut queue: Vec<(Option<usize>, Now)> = Vec::new();
        for run in self.runs(Source::Start, false) {
            let now = self.barrier(
                &Now {
                    lasting: BTreeSet::clone(&lasting),
                    ..Now::default()
                },
                &[(Source::Start, run)],
                &fleeting,
            );
            queue.push((None, now));
        }
        let mut ends = Vec::new();
        while let Some((before, now)) = queue.pop() {
            let at = known.get(&now).copied().unwrap_or(known.len());
            steps.extend(before.map(|before| (before, at)));
            if at < known.len() {
                continue;
            }
            known.insert(now.clone(), at);
            if now.active.is_empty() {
                ends.push(at);
            }
            if known.len() > 1000 {
                return None;
            }
            self.look(&now, &mut seen);
            let mut ways: Vec<Vec<(Source, Run)>> = if now.active.is_empty() {
                Vec::new()
            } else {
                vec![Vec::new()]
            };
            for (&node, &several) in &now.active {
                let runs = self.runs(Source::Node(node), several);
                ways = ways
                    .iter()
                    .flat_map(|way| {
                        runs.iter().map(move |run| {
                            [&way[..], &[(Source::Node(node), run.clone())]].concat()
                        })
                    })
                    .collect();
                if ways.len() > 1000 {
                    return None;
                }
            }
            queue.extend(
                ways.iter()
                    .map(|way| (Some(at), self.barrier(&now, way, &BTreeSet::new()))),
            );
        }
        let mut into = vec![Vec::new(); known.len()];
        steps.iter().for_each(|&(from, to)| into[to].push(from));
        let mut ending = BTreeSet::new();
        while let Some(at) = ends.pop() {
            if ending.insert(at) {
                ends.extend(&into[at]);
            }
        }
        seen.endless = ending.len() < known.len();
        Some(seen)
    }

    fn look(&self, now: &Now, seen: &mut Seen) {
        let has = |key: &usize| now.lasting.contains(key) || now.fleeting.contains(key);
        for (&a, &several) in &now.active {
            seen.ran.insert(a);
            if several {
                seen.several.insert(a);
            }
            seen.pairs
                .extend(now.active.keys().filter(|&&b| a < b).map(|&b| (a, b)));
            seen.unmet.extend(
                self.nodes[a as usize]
                    .reads
                    .iter()
                    .filter(|key| !has(key))
                    .map(|key| (a, key)),
            );
        }
        if now.active.is_empty() {
            seen.stuck.extend(
                now.joins
                    .iter()
                    .filter(|(_, sides)| !sides.is_empty())
                    .map(|(&join, _)| join),
            );
            seen.missing
                .extend((0..self.keys.len()).filter(|key| self.keys[*key].output && !has(key)));
        }
    }

    fn edges(&self, from: Source) -> impl Iterator<Item = (usize, &Edge)> {
        self.graph
            .edges
            .iter()
            .enumerate()
            .filter(move |(_, edge)| edge.from == from)
    }

    fn runs(&self, from: Source, several: bool) -> Vec<Run> {
        let names: BTreeSet<&str> = self
            .edges(from)
            .filter_map(|(_, edge)| route_of(edge))
            .collect();
        let names: Vec<&str> = names.into_iter().collect();
        let batch = several || self.is_batch(from);
        let mut runs = Vec::new();
        for mask in 0..1usize << names.len() {
            let many = matches!(from, Source::Node(node) if self.all_many || self.graph.nodes[node as usize].many);
            let allowed = names.is_empty() || many || batch && mask != 0 || mask.is_power_of_two();
            if !allowed {
                continue;
            }
            let fires = |edge: &Edge| match route_of(edge) {
                None => edge.via != Via::Catch,
                Some(name) => names
                    .iter()
                    .position(|&other| other == name)
                    .is_some_and(|i| mask >> i & 1 == 1),
            };
            let mut options: Vec<Vec<(usize, bool)>> = vec![Vec::new()];
            for (at, edge) in self.edges(from).filter(|(_, edge)| fires(edge)) {
                let full = options
                    .iter()
                    .map(|fired| [&fired[..], &[(at, true)]].concat());
                let empty = options
                    .iter()
                    .filter(|_| is_list(edge))
                    .map(|fired| [&fired[..], &[(at, false)]].concat());
                options = full.chain(empty).collect();
            }
            runs.extend(options.into_iter().map(|fires| Run {
                fires,
                writes: true,
            }));
        }
        let caught: Vec<(usize, bool)> = self
            .edges(from)
            .filter(|(_, edge)| edge.via == Via::Catch)
            .map(|(at, _)| (at, true))
            .collect();
        if !caught.is_empty() {
            if batch {
                // Some items fail and others do not.
                let mixed: Vec<Run> = runs
                    .iter()
                    .map(|run: &Run| Run {
                        fires: [&run.fires[..], &caught].concat(),
                        writes: true,
                    })
                    .collect();
                runs.extend(mixed);
            }
            runs.push(Run {
                fires: caught,
                writes: false,
            });
        }
        runs
    }

    fn is_batch(&self, from: Source) -> bool {
        let mut edges = self.graph.edges.iter();
        matches!(from, Source::Node(node) if edges.any(|edge| edge.to == Target::Node(node) && is_list(edge)))
    }

    fn barrier(&self, now: &Now, runs: &[(Source, Run)], fleeting: &BTreeSet<usize>) -> Now {
        let mut next = Now {
            active: BTreeMap::new(),
            fleeting: fleeting.clone(),
            ..now.clone()
        };
        for (source, run) in runs {
            let Source::Node(node) = source else { continue };
            let node = &self.nodes[*node as usize];
            // What was missed once is not missed again.
            next.lasting
                .extend(node.reads.iter().filter(|&key| !self.keys[key].ephemeral));
            for key in node.must_write.iter().filter(|_| run.writes) {
                if self.keys[key].ephemeral {
                    next.fleeting.insert(key)
                } else {
                    next.lasting.insert(key)
                };
            }
        }
        let fired: Vec<(usize, bool)> = runs
            .iter()
            .flat_map(|(_, run)| run.fires.iter().copied())
            .collect();
        let edge = |at: usize| &self.graph.edges[at];
        // Batches: all items of all senders count, so one is empty only if nobody sent anything.
        let busy: BTreeSet<Target> = fired
            .iter()
            .filter(|(_, full)| *full)
            .map(|(at, _)| edge(*at).to)
            .collect();
        let mut activated = BTreeSet::new();
        let mut skipped = BTreeSet::new();
        let mut completed = BTreeSet::new();
        let mut todo = fired.clone();
        while let Some((at, full)) = todo.pop() {
            match edge(at).to {
                Target::End => {}
                Target::Node(node) if full => drop(activated.insert(node)),
                Target::Node(node) => {
                    let has_items =
                        busy.contains(&Target::Node(node)) || now.waiting.contains_key(&node);
                    let routes = self
                        .edges(Source::Node(node))
                        .any(|(_, edge)| route_of(edge).is_some());
                    if !has_items && !routes && skipped.insert(node) {
                        todo.extend(
                            self.edges(Source::Node(node))
                                .filter(|(_, edge)| edge.via != Via::Catch)
                                .map(|(at, edge)| (at, !is_list(edge))),
                        );
                    }
                }
                Target::Join(join) => {
                    let sides = next.joins.entry(join).or_default();
                    sides.insert(edge(at).from);
                    let all: BTreeSet<Source> = self
                        .graph
                        .edges
                        .iter()
                        .filter(|edge| edge.to == Target::Join(join))
                        .map(|edge| edge.from)
                        .collect();
                    if *sides == all && completed.insert(join) {
                        todo.extend(self.edges(Source::Join(join)).map(|(at, _)| (at, true)));
                    }
                }
            }
        }
        next.joins.retain(|join, _| !completed.contains(join));
        // How often something was delivered to each node that takes it; what ran several times can deliver twice.
        let mut delivered: BTreeMap<u32, usize> = BTreeMap::new();
        for (source, run) in runs {
            let twice =
                self.is_batch(*source) || matches!(source, Source::Node(node) if now.active[node]);
            for (i, (at, _)) in run.fires.iter().enumerate() {
                // An edge that is written twice is a mistake of its own.
                if run.fires[..i]
                    .iter()
                    .any(|(other, _)| edge(*other) == edge(*at))
                {
                    continue;
                }
                if let (Via::Route(_) | Via::Catch, Target::Node(to)) =
                    (&edge(*at).via, edge(*at).to)
                    && (self.all_take || self.nodes[to as usize].takes_item)
                {
                    *delivered.entry(to).or_default() += 1 + usize::from(twice);
                }
            }
        }
        for node in activated {
            let times = delivered.get(&node).copied().unwrap_or(0);
            if self.graph.nodes[node as usize].deferred {
                let several = times > 1
                    || now
                        .waiting
                        .get(&node)
                        .is_some_and(|&several| several || times > 0);
                next.waiting.insert(node, several)
            } else {
                next.active.insert(node, times > 1)
            };
        }
        if next.active.is_empty() {
            next.active = std::mem::take(&mut next.waiting);
        }
        next
    }
}

fn route_of(edge: &Edge) -> Option<&str> {
    match &edge.via {
        Via::Route(name) | Via::RouteEach(name) => Some(name),
        _ => None,
    }
}

fn is_list(edge: &Edge) -> bool {
    matches!(edge.via, Via::Each | Via::RouteEach(_)) && matches!(edge.to, Target::Node(_))
}

/// Choices read from a tape, so that a failing graph shrinks.
struct Tape<'a>(std::slice::Iter<'a, u8>);

impl Tape<'_> {
    fn below(&mut self, limit: u32) -> u32 {
        u32::from(*self.0.next().unwrap_or(&0)) % limit
    }

    fn one_in(&mut self, odds: u32) -> bool {
        self.below(odds) == odds - 1
    }

    fn keys(&mut self) -> KeySet {
        (0..KEYS)
            .filter(|_| self.one_in(3))
            .fold(KeySet::NONE, KeySet::with)
    }
}

const KEYS: usize = 3;
const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

fn random_graph(tape: &mut Tape<'_>) -> Graph {
    let count = 2 + tape.below(5);
    let mut edges = vec![Edge {
        from: Source::Start,
        via: Via::Plain,
        to: Target::Node(0),
    }];
    let mut nodes = Vec::new();
    for place in 0..count {
        let mut node = Node::named(NAMES[place as usize]);
        node.deferred = tape.one_in(8);
        let from = Source::Node(place);
        let target = |tape: &mut Tape<'_>| {
            if tape.one_in(6) {
                Target::End
            } else {
                Target::Node((place + 1 + tape.below(count)) % count)
            }
        };
        match tape.below(4) {
            0 | 1 => {
                for _ in 0..=tape.below(2) {
                    let via = if tape.one_in(4) {
                        Via::Each
                    } else {
                        Via::Plain
                    };
                    edges.push(Edge {
                        from,
                        via,
                        to: target(tape),
                    });
                }
            }
            2 => {
                node.many = tape.one_in(4);
                for name in ["X", "Y", "Z"].iter().take(2 + tape.below(2) as usize) {
                    for _ in 0..=u32::from(tape.one_in(5)) {
                        let via = if tape.one_in(5) {
                            Via::RouteEach((*name).into())
                        } else {
                            Via::Route((*name).into())
                        };
                        edges.push(Edge {
                            from,
                            via,
                            to: target(tape),
                        });
                    }
                }
            }
            _ => {}
        }
        if tape.one_in(6) {
            edges.push(Edge {
                from,
                via: Via::Catch,
                to: target(tape),
            });
        }
        if tape.one_in(4) {
            edges.push(Edge {
                from: Source::Start,
                via: Via::Plain,
                to: Target::Node(place),
            });
        }
        nodes.push(node);
    }
    let joins = tape.below(3);
    for join in 0..joins {
        let side = tape.below(count);
        let other = (side + 1 + tape.below(count - 1)) % count;
        edges.push(Edge {
            from: Source::Node(side),
            via: Via::Plain,
            to: Target::Join(join),
        });
        edges.push(Edge {
            from: Source::Node(other),
            via: Via::Plain,
            to: Target::Join(join),
        });
        let to = if tape.one_in(6) {
            Target::End
        } else {
            Target::Node(tape.below(count))
        };
        edges.push(Edge {
            from: Source::Join(join),
            via: Via::Plain,
            to,
        });
    }
    Graph {
        nodes: nodes.into(),
        edges: edges.into(),
        joins,
    }
}

fn random_facts(
    tape: &mut Tape<'_>,
    graph: &Graph,
) -> (Vec<KeyFacts<'static>>, Vec<NodeFacts<'static>>) {
    let mut key = |name| KeyFacts {
        assigned: tape.one_in(4),
        ephemeral: tape.one_in(4),
        output: tape.one_in(2),
        ..KeyFacts::new(name)
    };
    let keys = vec![key("x"), key("y"), key("z")];
    let nodes = (0..graph.nodes.len()).map(|place| {
        let must_write = tape.keys();
        let has_route = graph
            .edges
            .iter()
            .any(|edge| edge.from == Source::Node(crate::index(place)) && route_of(edge).is_some());
        NodeFacts {
            reads: tape.keys(),
            must_write,
            may_write: must_write,
            has_route,
            many: graph.nodes[place].many,
            ..NodeFacts::new(NAMES[place])
        }
    });
    let nodes = nodes.collect();
    (keys, nodes)
}

/// What runs several times where the states are not explored.
fn several_of(graph: &Graph, routes: Routes) -> Vec<bool> {
    let mut several = batches(graph);
    if routes == Routes::AsDeclared {
        return several;
    }
    loop {
        let (pairs, _) = by_pairs(graph, routes, &several);
        let more = explore::delivered_several(graph, &pairs, &several, routes);
        if more.is_empty() {
            return several;
        }
        more.iter().for_each(|&node| several[node as usize] = true);
    }
}

fn different(pairs: &crate::Pairs) -> BTreeSet<(u32, u32)> {
    pairs.iter().filter(|(a, b)| a != b).collect()
}

struct Flow {
    graph: Graph,
    keys: Vec<KeyFacts<'static>>,
    nodes: Vec<NodeFacts<'static>>,
    takes: Vec<bool>,
}

impl fmt::Debug for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::mermaid(&self.graph))?;
        for (node, facts) in self.graph.nodes.iter().zip(&self.nodes) {
            let keys = |set: KeySet| set.iter().collect::<Vec<_>>();
            let (reads, writes) = (keys(facts.reads), keys(facts.must_write));
            writeln!(
                f,
                "{} reads {reads:?} writes {writes:?}{}{}",
                node.name,
                if node.deferred { " deferred" } else { "" },
                if node.many { " many" } else { "" }
            )?;
        }
        self.keys.iter().try_for_each(|key| writeln!(f, "{key:?}"))
    }
}

fn flow() -> impl Strategy<Value = Flow> {
    proptest::collection::vec(any::<u8>(), 100).prop_map(|tape| {
        let mut tape = Tape(tape.iter());
        let graph = random_graph(&mut tape);
        let (keys, nodes) = random_facts(&mut tape, &graph);
        let takes = nodes.iter().map(|_| tape.one_in(2)).collect();
        Flow {
            graph,
            keys,
            nodes,
            takes,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_explored_is_what_can_happen(Flow { graph, keys, nodes, .. } in flow()) {
        for routes in [Routes::AsDeclared, Routes::PerDelivery, Routes::Any] {
            let simulator = Simulator { graph: &graph, all_many: routes == Routes::Any, all_take: routes != Routes::AsDeclared, keys: &keys, nodes: &nodes };
            let Some(seen) = simulator.run() else { return Ok(()) };
            let exploration = explore(&graph, routes);
            prop_assert!(exploration.exact);
            let stuck: BTreeSet<u32> = exploration.stuck.iter().map(|stuck| stuck.join).collect();
            let several = explore::delivered_several(&graph, &exploration.pairs, &batches(&graph), routes);
            if routes == Routes::AsDeclared || several.is_empty() {
                prop_assert_eq!(different(&exploration.pairs), seen.pairs.clone());
                prop_assert_eq!(stuck, seen.stuck.clone());
            } else {
                // What can run several times is taken to do so always.
                prop_assert!(seen.pairs.is_subset(&different(&exploration.pairs)), "{:?}", seen.pairs);
                prop_assert!(seen.stuck.is_subset(&stuck), "{:?} {:?}", seen.stuck, stuck);
            }
            prop_assert!(seen.several.iter().all(|&node| exploration.pairs.contains(node, node)));
            for edge in graph.edges.iter().filter(|edge| is_list(edge)) {
                let Target::Node(to) = edge.to else { unreachable!("a list goes to a node") };
                prop_assert!(!seen.ran.contains(&to) || exploration.pairs.contains(to, to));
            }
            // Without visiting the states, more can be said to happen, but not less.
            let (pairs, ran) = by_pairs(&graph, routes, &several_of(&graph, routes));
            prop_assert!(seen.ran.iter().all(|&node| ran[node as usize]));
            prop_assert!(seen.pairs.is_subset(&different(&pairs)), "{:?} {:?}", seen.pairs, different(&pairs));
            let simple = graph.joins == 0 && !graph.nodes.iter().any(|node| node.deferred) && !graph.edges.iter().any(is_list);
            if simple && (routes == Routes::AsDeclared || several.is_empty()) {
                prop_assert_eq!(different(&pairs), seen.pairs.clone());
            }
            let suspected: BTreeSet<u32> = stuck::suspected(&graph).iter().map(|stuck| stuck.join).collect();
            prop_assert!(seen.stuck.is_subset(&suspected), "{:?} {:?}", seen.stuck, suspected);
        }
    }

    #[test]
    fn reads_and_outputs_are_judged_as_they_happen(Flow { graph, keys, nodes, .. } in flow()) {
        let Some(seen) = (Simulator { graph: &graph, all_many: false, all_take: false, keys: &keys, nodes: &nodes }).run() else { return Ok(()) };
        let analysis = Analysis::declared(&graph);
        let unmet: BTreeSet<u32> = seen.unmet.iter().map(|(node, _)| *node).collect();
        if analysis.declared.frontiers.is_some() {
            let verdicts = verdicts_of(&analysis.tables(), &keys, &nodes);
            let refused: BTreeSet<(u32, usize)> = (0..).zip(&verdicts).filter_map(|(node, verdict)| Some((node, verdict.unmet?.key as usize))).collect();
            prop_assert!(refused.is_subset(&seen.unmet), "{:?} {:?}", refused, seen.unmet);
            prop_assert_eq!(refused.iter().map(|(node, _)| *node).collect::<BTreeSet<_>>(), unmet.clone());
            let outputs: BTreeSet<usize> = verdicts.iter().filter_map(|verdict| Some(verdict.output? as usize)).collect();
            prop_assert!(outputs.is_subset(&seen.missing) && outputs.is_empty() == seen.missing.is_empty(), "{:?} {:?}", outputs, seen.missing);
        }
        // By the edges alone good graphs may be refused, but no bad ones accepted.
        let accepted = analysis.declared.stuck.is_empty() && check_with(&graph, &analysis.declared).iter().all(|problem| matches!(problem.rule, Rule::UnusedNode | Rule::UnreachableNode | Rule::DuplicateEdge));
        let verdicts = verdicts_of(&Tables { frontiers: None, ..analysis.tables() }, &keys, &nodes);
        if accepted {
            prop_assert!(unmet.iter().all(|&node| verdicts[node as usize].unmet.is_some()), "{:?} {:?}", unmet, verdicts);
            let outputs = verdicts.iter().any(|verdict| verdict.output.is_some());
            prop_assert!(outputs || seen.missing.is_empty(), "{:?} {:?}", verdicts, seen.missing);
        }
    }

    #[test]
    fn a_node_that_turns_out_to_pick_several_routes_or_to_take_items_is_judged_soundly(Flow { graph, keys, mut nodes, takes } in flow(), taking in any::<bool>()) {
        nodes.iter_mut().zip(takes).for_each(|(node, takes)| node.takes_item = takes && taking);
        let Some(seen) = (Simulator { graph: &graph, all_many: false, all_take: false, keys: &keys, nodes: &nodes }).run() else { return Ok(()) };
        // A macro does not see in a type what it says.
        let mut written = graph.clone();
        written.nodes.to_mut().iter_mut().for_each(|node| node.many = false);
        for analysis in [Analysis::of(&written), Analysis::declared(&graph)] {
            let verdicts = verdicts_of(&analysis.tables(), &keys, &nodes);
            let any = analysis.any.as_ref().filter(|_| nodes.iter().any(|node| node.many));
            let delivered = analysis.delivered.as_ref().filter(|(places, _)| places.iter().any(|&place| nodes[place as usize].takes_item));
            let any = any.or(delivered.map(|(_, any)| any));
            let table = any.map_or(&analysis.together, |any| &any.together).view();
            prop_assert!(seen.pairs.iter().all(|&(a, b)| table.contains(a, b)));
            prop_assert!(seen.several.iter().all(|&node| table.contains(node, node)));
            let told = !analysis.declared.stuck.is_empty() || verdicts.iter().any(|verdict| verdict.stuck);
            prop_assert!(told || seen.stuck.is_empty(), "{:?}", seen.stuck);
            if !told {
                prop_assert!(seen.unmet.iter().all(|&(node, _)| verdicts[node as usize].unmet.is_some()), "{:?} {:?}", seen.unmet, verdicts);
            }
            let problems = check_with(&graph, &analysis.declared);
            let fine = |rule| matches!(rule, Rule::UnusedNode | Rule::UnreachableNode | Rule::DuplicateEdge);
            if !told && any.is_some() && problems.iter().all(|problem| fine(problem.rule)) {
                let outputs = verdicts.iter().any(|verdict| verdict.output.is_some());
                prop_assert!(outputs || seen.missing.is_empty(), "{:?} {:?}", verdicts, seen.missing);
            }
            // What has no joins is refused exactly if there is a way into something that never ends.
            let refused = problems.iter().any(|problem| problem.rule == Rule::EndlessCycle)
                || verdicts.iter().any(|verdict| verdict.endless);
            if graph.joins == 0 {
                prop_assert_eq!(refused, seen.endless);
            }
            // With joins too nothing is refused for its states that can always end, and nothing is missed where no node chooses
            // or fails.
            prop_assert!(analysis.declared.endless.is_empty() || seen.endless, "{:?}", analysis.declared.endless);
            let sure = graph.edges.iter().all(|edge| matches!(edge.via, Via::Plain | Via::Each));
            prop_assert!(refused || !seen.endless || !sure);
        }
    }
}
