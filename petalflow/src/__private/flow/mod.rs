//! For the code of `flow!`: its tables become an execution plan, and mistakes become errors at the tokens of the user.

mod builder;
mod check;
mod dispatch;
mod interrupt_points;
mod items;
mod sub;
mod values;

use std::sync::{Arc, OnceLock};

use petalflow_graph::{
    Edge, Graph, JoinIdx, MAX_KEYS, Rule, Source, Target, Via, When, messages, same,
};

use crate::policy::Policy;
use crate::state::KeyMeta;

pub use petalflow_graph::{
    AnyRef, EndlessRow, FrontiersRef, KeyFacts, NodeFacts, NodeIdx, PairsRef, PathEdge, PathsRef,
    Tables, Transition, Verdict, dot, kind, mermaid, topology, verdicts,
};

pub use super::{Checked as Proven, KeyOf};
pub use crate::delivery::{ItemProbe, NoItemCodec};
pub use crate::error::BoxError;
pub use crate::flow::{Flow, HasFlow, Step};
pub use crate::interrupt::Guard;
pub use crate::launch::Launch;
pub use crate::middleware::RunMiddleware;
pub use crate::node::{AcceptsItem, Effects, Key, Node, Output, Requirements, Scope};
pub use crate::plan::{ExecutionPlan, InterruptPoint, NodeSpec};
pub use crate::policy::node_policy::NodePolicy;
pub use crate::run::Run;
pub use crate::state::{InputOf, KeySet, State};
pub use crate::subflow::subflow;
pub use crate::thread::Threads;

pub use builder::{KeptBy, RunsAtOnce, forward_launch};
pub use check::{Checked, Items, arm, edge, items, node, route, routed};
pub use dispatch::{
    Arm, Field, FunctionArm, NoArm, RangeArm, Upto4, Upto16, Upto32, ValueArm, upto4, upto16,
    upto32,
};
pub use interrupt_points::{guard_read, guarded, key_named, no_guard};
pub use items::{
    DeliversNothing, DeliversSomething, DeliversUnknown, FromNode, ItemsOf, Receiver, Sent, kinds,
    probe, probe_out, sender,
};
pub use sub::{InputOfFlow, StateOf, Subflow, of_out, once, require_subflow, with_values};
pub use values::NodeValues;

/// A node in the table of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    pub node: NodeSpec,
    /// Collects what the node needs from the run.
    pub require: fn(&mut Requirements<'_>),
    /// Whether the flow names it as a function, and it is a value.
    pub lacks_value: bool,
}

/// A node of which nothing is known, because an error about it was reported. It writes all keys, so that nothing else is
/// reported.
pub const BROKEN: Spec = Spec {
    node: NodeSpec {
        facts: NodeFacts {
            must_write: KeySet::ALL,
            ..NodeFacts::new("")
        },
        reads_all: true,
        broken: true,
        ..NodeSpec::NONE
    },
    require: |_| {},
    lacks_value: false,
};

/// The specs in one table, each with the name of its node in the graph: the name in the flow if the flow declares the node
/// (`declared` has their indices, ascending), else the name of the annotated function. They come in the lists of the
/// dispatch, of which the last one can have empty arms.
pub const fn concat_specs<const N: usize>(
    chunks: &[&[Spec]],
    names: &[&'static str; N],
    declared: &[u32],
) -> [Spec; N] {
    let mut all = [BROKEN; N];
    let (mut chunk, mut at, mut next) = (0, 0, 0);
    while chunk < chunks.len() {
        let mut i = 0;
        while i < chunks[chunk].len() && at < N {
            all[at] = chunks[chunk][i];
            if next < declared.len() && declared[next] as usize == at {
                all[at].node.facts.name = names[at];
                next += 1;
            }
            at += 1;
            i += 1;
        }
        chunk += 1;
    }
    all
}

/// Fails if the option `name` of `#[node]` gives a node the name of another one, or the name under which another one is
/// stored. The macro compares the names that it sees.
#[track_caller]
pub const fn distinct_names(specs: &[Spec], names: &[&str], ids: &[(u32, &'static str)]) {
    let mut i = 0;
    while i < specs.len() {
        let name = specs[i].node.facts.name;
        // Most nodes have the name of their function.
        if !same(name, names[i]) {
            let mut other = 0;
            while other < specs.len() {
                let is_named_alike = same(specs[other].node.facts.name, name);
                if other != i && (is_named_alike || same(stored_name(specs, ids, other), name)) {
                    let text = messages::named_alike(name, names[i], names[other]);
                    panic!(
                        "{}",
                        messages::with_code(Rule::DuplicateNode, &text).as_str()
                    );
                }
                other += 1;
            }
        }
        i += 1;
    }
}

/// The name of a node in checkpoints.
const fn stored_name(specs: &[Spec], ids: &[(u32, &'static str)], node: usize) -> &'static str {
    let mut i = 0;
    while i < ids.len() {
        if ids[i].0 as usize == node {
            return ids[i].1;
        }
        i += 1;
    }
    specs[node].node.facts.name
}

/// The facts of the nodes that the rules use.
pub const fn facts<const N: usize>(specs: &[Spec; N]) -> [NodeFacts<'static>; N] {
    let mut facts = [NodeFacts::new(""); N];
    let mut i = 0;
    while i < N {
        facts[i] = specs[i].node.facts;
        i += 1;
    }
    facts
}

/// The facts of the keys of a state.
pub const fn keys<S: State>() -> &'static [KeyFacts<'static>] {
    const { &facts_of_keys(S::KEYS) }
        .split_at(if S::KEYS.len() < MAX_KEYS {
            S::KEYS.len()
        } else {
            MAX_KEYS
        })
        .0
}

const fn facts_of_keys(keys: &'static [KeyMeta]) -> [KeyFacts<'static>; MAX_KEYS] {
    let mut facts = [KeyFacts::new(""); MAX_KEYS];
    let mut i = 0;
    while i < keys.len() && i < MAX_KEYS {
        facts[i] = keys[i].facts();
        i += 1;
    }
    facts
}

/// The start of a flow as an end of an edge.
pub const START: u32 = u32::MAX - 1;

/// The end of a flow as an end of an edge.
pub const END: u32 = u32::MAX;

/// An edge in the table of a flow. Its ends are numbers: first the nodes, then the joins; [`START`] and [`END`]. Its kind is a
/// constant of [`kind`].
#[derive(Clone, Copy, Debug)]
pub struct EdgeRow {
    pub from: u32,
    pub to: u32,
    pub kind: u8,
    pub route: &'static str,
}

impl EdgeRow {
    pub const fn plain(from: u32, to: u32) -> Self {
        Self::new(from, to, kind::PLAIN, "")
    }

    pub const fn each(from: u32, to: u32) -> Self {
        Self::new(from, to, kind::EACH, "")
    }

    pub const fn route(from: u32, to: u32, route: &'static str) -> Self {
        Self::new(from, to, kind::ROUTE, route)
    }

    pub const fn route_each(from: u32, to: u32, route: &'static str) -> Self {
        Self::new(from, to, kind::ROUTE_EACH, route)
    }

    pub const fn catch(from: u32, to: u32) -> Self {
        Self::new(from, to, kind::CATCH, "")
    }

    const fn new(from: u32, to: u32, kind: u8, route: &'static str) -> Self {
        EdgeRow {
            from,
            to,
            kind,
            route,
        }
    }
}

/// An `interrupt` in the table of a flow.
#[derive(Clone, Copy, Debug)]
pub struct InterruptPointRow {
    pub node: u32,
    pub after: bool,
    pub guarded: bool,
    /// The keys that the guard reads.
    pub reads: KeySet,
}

/// Properties that few nodes have.
#[derive(Clone, Copy, Debug)]
pub struct NodeFlags {
    pub node: u32,
    pub deferred: bool,
    pub subflow: bool,
}

/// The table of a flow.
#[derive(Clone, Copy, Debug)]
pub struct GraphTable {
    pub flow: &'static str,
    /// The nodes that are deferred or sub-flows.
    pub node_flags: &'static [NodeFlags],
    pub edges: &'static [EdgeRow],
    /// The sources of each join, as the user wrote them.
    pub joins: &'static [&'static str],
    pub specs: &'static [Spec],
    /// The policies of `with`.
    pub policies: &'static [(u32, Policy)],
    /// The interrupts.
    pub interrupt_points: &'static [InterruptPointRow],
    /// The names of nodes in checkpoints that differ from their names.
    pub ids: &'static [(u32, &'static str)],
}

impl GraphTable {
    /// The graph.
    pub fn graph(&self) -> Graph {
        let mut nodes = Vec::with_capacity(self.specs.len());
        for spec in self.specs {
            nodes.push(petalflow_graph::Node {
                many: spec.node.facts.many,
                ..petalflow_graph::Node::named(spec.node.facts.name)
            });
        }
        for flags in self.node_flags {
            nodes[flags.node as usize].deferred = flags.deferred;
            nodes[flags.node as usize].subflow = flags.subflow;
        }
        for &(node, id) in self.ids {
            nodes[node as usize].stored = Some(id.into());
        }
        for &InterruptPointRow {
            node,
            after,
            guarded,
            ..
        } in self.interrupt_points
        {
            let node = &mut nodes[node as usize];
            let when = if guarded { When::Guarded } else { When::Always };
            *(if after {
                &mut node.after
            } else {
                &mut node.before
            }) = when;
        }
        let mut edges = Vec::with_capacity(self.edges.len());
        for row in self.edges {
            edges.push(self.edge(row));
        }
        Graph {
            nodes: nodes.into(),
            edges: edges.into(),
            joins: petalflow_graph::to_u32(self.joins.len()),
        }
    }

    fn edge(&self, row: &EdgeRow) -> Edge {
        let &EdgeRow {
            from,
            to,
            kind: what,
            route,
        } = row;
        let nodes = petalflow_graph::to_u32(self.specs.len());
        let start = nodes + petalflow_graph::to_u32(self.joins.len());
        let from = match from {
            node if node < nodes => Source::Node(NodeIdx::new(node)),
            join if join < start => Source::Join(JoinIdx::new(join - nodes)),
            _ => Source::Start,
        };
        let to = match to {
            node if node < nodes => Target::Node(NodeIdx::new(node)),
            join if join < start => Target::Join(JoinIdx::new(join - nodes)),
            _ => Target::End,
        };
        let via = match what {
            kind::EACH => Via::Each,
            kind::ROUTE => Via::Route(route.into()),
            kind::ROUTE_EACH => Via::RouteEach(route.into()),
            kind::CATCH => Via::Catch,
            _ => Via::Plain,
        };
        Edge { from, via, to }
    }

    /// The execution plan. All runs of the flow share it.
    pub fn plan(&self, shared: &OnceLock<Arc<ExecutionPlan>>) -> Arc<ExecutionPlan> {
        Arc::clone(shared.get_or_init(|| self.wire()))
    }

    fn wire(&self) -> Arc<ExecutionPlan> {
        let mut specs = Vec::with_capacity(self.specs.len());
        let mut policies: Vec<NodePolicy> = Vec::with_capacity(self.specs.len());
        for spec in self.specs {
            specs.push(spec.node);
            policies.push(spec.node.policy.into());
        }
        for &(node, policy) in self.policies {
            let node = node as usize;
            policies[node] = policy.or(specs[node].policy).into();
        }
        let mut interrupt_points = Vec::with_capacity(self.interrupt_points.len());
        for row in self.interrupt_points {
            interrupt_points.push(InterruptPoint {
                node: NodeIdx::new(row.node),
                after: row.after,
                reads: Some(row.reads),
            });
        }
        Arc::new(
            ExecutionPlan::new(self.graph(), specs, policies)
                .with_interrupt_points(interrupt_points),
        )
    }

    /// Collects what the nodes need from the run.
    pub fn require(&self, requirements: &mut Requirements<'_>) {
        self.specs
            .iter()
            .for_each(|spec| (spec.require)(requirements));
    }
}

/// A launch of a flow without node values. All runs share one instance.
pub fn launch<F: Flow>(shared: &OnceLock<Arc<F>>, flow: F) -> Launch<F> {
    Launch::shared(Arc::clone(shared.get_or_init(|| Arc::new(flow))))
}

/// The value of an optional key.
pub fn option<O: super::Optional>(value: &O) -> Option<&O::Value> {
    value.get()
}
