//! Nodes as trait objects.

use std::any::{TypeId, type_name};
use std::future::Future;
use std::sync::Arc;

use petalflow_graph::{KeySet, NodeFacts};
use serde_core::{Serialize, de::DeserializeOwned};

use crate::delivery::TypeName;
use crate::error::BoxError;
use crate::flow::Flow;
use crate::future::BoxFuture;
use crate::node::{
    Carried, Context, Effects, ItemCodec, Node, Output, Requirements, Routing, Scope, node_spec,
};
use crate::plan::{NodeSpec, RouteNames};
use crate::policy::Policy;
use crate::state::State;
use crate::subflow::subflow;

/// A node as a trait object.
pub(super) trait DynNode<S: State>: Send + Sync {
    fn run<'a>(
        &'a self,
        scope: &'a Scope,
        state: &'a S,
        effects: &'a mut Effects<S>,
    ) -> BoxFuture<'a, Result<(), BoxError>>;

    fn require(&self, _: &mut Requirements<'_>) {}

    /// Retains the state of a sub-flow between its runs. Other nodes have no state.
    fn retain_state(&mut self) {}
}

/// The types of the items that a node sends and takes.
#[derive(Clone, Copy)]
pub(super) struct ItemTypes {
    /// The type of the items for `each`.
    pub(super) each: Option<TypeName>,
    /// The types of the payload of a route, by index.
    pub(super) payload: fn(usize) -> Option<Carried>,
    pub(super) input: TypeName,
}

impl ItemTypes {
    /// The types of a node with this output that takes no item.
    fn of_output<S: State, O: Output<S>>() -> Self {
        ItemTypes {
            each: O::Routing::items(),
            payload: O::Routing::carried,
            input: (TypeId::of::<()>(), "()"),
        }
    }
}

/// How a node was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    Node,
    Closure,
    Subflow,
}

/// A node of the builder.
pub(super) struct Entry<S: State> {
    /// Set when the node is added.
    pub(super) name: String,
    pub(super) spec: NodeSpec,
    pub(super) item_types: ItemTypes,
    /// The exclusive keys that one result writes twice.
    pub(super) written_twice: KeySet,
    pub(super) kind: EntryKind,
    pub(super) node: Box<dyn DynNode<S>>,
}

impl<S: State> Entry<S> {
    /// An annotated function or a node value.
    pub(super) fn node<N: Node<S>>(node: N) -> Self {
        let item_types = ItemTypes {
            input: (TypeId::of::<N::Item>(), type_name::<N::Item>()),
            ..ItemTypes::of_output::<S, N::Output>()
        };
        Entry {
            spec: node_spec!(S, N::Output, name: "", reads: N::READS, all: N::READS_ALL, takes: N::TAKES_ITEM, policy: N::POLICY, item: N::ITEM_CODEC, broken: false),
            item_types,
            kind: EntryKind::Node,
            ..Self::with_output::<N::Output>(Box::new(Typed(node)))
        }
    }

    /// A closure.
    pub(super) fn closure<F, R, O>(closure: F) -> Self
    where
        F: Fn(&S, Context) -> R + Send + Sync + 'static,
        R: Future<Output = O> + Send + 'static,
        O: Output<S>,
    {
        Self::with_output::<O>(Box::new(Closure(closure)))
    }

    /// A flow.
    pub(super) fn subflow<C, I, M, O>(child: C, input: I, out: M) -> Self
    where
        C: Flow + Clone,
        I: Fn(&S) -> <C::State as State>::Input + Send + Sync + 'static,
        M: Fn(C::State) -> O + Send + Sync + 'static,
        O: Output<S> + 'static,
    {
        Self::with_input(child, move |state: &S, _: &Scope| Ok(input(state)), out)
    }

    /// A flow whose input is made from the state and the item.
    fn with_input<C, I, M, O>(child: C, input: I, out: M) -> Self
    where
        C: Flow + Clone,
        I: Fn(&S, &Scope) -> Result<<C::State as State>::Input, BoxError> + Send + Sync + 'static,
        M: Fn(C::State) -> O + Send + Sync + 'static,
        O: Output<S> + 'static,
    {
        let node = Box::new(Sub {
            child,
            input,
            out,
            retains_state: false,
        });
        Entry {
            kind: EntryKind::Subflow,
            ..Self::with_output::<O>(node)
        }
    }

    /// A flow that takes an item.
    pub(super) fn subflow_with_item<C, T, I, M, O>(child: C, input: I, out: M) -> Self
    where
        C: Flow + Clone,
        T: Serialize + DeserializeOwned + Send + Sync + 'static,
        I: Fn(&S, &T) -> <C::State as State>::Input + Send + Sync + 'static,
        M: Fn(C::State) -> O + Send + Sync + 'static,
        O: Output<S> + 'static,
    {
        let input = move |state: &S, scope: &Scope| Ok(input(state, scope.item::<T>()?));
        let mut entry = Self::with_input(child, input, out);
        entry.spec.facts.takes_item = true;
        entry.spec.item = Some(ItemCodec::of::<T>());
        entry.item_types.input = (TypeId::of::<T>(), type_name::<T>());
        entry
    }

    /// A node with this output that may read all keys and takes no item.
    fn with_output<O: Output<S>>(node: Box<dyn DynNode<S>>) -> Self {
        Entry {
            name: String::new(),
            spec: node_spec!(S, O, name: "", reads: KeySet::NONE, all: true, takes: false, policy: Policy::NONE, item: None, broken: false),
            item_types: ItemTypes::of_output::<S, O>(),
            written_twice: O::WRITES_TWICE.intersection(S::EXCLUSIVE),
            kind: EntryKind::Closure,
            node,
        }
    }

    /// The properties that the rules use. `named` has the names of the routes, if only the builder knows them.
    pub(super) fn facts<'a>(&'a self, named: &'a [&'a str]) -> NodeFacts<'a> {
        let facts = self.spec.facts;
        NodeFacts {
            name: &self.name,
            routes: if self.spec.named { named } else { facts.routes },
            ..facts
        }
    }

    /// The node, ready to run.
    pub(super) fn ready(mut self, retain_state: bool, routes: &RouteNames) -> Box<dyn DynNode<S>> {
        if retain_state {
            self.node.retain_state();
        }
        match routes {
            RouteNames::Named(routes) => Box::new(Named {
                node: self.node,
                routes: Arc::clone(routes),
            }),
            RouteNames::Static(_) => self.node,
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

/// A node that chooses routes by name.
struct Named<S: State> {
    node: Box<dyn DynNode<S>>,
    routes: Arc<[String]>,
}

impl<S: State> DynNode<S> for Named<S> {
    fn run<'a>(
        &'a self,
        scope: &'a Scope,
        state: &'a S,
        effects: &'a mut Effects<S>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            self.node.run(scope, state, effects).await?;
            effects.choice.find_named(&self.routes).map_err(|unknown| {
                let routes = self.routes.join("`, `");
                format!("there is no route `{unknown}`: the routes of the node are `{routes}`")
                    .into()
            })
        })
    }

    fn require(&self, requirements: &mut Requirements<'_>) {
        self.node.require(requirements);
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
        // Called inside the future, so that a panic is a failure of the node.
        Box::pin(async move { (self.0)(state, scope.context()).await.apply(effects) })
    }
}

struct Sub<C, I, M> {
    child: C,
    input: I,
    out: M,
    retains_state: bool,
}

impl<S, C, I, M, O> DynNode<S> for Sub<C, I, M>
where
    S: State,
    C: Flow + Clone,
    I: Fn(&S, &Scope) -> Result<<C::State as State>::Input, BoxError> + Send + Sync + 'static,
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
                (self.input)(state, scope)?,
                &self.out,
                effects,
                self.retains_state,
            )
            .await
        })
    }

    fn require(&self, requirements: &mut Requirements<'_>) {
        self.child.require(requirements);
    }

    fn retain_state(&mut self) {
        self.retains_state = true;
    }
}
