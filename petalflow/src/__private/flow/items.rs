//! Whether what an edge delivers is of the type that its target takes, and silence where that cannot be known.
//!
//! `(&&&probe).sent()` picks the first of three traits that applies, by the rule that a method is looked up with as few
//! references removed as possible: the target takes nothing (said elsewhere), something is sent, nothing is known.

use std::marker::PhantomData;

use self::kinds::Kind;
use crate::error::NodeError;
use crate::node::{AcceptsItem, Carries, Each, Node, Output};

pub use crate::node::Sent;
use crate::state::State;

/// Asks what an edge of the kind `K` delivers from `A` to `B`.
#[derive(Debug)]
pub struct Probe<S, A, B, K>(PhantomData<(S, A, B, K)>);

/// The list of which `B` is sent the items.
#[derive(Debug)]
pub struct SentItems<B, L>(PhantomData<(B, L)>);

/// Stands in for `B` where there is nothing to compare: it takes everything.
#[derive(Debug)]
pub enum Anything {}

impl<T> AcceptsItem<T> for Anything {}

/// The sender is a node.
#[derive(Debug)]
pub struct FromNode<N>(PhantomData<N>);

/// The sender is a sub-flow, whose `out` returns `O`.
#[derive(Debug)]
pub struct FromOut<O>(PhantomData<O>);

/// A name for the type of a node.
pub trait Named {
    type Node;
}

/// The kinds of edges that deliver something: `each`, a route by the hash of its name, a route with `each`, `catch`.
pub mod kinds {
    use std::marker::PhantomData;

    use super::{Anything, Sent, SentItems};

    /// What says that there is nothing to compare, in the form that an edge of this kind asks for.
    pub trait Kind {
        type Silence;
        const SILENCE: Self::Silence;
    }

    impl Kind for Each {
        type Silence = Sent<Anything, ()>;
        const SILENCE: Self::Silence = Sent(PhantomData);
    }

    impl<const NAME: u64> Kind for Route<NAME> {
        type Silence = Sent<Anything, ()>;
        const SILENCE: Self::Silence = Sent(PhantomData);
    }

    impl<const NAME: u64> Kind for RouteEach<NAME> {
        type Silence = SentItems<Anything, Vec<()>>;
        const SILENCE: Self::Silence = SentItems(PhantomData);
    }

    impl Kind for Catch {
        type Silence = Sent<Anything, ()>;
        const SILENCE: Self::Silence = Sent(PhantomData);
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

/// Who sends.
pub trait Sender<S> {
    type Routing;
}

impl<S: State, N: Node<S>> Sender<S> for FromNode<N> {
    type Routing = <N::Output as Output<S>>::Routing;
}

impl<S: State, O: Output<S>> Sender<S> for FromOut<O> {
    type Routing = O::Routing;
}

/// Who is sent to, and what it takes: `()` for nothing.
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

/// The target takes nothing.
pub trait DeliversNothing {
    type Silence;
    fn sent(&self) -> Self::Silence;
}

impl<S, A, B: Receiver<S, Item = ()>, K: Kind> DeliversNothing for &&Probe<S, A, B, K> {
    type Silence = K::Silence;
    fn sent(&self) -> K::Silence {
        K::SILENCE
    }
}

/// Something is sent.
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
    type Silence;
    fn sent(&self) -> Self::Silence;
}

impl<S, A, B, K: Kind> DeliversUnknown for Probe<S, A, B, K> {
    type Silence = K::Silence;
    fn sent(&self) -> K::Silence {
        K::SILENCE
    }
}

/// A payload of which `each` can deliver the items.
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
