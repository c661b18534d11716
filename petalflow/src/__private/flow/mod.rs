//! What `flow!` expands to calls into: tables become a wired graph, and mistakes become errors at the user's tokens.

mod builder;
mod check;
mod dispatch;
mod gates;
mod items;
mod sub;

use std::future::Future;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use petalflow_graph::{Edge, Graph, JoinIdx, MAX_KEYS, Source, Target, Via, When};

use crate::delivery::ItemCodec;
use crate::node::Routing;
use crate::policy::Policy;
use crate::state::{KeyFlag, KeyMeta};

pub use petalflow_graph::{
    AnyRef, EndlessRow, FrontiersRef, KeyFacts, NodeFacts, NodeIdx, PairsRef, PathEdge, PathsRef,
    Tables, Transition, Verdict, dot, kind, mermaid, topology, verdicts,
};

pub use super::{IsState, KeyOf};
pub use crate::delivery::{ItemProbe, NoItemCodec};
pub use crate::error::BoxError;
pub use crate::flow::{Flow, HasFlow, Step};
pub use crate::interrupt::Guard;
pub use crate::launch::Launch;
pub use crate::middleware::RunMiddleware;
pub use crate::node::{AcceptsItem, Effects, FnNode, Key, Node, Output, Requirements, Scope};
pub use crate::plan::{ExecutionPlan, Gate, NodeSpec};
pub use crate::policy::node_policy::NodePolicy;
pub use crate::state::{KeySet, State};
pub use crate::subflow::subflow;

pub use builder::{Given, KeptBy, RunsAtOnce, forward_launch};
pub use check::{Checked, Items, arm, edge, items, node, route, routed};
pub use dispatch::{
    Arm, FunctionArm, NoArm, RangeArm, Upto4, Upto8, Upto16, Upto32, upto4, upto8, upto16, upto32,
};
pub use gates::{guard_read, guarded, key_named, no_guard};
pub use items::{
    DeliversNothing, DeliversSomething, DeliversUnknown, FromNode, ItemsOf, Named, Receiver, Sent,
    kinds, probe, probe_out, sender,
};
pub use sub::{Subflow, of_out, once, require_subflow};

/// All that a node's type says.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    pub facts: NodeFacts<'static>,
    /// For each route whether it carries a payload.
    pub payloads: &'static [bool],
    /// Whether it sends items to the targets of `each`.
    pub sends: bool,
    pub policy: Policy,
    /// How its item is stored.
    pub item: Option<ItemCodec>,
    /// Whether it may read more than the keys that it names.
    pub reads_all: bool,
    pub require: fn(&mut Requirements<'_>),
    /// Nothing is known of the node, because it was reported.
    pub broken: bool,
}

/// All that the result type `$output` and the rest say: written out, because each call costs constant evaluation time at every
/// node.
macro_rules! spec {
    ($state:ty, $output:ty, reads: $reads:expr, all: $all:expr, takes: $takes:expr, policy: $policy:expr, item: $item:expr, require: $require:expr) => {
        Spec {
            facts: NodeFacts {
                name: "",
                reads: $reads,
                may_write: <$output as Output<$state>>::MAY_WRITE,
                must_write: <$output as Output<$state>>::MUST_WRITE,
                routes: <<$output as Output<$state>>::Routing as Routing>::NAMES,
                many: <<$output as Output<$state>>::Routing as Routing>::MANY,
                has_route: <<$output as Output<$state>>::Routing as Routing>::ROUTES,
                takes_item: $takes,
            },
            payloads: <<$output as Output<$state>>::Routing as Routing>::PAYLOADS,
            sends: <<$output as Output<$state>>::Routing as Routing>::SENDS,
            policy: $policy,
            item: $item,
            reads_all: $all,
            require: $require,
            broken: false,
        }
    };
}
use spec;

/// A node of which nothing is known, because it was reported.
pub const BROKEN: Spec = Spec {
    facts: NodeFacts {
        must_write: KeySet::ALL,
        ..NodeFacts::new("")
    },
    payloads: &[],
    sends: false,
    policy: Policy::NONE,
    item: None,
    reads_all: true,
    require: |_| {},
    broken: true,
};

/// The specs in one table, each with its node's name in the graph. They come in chunks: rustc takes quadratic time for long
/// lists.
pub const fn concat_specs<const N: usize>(
    chunks: &[&[Spec]],
    names: &[&'static str; N],
) -> [Spec; N] {
    let mut all = [BROKEN; N];
    let (mut chunk, mut at) = (0, 0);
    while chunk < chunks.len() {
        let mut i = 0;
        while i < chunks[chunk].len() {
            all[at] = chunks[chunk][i];
            all[at].facts.name = names[at];
            at += 1;
            i += 1;
        }
        chunk += 1;
    }
    all
}

/// What the checks need to know of the nodes.
pub const fn facts<const N: usize>(specs: &[Spec; N]) -> [NodeFacts<'static>; N] {
    let mut facts = [NodeFacts::new(""); N];
    let mut i = 0;
    while i < N {
        facts[i] = specs[i].facts;
        i += 1;
    }
    facts
}

/// What the checks need to know of the keys of a state. Its constant wins over that of [`NoKeys`], which stands in where
/// the type is no state: that is reported elsewhere.
#[derive(Debug)]
pub struct KeysOf<S>(PhantomData<S>);

impl<S: State> KeysOf<S> {
    const ALL: &'static [KeyFacts<'static>; MAX_KEYS] = &facts_of_keys(S::KEYS);
    pub const KEYS: &'static [KeyFacts<'static>] = Self::ALL
        .split_at(if S::KEYS.len() < MAX_KEYS {
            S::KEYS.len()
        } else {
            MAX_KEYS
        })
        .0;
}

/// No keys at all.
pub trait NoKeys {
    const KEYS: &'static [KeyFacts<'static>] = &[];
}

impl<S> NoKeys for KeysOf<S> {}

#[inline]
const fn facts_of_keys(keys: &'static [KeyMeta]) -> [KeyFacts<'static>; MAX_KEYS] {
    let mut facts = [KeyFacts::new(""); MAX_KEYS];
    let mut i = 0;
    while i < keys.len() && i < MAX_KEYS {
        let key = &keys[i];
        // An ephemeral key with a default falls back to it, so that it always has a value; an input does not come again.
        let ephemeral =
            key.has(KeyFlag::Ephemeral) && (!key.has(KeyFlag::Assigned) || key.has(KeyFlag::Input));
        facts[i] = KeyFacts {
            exclusive: key.has(KeyFlag::Exclusive),
            assigned: key.has(KeyFlag::Assigned),
            ephemeral,
            output: key.has(KeyFlag::Output),
            ..KeyFacts::new(key.name)
        };
        i += 1;
    }
    facts
}

/// An edge as a macro writes it: places of nodes, then joins, then START and END; what it does, of the constants in
/// [`kind`]; its route.
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

    #[inline]
    const fn new(from: u32, to: u32, kind: u8, route: &'static str) -> Self {
        EdgeRow {
            from,
            to,
            kind,
            route,
        }
    }
}

/// An `interrupt` as a macro writes it: the node, whether it is after the node, whether it has a guard.
#[derive(Clone, Copy, Debug)]
pub struct GateRow {
    pub node: u32,
    pub after: bool,
    pub guarded: bool,
}

/// The properties of a node that most nodes do not have.
#[derive(Clone, Copy, Debug)]
pub struct NodeFlags {
    pub node: u32,
    pub deferred: bool,
    pub subflow: bool,
}

/// The graph as a macro writes it.
#[derive(Clone, Copy, Debug)]
pub struct GraphTable {
    pub flow: &'static str,
    /// The nodes that are deferred, or flows.
    pub node_flags: &'static [NodeFlags],
    pub edges: &'static [EdgeRow],
    /// The sides of each join, as the user wrote them.
    pub joins: &'static [&'static str],
    pub specs: &'static [Spec],
    /// What `with` says.
    pub policies: &'static [(u32, Policy)],
    /// What `interrupt` says.
    pub gates: &'static [GateRow],
    /// The names of nodes in checkpoints, where they have another one.
    pub ids: &'static [(u32, &'static str)],
}

impl GraphTable {
    /// The graph.
    pub fn graph(&self) -> Graph {
        let node = |spec: &Spec| petalflow_graph::Node {
            many: spec.facts.many,
            ..petalflow_graph::Node::named(spec.facts.name)
        };
        let mut nodes: Vec<petalflow_graph::Node> = self.specs.iter().map(node).collect();
        for flags in self.node_flags {
            nodes[flags.node as usize].deferred = flags.deferred;
            nodes[flags.node as usize].subflow = flags.subflow;
        }
        for &(place, id) in self.ids {
            nodes[place as usize].stored = Some(id.into());
        }
        for &GateRow {
            node,
            after,
            guarded,
        } in self.gates
        {
            let node = &mut nodes[node as usize];
            let when = if guarded { When::Guarded } else { When::Always };
            *(if after {
                &mut node.after
            } else {
                &mut node.before
            }) = when;
        }
        let edges = self.edges.iter().map(|row| self.edge(row)).collect();
        Graph {
            nodes: nodes.into(),
            edges,
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

    /// The graph wired for the engine.
    pub fn wire(&self) -> Arc<ExecutionPlan> {
        let mut specs: Vec<NodeSpec> = self
            .specs
            .iter()
            .map(|spec| NodeSpec {
                routes: spec.facts.routes,
                takes: spec.facts.takes_item,
                policy: spec.policy.into(),
                item: spec.item,
                reads: (!spec.reads_all).then_some(spec.facts.reads),
            })
            .collect();
        for (place, policy) in self.policies {
            let own = self.specs[*place as usize].policy;
            specs[*place as usize].policy = policy.or(own).into();
        }
        let gate = |row: &GateRow| Gate {
            node: NodeIdx::new(row.node),
            after: row.after,
        };
        let gates = self.gates.iter().map(gate).collect();
        Arc::new(ExecutionPlan::new(&self.graph(), &specs).with_gates(gates))
    }

    /// Collects what the nodes need from the run.
    pub fn require(&self, requirements: &mut Requirements<'_>) {
        self.specs
            .iter()
            .for_each(|spec| (spec.require)(requirements));
    }
}

/// A node over `S` that is an annotated function. Generated code names a node only as `<write as NodeOver<Essay>>::..`, with
/// the user's span: where the type is no such node, that is one and the same error each time, which rustc reports once.
#[diagnostic::on_unimplemented(
    message = "PF025: `{Self}` is not a node over `{S}`",
    label = "not a node over `{S}`",
    note = "annotate the function with `#[node({S})]`; a node value is declared with `node name: Type = value;`"
)]
pub trait NodeOver<S> {
    /// What its type says.
    const SPEC: Spec;
    /// Its arm in the dispatch.
    type Arm;
}

#[diagnostic::do_not_recommend]
impl<S: State, N: FnNode<S>> NodeOver<S> for N {
    const SPEC: Spec = spec!(S, N::Output, reads: N::READS, all: N::READS_ALL, takes: N::TAKES_ITEM, policy: N::POLICY, item: N::ITEM_CODEC, require: N::require);
    type Arm = FunctionArm<N>;
}

/// A node value over `S`.
#[diagnostic::on_unimplemented(
    message = "PF025: `{Self}` is not a node over `{S}`",
    label = "not a node over `{S}`",
    note = "annotate its `impl` block with `#[node({S})]`; a flow is a node with `{{ in: .., out: .. }}` behind its name"
)]
pub trait ValueOver<S> {
    /// What its type says.
    const SPEC: Spec;

    /// Runs it.
    fn call<'a>(
        &'a self,
        step: &'a mut Step<'_, S>,
    ) -> impl Future<Output = Result<(), BoxError>> + Send + 'a
    where
        S: State;
}

#[diagnostic::do_not_recommend]
impl<S: State, N: Node<S>> ValueOver<S> for N {
    const SPEC: Spec = spec!(S, N::Output, reads: N::READS, all: N::READS_ALL, takes: N::TAKES_ITEM, policy: N::POLICY, item: N::ITEM_CODEC, require: N::require);

    #[inline]
    fn call<'a>(
        &'a self,
        step: &'a mut Step<'_, S>,
    ) -> impl Future<Output = Result<(), BoxError>> + Send + 'a {
        async move {
            let output = self.run(step.state(), step.scope()).await;
            output.apply(step.effects())
        }
    }
}

/// Says that a type is a state, in a bound that simply does not hold where it is not one: `where Essay: State` would be an
/// error of its own.
pub trait StateFor<'a>: State {}

impl<S: State> StateFor<'_> for S {}

/// A launch of a flow that has no values of its own: its runs share one.
pub fn launch<F: Flow>(shared: &OnceLock<Arc<F>>, flow: F) -> Launch<F> {
    Launch::shared(Arc::clone(shared.get_or_init(|| Arc::new(flow))))
}

/// A node value, once it has been given.
#[inline]
pub fn given<T>(value: &Option<Arc<T>>) -> &T {
    value
        .as_deref()
        .expect("the builder has no `run` before every node value is given")
}

/// What an optional key holds.
#[inline]
pub fn option<O: super::Optional>(value: &O) -> Option<&O::Value> {
    value.get()
}
