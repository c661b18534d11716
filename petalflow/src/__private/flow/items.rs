//! Checks that an edge delivers the type that its target takes. Reports nothing if the types are not known.
//!
//! `(&&&probe).sent()` selects the first of three traits that applies, because method lookup removes as few references as
//! possible: the target takes no item (reported elsewhere), an item is sent, nothing is known.

use std::marker::PhantomData;

use self::kinds::Kind;
use crate::error::NodeError;
use crate::node::{AcceptsItem, Carries, Each, Node, Output};

pub use crate::node::Sent;
use crate::state::State;

/// An edge of the kind `K` from `A` to `B`, to find what it delivers.
#[derive(Debug)]
pub struct Probe<S, A, B, K>(PhantomData<(S, A, B, K)>);

/// A list whose items are sent to `B`.
#[derive(Debug)]
pub struct SentItems<B, L>(PhantomData<(B, L)>);

/// Replaces `B` if there is nothing to compare. It takes every type.
#[derive(Debug)]
pub enum Anything {}

impl<T> AcceptsItem<T> for Anything {}

/// The sender is a node.
#[derive(Debug)]
pub struct FromNode<N>(PhantomData<N>);

/// The sender is a sub-flow, whose `out` returns `O`.
#[derive(Debug)]
pub struct FromOut<O>(PhantomData<O>);

/// The kinds of edges that deliver items: `each`, a route by the hash of its name, a route with `each`, `catch`.
pub mod kinds {
    use std::marker::PhantomData;

    use super::{Anything, Sent, SentItems};

    /// A value for an edge of this kind with nothing to compare.
    pub trait Kind {
        type Nothing;
        const NOTHING: Self::Nothing;
    }

    impl Kind for Each {
        type Nothing = Sent<Anything, ()>;
        const NOTHING: Self::Nothing = Sent(PhantomData);
    }

    impl<const NAME: u64> Kind for Route<NAME> {
        type Nothing = Sent<Anything, ()>;
        const NOTHING: Self::Nothing = Sent(PhantomData);
    }

    impl<const NAME: u64> Kind for RouteEach<NAME> {
        type Nothing = SentItems<Anything, Vec<()>>;
        const NOTHING: Self::Nothing = SentItems(PhantomData);
    }

    impl Kind for Catch {
        type Nothing = Sent<Anything, ()>;
        const NOTHING: Self::Nothing = Sent(PhantomData);
    }

    #[derive(Debug)]
    pub enum Each {}
    #[derive(Debug)]
    pub enum Route<const NAME: u64> {}
    #[derive(Debug)]
    pub enum RouteEach<const NAME: u64> {}
    #[derive(Debug)]
    pub enum Catch {}
}

/// The source of an edge.
pub trait Sender<S> {
    type Routing;
}

impl<S: State, N: Node<S>> Sender<S> for FromNode<N> {
    type Routing = <N::Output as Output<S>>::Routing;
}

impl<S: State, O: Output<S>> Sender<S> for FromOut<O> {
    type Routing = O::Routing;
}

/// The target of an edge. Its item is `()` if it takes none.
pub trait Receiver<S> {
    type Item;
}

impl<S: State, N: Node<S>> Receiver<S> for N {
    type Item = N::Item;
}

/// A probe between two nodes.
pub const fn probe<S, A, B, K>() -> Probe<S, A, B, K> {
    Probe(PhantomData)
}

/// A sub-flow as a sender.
pub const fn sender<S: State, A, O: Output<S>, F: Fn(A) -> O>(
    _: &F,
) -> PhantomData<(S, FromOut<O>)> {
    PhantomData
}

/// A probe from a sub-flow.
pub const fn probe_out<S, B, K, A>(_: &PhantomData<(S, A)>) -> Probe<S, A, B, K> {
    Probe(PhantomData)
}

/// The target takes no item.
pub trait DeliversNothing {
    type Nothing;
    fn sent(&self) -> Self::Nothing;
}

impl<S, A, B: Receiver<S, Item = ()>, K: Kind> DeliversNothing for &&Probe<S, A, B, K> {
    type Nothing = K::Nothing;
    fn sent(&self) -> K::Nothing {
        K::NOTHING
    }
}

/// An item is sent.
pub trait DeliversSomething {
    type Sent;
    fn sent(&self) -> Self::Sent;
}

impl<S, A: Sender<S, Routing = Each<T>>, B: Receiver<S>, T> DeliversSomething
    for &Probe<S, A, B, kinds::Each>
{
    type Sent = Sent<B, T>;
    fn sent(&self) -> Sent<B, T> {
        Sent(PhantomData)
    }
}

impl<S, A: Sender<S>, B: Receiver<S>, const NAME: u64> DeliversSomething
    for &Probe<S, A, B, kinds::Route<NAME>>
where
    A::Routing: Carries<NAME>,
{
    type Sent = Sent<B, <A::Routing as Carries<NAME>>::Payload>;
    fn sent(&self) -> Self::Sent {
        Sent(PhantomData)
    }
}

impl<S, A: Sender<S>, B: Receiver<S>, const NAME: u64> DeliversSomething
    for &Probe<S, A, B, kinds::RouteEach<NAME>>
where
    A::Routing: Carries<NAME>,
{
    type Sent = SentItems<B, <A::Routing as Carries<NAME>>::Payload>;
    fn sent(&self) -> Self::Sent {
        SentItems(PhantomData)
    }
}

impl<S, A, B: Receiver<S>> DeliversSomething for &Probe<S, A, B, kinds::Catch> {
    type Sent = Sent<B, NodeError>;
    fn sent(&self) -> Self::Sent {
        Sent(PhantomData)
    }
}

/// Nothing is known.
pub trait DeliversUnknown {
    type Nothing;
    fn sent(&self) -> Self::Nothing;
}

impl<S, A, B, K: Kind> DeliversUnknown for Probe<S, A, B, K> {
    type Nothing = K::Nothing;
    fn sent(&self) -> K::Nothing {
        K::NOTHING
    }
}

/// A payload whose items `each` can deliver.
#[diagnostic::on_unimplemented(
    message = "PF020: `each` runs its target once per item, but the route carries a `{Self}`",
    label = "needs a route that carries a `Vec`",
    note = "let the variant carry a `Vec`, or remove `each`"
)]
pub trait ItemsOf: Sized {
    type Item;

    fn items<B>(_: SentItems<B, Self>) -> Sent<B, Self::Item> {
        Sent(PhantomData)
    }
}

impl<T> ItemsOf for Vec<T> {
    type Item = T;
}
