//! Nodes whose type the graph does not know.

use std::any::{TypeId, type_name};
use std::future::Future;

use petalflow_graph::{KeySet, NodeFacts};

use crate::delivery::{ItemCodec, TypeName};
use crate::error::BoxError;
use crate::flow::Flow;
use crate::future::BoxFuture;
use crate::node::{Carried, Context, Effects, Node, Output, Requirements, Routing, Scope};
use crate::plan::NodeSpec;
use crate::policy::{NodePolicy, Policy};
use crate::state::State;
use crate::subflow::subflow;

/// A node behind a pointer.
pub(super) trait DynNode<S: State>: Send + Sync {
    fn run<'a>(
        &'a self,
        scope: &'a Scope,
        state: &'a S,
        effects: &'a mut Effects<S>,
    ) -> BoxFuture<'a, Result<(), BoxError>>;

    fn require(&self, _: &mut Requirements<'_>) {}

    /// Lets a sub-flow keep its state; other nodes have none.
    fn keep_thread(&mut self) {}
}

/// What a node's type says, kept when the type is forgotten.
#[derive(Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts about a type"
)]
pub(super) struct Traits {
    pub(super) reads: KeySet,
    pub(super) reads_all: bool,
    pub(super) may: KeySet,
    pub(super) must: KeySet,
    pub(super) twice: KeySet,
    pub(super) routes: &'static [&'static str],
    pub(super) payloads: &'static [bool],
    pub(super) has_route: bool,
    pub(super) many: bool,
    pub(super) sends: bool,
    /// The type of the items that it sends.
    pub(super) items: Option<TypeName>,
    /// What a route carries.
    pub(super) carried: fn(usize) -> Option<Carried>,
    pub(super) takes: bool,
    pub(super) item: TypeName,
    pub(super) policy: Policy,
    pub(super) codec: Option<ItemCodec>,
}

impl Traits {
    /// What an output says of a node that reads nothing in particular.
    fn of_output<S: State, O: Output<S>>() -> Self {
        Traits {
            reads: KeySet::NONE,
            reads_all: true,
            may: O::MAY_WRITE,
            must: O::MUST_WRITE,
            twice: O::WRITES_TWICE.intersection(S::EXCLUSIVE),
            routes: O::Routing::NAMES,
            payloads: O::Routing::PAYLOADS,
            has_route: O::Routing::ROUTES,
            many: O::Routing::MANY,
            sends: O::Routing::SENDS,
            items: O::Routing::items(),
            carried: O::Routing::carried,
            takes: false,
            item: (TypeId::of::<()>(), "()"),
            policy: Policy::NONE,
            codec: None,
        }
    }

    #[inline]
    pub(super) fn facts<'a>(&self, name: &'a str) -> NodeFacts<'a>
    where
        Self: 'a,
    {
        NodeFacts {
            reads: self.reads,
            may_write: self.may,
            must_write: self.must,
            routes: self.routes,
            many: self.many,
            has_route: self.has_route,
            takes_item: self.takes,
            ..NodeFacts::new(name)
        }
    }

    #[inline]
    pub(super) fn spec(&self, policy: NodePolicy) -> NodeSpec {
        NodeSpec {
            routes: self.routes,
            takes: self.takes,
            policy: policy.or(self.policy.into()),
            item: self.codec,
            reads: (!self.reads_all).then_some(self.reads),
        }
    }
}

/// A node with what its type said.
pub(super) struct Entry<S: State> {
    pub(super) name: String,
    pub(super) traits: Traits,
    pub(super) subflow: bool,
    pub(super) node: Box<dyn DynNode<S>>,
}

impl<S: State> Entry<S> {
    /// An annotated function or a node value.
    pub(super) fn node<N: Node<S>>(name: String, node: N) -> Self {
        let traits = Traits {
            reads: N::READS,
            reads_all: N::READS_ALL,
            takes: N::TAKES_ITEM,
            item: (TypeId::of::<N::Item>(), type_name::<N::Item>()),
            policy: N::POLICY,
            codec: N::ITEM_CODEC,
            ..Traits::of_output::<S, N::Output>()
        };
        Entry {
            name,
            traits,
            subflow: false,
            node: Box::new(Typed(node)),
        }
    }

    /// A closure.
    pub(super) fn closure<F, R, O>(name: String, closure: F) -> Self
    where
        F: Fn(&S, Context) -> R + Send + Sync + 'static,
        R: Future<Output = O> + Send + 'static,
        O: Output<S>,
    {
        Entry {
            name,
            traits: Traits::of_output::<S, O>(),
            subflow: false,
            node: Box::new(Closure(closure)),
        }
    }

    /// A flow.
    pub(super) fn subflow<C, I, M, O>(name: String, child: C, input: I, out: M) -> Self
    where
        C: Flow + Clone,
        I: Fn(&S) -> <C::State as State>::Input + Send + Sync + 'static,
        M: Fn(C::State) -> O + Send + Sync + 'static,
        O: Output<S> + 'static,
    {
        Entry {
            name,
            traits: Traits::of_output::<S, O>(),
            subflow: true,
            node: Box::new(Sub {
                child,
                input,
                out,
                keep: false,
            }),
        }
    }
}

struct Typed<N>(N);

impl<S: State, N: Node<S>> DynNode<S> for Typed<N> {
    fn run<'a>(
        &'a self,
        scope: &'a Scope,
        state: &'a S,
        effects: &'a mut Effects<S>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move { self.0.run(state, scope).await.apply(effects) })
    }

    fn require(&self, requirements: &mut Requirements<'_>) {
        N::require(requirements);
    }
}

struct Closure<F>(F);

impl<S, F, R, O> DynNode<S> for Closure<F>
where
    S: State,
    F: Fn(&S, Context) -> R + Send + Sync + 'static,
    R: Future<Output = O> + Send + 'static,
    O: Output<S>,
{
    fn run<'a>(
        &'a self,
        scope: &'a Scope,
        state: &'a S,
        effects: &'a mut Effects<S>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        // Called inside, so that its panic is the node's.
        Box::pin(async move { (self.0)(state, scope.context()).await.apply(effects) })
    }
}

struct Sub<C, I, M> {
    child: C,
    input: I,
    out: M,
    keep: bool,
}

impl<S, C, I, M, O> DynNode<S> for Sub<C, I, M>
where
    S: State,
    C: Flow + Clone,
    I: Fn(&S) -> <C::State as State>::Input + Send + Sync + 'static,
    M: Fn(C::State) -> O + Send + Sync + 'static,
    O: Output<S> + 'static,
{
    fn run<'a>(
        &'a self,
        scope: &'a Scope,
        state: &'a S,
        effects: &'a mut Effects<S>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            subflow(
                self.child.clone(),
                scope,
                (self.input)(state),
                &self.out,
                effects,
                self.keep,
            )
            .await
        })
    }

    fn require(&self, requirements: &mut Requirements<'_>) {
        self.child.require(requirements);
    }

    fn keep_thread(&mut self) {
        self.keep = true;
    }
}
