//! For the code of `flow!`: its tables become an execution plan, and mistakes become errors at the tokens of the user.

mod builder;
mod check;
mod dispatch;
mod interrupt_points;
mod items;
mod sub;

use std::future::Future;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use petalflow_graph::{
    Edge, Graph, JoinIdx, MAX_KEYS, Rule, Source, Target, Via, When, messages, same,
};

use crate::node::node_spec;
use crate::policy::Policy;
use crate::state::KeyMeta;

pub use petalflow_graph::{
    AnyRef, EndlessRow, FrontiersRef, KeyFacts, NodeFacts, NodeIdx, PairsRef, PathEdge, PathsRef,
    Tables, Transition, Verdict, dot, kind, mermaid, topology, verdicts,
};

pub use super::{IsState, KeyOf};
pub use crate::delivery::{ItemProbe, NoItemCodec};
pub use crate::error::BoxError;
pub use crate::flow::{END, Flow, HasFlow, START, Step};
pub use crate::interrupt::Guard;
pub use crate::launch::Launch;
pub use crate::middleware::RunMiddleware;
pub use crate::node::{AcceptsItem, Effects, FnNode, Key, Node, Output, Requirements, Scope};
pub use crate::plan::{ExecutionPlan, InterruptPoint, NodeSpec};
pub use crate::policy::node_policy::NodePolicy;
pub use crate::run::Run;
pub use crate::state::{InputOf, KeySet, State};
pub use crate::subflow::subflow;
pub use crate::thread::Threads;

pub use builder::{HasValue, KeptBy, Launches, RunsAtOnce, forward_launch};
pub use check::{Checked, Items, arm, edge, items, node, route, routed};
pub use dispatch::{
    Arm, FunctionArm, NoArm, RangeArm, Upto4, Upto16, Upto32, upto4, upto16, upto32,
};
pub use interrupt_points::{guard_read, guarded, key_named, no_guard};
pub use items::{
    DeliversNothing, DeliversSomething, DeliversUnknown, FromNode, ItemsOf, Named, Receiver, Sent,
    kinds, probe, probe_out, sender,
};
pub use sub::{Subflow, of_out, once, require_subflow, with_values};

/// A node in the table of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    pub node: NodeSpec,
    /// Collects what the node needs from the run.
    pub require: fn(&mut Requirements<'_>),
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
};

/// The specs in one table, each with the name of its node in the graph: the name in the flow if the flow declares the node
/// (`declared` has their indices, ascending), else the name of the annotated function. They come in chunks: rustc takes
/// quadratic time for long lists.
pub const fn concat_specs<const N: usize>(
    chunks: &[&[Spec]],
    names: &[&'static str; N],
    declared: &[u32],
) -> [Spec; N] {
    let mut all = [BROKEN; N];
    let (mut chunk, mut at, mut next) = (0, 0, 0);
    while chunk < chunks.len() {
        let mut i = 0;
        while i < chunks[chunk].len() {
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
                if other != i && (is_named_alike || same(stored(specs, ids, other), name)) {
                    let text = messages::named_alike(name, names[i], names[other]);
                    panic!("{}", messages::coded(Rule::DuplicateNode, &text).as_str());
                }
                other += 1;
            }
        }
        i += 1;
    }
}

/// The name of a node in checkpoints.
const fn stored(specs: &[Spec], ids: &[(u32, &'static str)], node: usize) -> &'static str {
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

/// The facts of the keys of a state. Its constant has precedence over that of [`NoKeys`], which applies if the type is not a
/// state. Another error reports that.
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

/// No keys.
pub trait NoKeys {
    const KEYS: &'static [KeyFacts<'static>] = &[];
}

impl<S> NoKeys for KeysOf<S> {}

const fn facts_of_keys(keys: &'static [KeyMeta]) -> [KeyFacts<'static>; MAX_KEYS] {
    let mut facts = [KeyFacts::new(""); MAX_KEYS];
    let mut i = 0;
    while i < keys.len() && i < MAX_KEYS {
        facts[i] = keys[i].facts();
        i += 1;
    }
    facts
}

/// An edge in the table of a flow. Its ends are numbers: first the nodes, then the joins, then START and END. Its kind is a
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

/// An annotated function that is a node over `S`. One constant of a flow checks its nodes, and all other code depends on it.
#[diagnostic::on_unimplemented(
    message = "PF025: `{Self}` is not a node over `{S}`",
    label = "not a node over `{S}`",
    note = "annotate the function with `#[node({S})]`; a node value is declared with `node name: Type = value;`, another flow with `node name: Flow {{ in: .., out: .. }};`"
)]
pub trait NodeOver<S> {
    /// The properties that its type determines.
    #[doc(hidden)]
    const SPEC: Spec;
    /// The arm in the dispatch.
    #[doc(hidden)]
    type Arm;
}

#[diagnostic::do_not_recommend]
impl<S: State, N: FnNode<S>> NodeOver<S> for N {
    const SPEC: Spec = Spec {
        node: node_spec!(S, N::Output, name: N::NAME, reads: N::READS, all: N::READS_ALL, takes: N::TAKES_ITEM, policy: N::POLICY, item: N::ITEM_CODEC, broken: N::UNKNOWN_KEYS),
        require: N::require,
    };
    type Arm = FunctionArm<N>;
}

/// A node value over `S`.
#[diagnostic::on_unimplemented(
    message = "PF025: `{Self}` is not a node over `{S}`",
    label = "not a node over `{S}`",
    note = "annotate its `impl` block with `#[node({S})]`; a flow is a node with `{{ in: .., out: .. }}` behind its name",
    note = "a type with a key as its parameter, such as `Llm<{S}Messages>`, is a node only for a key whose value is of the type that its documentation names"
)]
pub trait ValueOver<S> {
    /// The properties that its type determines.
    #[doc(hidden)]
    const SPEC: Spec;
    /// For the check that names this type.
    #[doc(hidden)]
    type Arm;
}

#[diagnostic::do_not_recommend]
impl<S: State, N: Node<S>> ValueOver<S> for N {
    const SPEC: Spec = Spec {
        node: node_spec!(S, N::Output, name: "", reads: N::READS, all: N::READS_ALL, takes: N::TAKES_ITEM, policy: N::POLICY, item: N::ITEM_CODEC, broken: N::UNKNOWN_KEYS),
        require: N::require,
    };
    type Arm = ();
}

/// A call of a node value. The inherent method has precedence over that of [`NoCall`], which applies if the value is not a node.
#[derive(Debug)]
pub struct Call<'a, S, N>(&'a N, PhantomData<fn(S)>);

impl<'a, S, N> Call<'a, S, N> {
    pub fn of(node: &'a N) -> Self {
        Call(node, PhantomData)
    }
}

impl<'a, S: State, N: Node<S>> Call<'a, S, N> {
    pub fn call(
        self,
        step: &'a mut Step<'_, S>,
    ) -> impl Future<Output = Result<(), BoxError>> + Send + 'a {
        async move {
            let output = self.0.run(step.state(), step.scope()).await;
            output.apply(step.effects())
        }
    }
}

/// The call of a value that is not a node.
pub trait NoCall: Sized {
    fn call<T>(self, _: T) -> std::future::Pending<Result<(), BoxError>> {
        std::future::pending()
    }
}

impl<S, N> NoCall for Call<'_, S, N> {}

/// A conditional bound for a state: `where Essay: State` would be an error if the type is not a state.
pub trait StateFor<'a>: State {}

impl<S: State> StateFor<'_> for S {}

/// A launch of a flow without node values. All runs share one instance.
pub fn launch<F: Flow>(shared: &OnceLock<Arc<F>>, flow: F) -> Launch<F> {
    Launch::shared(Arc::clone(shared.get_or_init(|| Arc::new(flow))))
}

/// A node value that was given.
pub fn given<T>(value: &Option<Arc<T>>) -> &T {
    value
        .as_deref()
        .expect("the builder has no `run` before every node value is given")
}

/// The value of an optional key.
pub fn option<O: super::Optional>(value: &O) -> Option<&O::Value> {
    value.get()
}
