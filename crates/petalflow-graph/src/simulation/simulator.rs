//! All executions of a graph, one superstep after another, written without the analyses.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::{Edge, Graph, Source, Target, Via};
use crate::idx::{JoinIdx, NodeIdx};
use crate::{KeyFacts, NodeFacts};

/// The observations over all executions.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) pairs: BTreeSet<(NodeIdx, NodeIdx)>,
    pub(super) ran: BTreeSet<NodeIdx>,
    pub(super) stuck: BTreeSet<JoinIdx>,
    pub(super) unmet: BTreeSet<(NodeIdx, usize)>,
    /// Keys without a value at some end.
    pub(super) missing: BTreeSet<usize>,
    /// Nodes that ran more than once in a superstep, other than on a list.
    pub(super) several: BTreeSet<NodeIdx>,
    /// Whether some state cannot reach an end.
    pub(super) endless: bool,
}

/// The state of an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Now {
    /// The nodes, and whether they run several times, other than on a list.
    pub(super) active: BTreeMap<NodeIdx, bool>,
    pub(super) waiting: BTreeMap<NodeIdx, bool>,
    pub(super) joins: BTreeMap<JoinIdx, BTreeSet<Source>>,
    pub(super) lasting: BTreeSet<usize>,
    pub(super) fleeting: BTreeSet<usize>,
}

/// One outcome of a node: the edges that fire, each with items or an empty list.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) fires: Vec<(usize, bool)>,
    pub(super) writes: bool,
}

pub(super) struct Simulator<'a> {
    pub(super) graph: &'a Graph,
    pub(super) all_many: bool,
    pub(super) all_take: bool,
    pub(super) keys: &'a [KeyFacts<'a>],
    pub(super) nodes: &'a [NodeFacts<'a>],
}

impl Simulator<'_> {
    /// All executions, or none if there are too many.
    pub(super) fn run(&self) -> Option<Seen> {
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

    pub(super) fn look(&self, now: &Now, seen: &mut Seen) {
        let has = |key: &usize| now.lasting.contains(key) || now.fleeting.contains(key);
        for (&a, &several) in &now.active {
            seen.ran.insert(a);
            if several {
                seen.several.insert(a);
            }
            seen.pairs
                .extend(now.active.keys().filter(|&&b| a < b).map(|&b| (a, b)));
            seen.unmet.extend(
                self.nodes[a.index()]
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

    pub(super) fn edges(&self, from: Source) -> impl Iterator<Item = (usize, &Edge)> {
        self.graph
            .edges
            .iter()
            .enumerate()
            .filter(move |(_, edge)| edge.from == from)
    }

    pub(super) fn runs(&self, from: Source, several: bool) -> Vec<Run> {
        let names: BTreeSet<&str> = self
            .edges(from)
            .filter_map(|(_, edge)| edge.via.route())
            .collect();
        let names: Vec<&str> = names.into_iter().collect();
        let batch = several || self.is_batch(from);
        let mut runs = Vec::new();
        for mask in 0..1usize << names.len() {
            let many = matches!(from, Source::Node(node) if self.all_many || self.graph.nodes[node.index()].many);
            let allowed = names.is_empty() || many || batch && mask != 0 || mask.is_power_of_two();
            if !allowed {
                continue;
            }
            let fires = |edge: &Edge| match edge.via.route() {
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
                    .filter(|_| edge.sends_list())
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

    pub(super) fn is_batch(&self, from: Source) -> bool {
        let mut edges = self.graph.edges.iter();
        matches!(from, Source::Node(node) if edges.any(|edge| edge.to == Target::Node(node) && edge.sends_list()))
    }

    pub(super) fn barrier(
        &self,
        now: &Now,
        runs: &[(Source, Run)],
        fleeting: &BTreeSet<usize>,
    ) -> Now {
        let mut next = Now {
            active: BTreeMap::new(),
            fleeting: fleeting.clone(),
            ..now.clone()
        };
        self.write(&mut next, runs);
        let activated = self.fire(now, &mut next, runs);
        let delivered = self.deliveries(now, runs);
        for node in activated {
            let times = delivered.get(&node).copied().unwrap_or(0);
            if self.graph.nodes[node.index()].deferred {
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

    /// The keys that have a value after these runs.
    fn write(&self, next: &mut Now, runs: &[(Source, Run)]) {
        for (source, run) in runs {
            let Source::Node(node) = source else { continue };
            let node = &self.nodes[node.index()];
            // A missing key is reported once.
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
    }

    /// The nodes that the edges of these tasks activate, through empty lists and joins. Arrivals at joins are stored.
    fn fire(&self, now: &Now, next: &mut Now, runs: &[(Source, Run)]) -> BTreeSet<NodeIdx> {
        let edge = |at: usize| &self.graph.edges[at];
        let mut todo: Vec<(usize, bool)> = runs
            .iter()
            .flat_map(|(_, run)| run.fires.iter().copied())
            .collect();
        // A list is empty only if all senders send no items.
        let busy: BTreeSet<Target> = todo
            .iter()
            .filter(|(_, full)| *full)
            .map(|(at, _)| edge(*at).to)
            .collect();
        let mut activated = BTreeSet::new();
        let mut skipped = BTreeSet::new();
        let mut completed = BTreeSet::new();
        loop {
            let Some((at, full)) = todo.pop() else {
                let Some(join) = self.skipped(now, next, &activated, &completed) else {
                    break;
                };
                completed.insert(join);
                todo.extend(self.edges(Source::Join(join)).map(|(at, _)| (at, true)));
                continue;
            };
            match edge(at).to {
                Target::End => {}
                Target::Node(node) if full => drop(activated.insert(node)),
                Target::Node(node) => {
                    let has_items =
                        busy.contains(&Target::Node(node)) || now.waiting.contains_key(&node);
                    let routes = self
                        .edges(Source::Node(node))
                        .any(|(_, edge)| edge.via.route().is_some());
                    if !has_items && !routes && skipped.insert(node) {
                        todo.extend(
                            self.edges(Source::Node(node))
                                .filter(|(_, edge)| edge.via != Via::Catch)
                                .map(|(at, edge)| (at, !edge.sends_list())),
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
        activated
    }

    /// A join of a merge whose missing sides are out of reach. If there are several, one that waits for no other of them.
    fn skipped(
        &self,
        now: &Now,
        next: &Now,
        activated: &BTreeSet<NodeIdx>,
        completed: &BTreeSet<JoinIdx>,
    ) -> Option<JoinIdx> {
        let merge = |join: JoinIdx| {
            let mut out = self.edges(Source::Join(join)).map(|(_, edge)| edge.to);
            out.find_map(|to| to.node().filter(|node| self.graph.node(*node).merge))
        };
        let missing = |join: JoinIdx| -> Vec<Source> {
            let edges = self.graph.edges.iter();
            let sides = edges.filter(|edge| edge.to == Target::Join(join));
            let sides = sides.map(|edge| edge.from);
            sides
                .filter(|side| !next.joins[&join].contains(side))
                .collect()
        };
        let waits = |join: JoinIdx, node: NodeIdx| {
            let mut reached = BTreeSet::from([Source::Node(node)]);
            let mut queue = vec![Source::Node(node)];
            while let Some(source) = queue.pop() {
                for (_, edge) in self.edges(source) {
                    let to = match edge.to {
                        Target::Node(node) => Source::Node(node),
                        Target::Join(other) if other != join => Source::Join(other),
                        _ => continue,
                    };
                    if reached.insert(to) {
                        queue.push(to);
                    }
                }
            }
            missing(join).iter().any(|side| reached.contains(side))
        };
        let active = || activated.iter().chain(now.waiting.keys());
        let ready: Vec<JoinIdx> = next
            .joins
            .iter()
            .filter(|(join, sides)| !sides.is_empty() && !completed.contains(*join))
            .map(|(join, _)| *join)
            .filter(|join| merge(*join).is_some() && !active().any(|node| waits(*join, *node)))
            .collect();
        let waits_for = |a: JoinIdx, b: JoinIdx| merge(b).is_some_and(|merge| waits(a, merge));
        let first = |a: &&JoinIdx| {
            ready
                .iter()
                .all(|b| b == *a || !waits_for(**a, *b) || waits_for(*b, **a))
        };
        ready.iter().find(first).or(ready.first()).copied()
    }

    /// The number of deliveries to each node that takes items. A node that ran several times can deliver twice.
    fn deliveries(&self, now: &Now, runs: &[(Source, Run)]) -> BTreeMap<NodeIdx, usize> {
        let edge = |at: usize| &self.graph.edges[at];
        let mut delivered: BTreeMap<NodeIdx, usize> = BTreeMap::new();
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
                    && (self.all_take || self.nodes[to.index()].takes_item)
                {
                    *delivered.entry(to).or_default() += 1 + usize::from(twice);
                }
            }
        }
        delivered
    }
}
