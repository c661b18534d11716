//! The dispatch from the index of a node to its future.
//!
//! Nothing in generated code takes rustc longer to check than an `.await`, and a dispatch has one per node. So all of them are
//! here, generic over the types of the nodes, and are checked once. A flow contains only the lists of its types.

use std::convert::Infallible;
use std::future::Future;
use std::marker::PhantomData;

use super::{BROKEN, Spec};
use crate::error::BoxError;
use crate::flow::Step;
use crate::node::{Node, Output, node_spec};
use crate::state::State;

/// A node, or a range of nodes, of the flow `F`. `T` is the result of a run.
pub trait Arm<F, S, T>: 'static {
    type Output;

    /// The properties that its type determines.
    const SPEC: Spec;

    /// Runs it.
    fn call<'a>(
        flow: &'a F,
        node: u32,
        step: &'a mut Step<'_, S>,
    ) -> impl Future<Output = Self::Output> + Send + 'a
    where
        S: State;

    /// Applies what it returned. Apart from [`call`](Self::call), so that the future of a function is in that of the dispatch,
    /// and not in another one.
    fn finish(output: Self::Output, step: &mut Step<'_, S>) -> Result<T, BoxError>
    where
        S: State;
}

/// The properties of a node, without its name in the flow.
const fn spec<S: State, N: Node<S>>(lacks_value: bool) -> Spec {
    Spec {
        node: node_spec!(S, N::Output, name: N::NAME, reads: N::READS, all: N::READS_ALL, takes: N::TAKES_ITEM, policy: N::POLICY, item: N::ITEM_CODEC, broken: false),
        require: N::require,
        lacks_value,
    }
}

/// An annotated function.
#[derive(Debug)]
pub struct FunctionArm<N>(PhantomData<N>);

impl<F, S: State, N: Node<S>> Arm<F, S, ()> for FunctionArm<N> {
    type Output = N::Output;
    const SPEC: Spec = spec::<S, N>(N::FUNCTION.is_none());

    fn call<'a>(
        _: &'a F,
        _: u32,
        step: &'a mut Step<'_, S>,
    ) -> impl Future<Output = N::Output> + Send + 'a {
        const { function::<S, N>() }.run(step.state(), step.scope())
    }

    fn finish(output: N::Output, step: &mut Step<'_, S>) -> Result<(), BoxError> {
        output.apply(step.effects())
    }
}

/// The checks of the flow report a node that is not a function.
const fn function<S: State, N: Node<S>>() -> &'static N {
    N::FUNCTION.expect("the flow declares the values of its nodes")
}

/// A node value: where the flow `F` has it.
pub trait Field<F>: 'static {
    type Node;

    fn get(flow: &F) -> &Self::Node;
}

/// The arm of a node value.
#[derive(Debug)]
pub struct ValueArm<V>(PhantomData<V>);

impl<F: Sync + 'static, S: State, V: Field<F, Node: Node<S>>> Arm<F, S, ()> for ValueArm<V> {
    type Output = <V::Node as Node<S>>::Output;
    const SPEC: Spec = spec::<S, V::Node>(false);

    fn call<'a>(
        flow: &'a F,
        _: u32,
        step: &'a mut Step<'_, S>,
    ) -> impl Future<Output = Self::Output> + Send + 'a {
        V::get(flow).run(step.state(), step.scope())
    }

    fn finish(output: Self::Output, step: &mut Step<'_, S>) -> Result<(), BoxError> {
        output.apply(step.effects())
    }
}

/// Fills a dispatch. No node has its index.
#[derive(Debug)]
pub enum NoArm {}

#[diagnostic::do_not_recommend]
impl<F, S: State, T> Arm<F, S, T> for NoArm {
    type Output = Infallible;
    const SPEC: Spec = BROKEN;

    fn call<'a>(
        _: &'a F,
        node: u32,
        _: &'a mut Step<'_, S>,
    ) -> impl Future<Output = Infallible> + Send + 'a {
        async move { no_node(node) }
    }

    fn finish(output: Infallible, _: &mut Step<'_, S>) -> Result<T, BoxError> {
        match output {}
    }
}

/// A range of nodes with a dispatch of its own.
#[derive(Debug)]
pub struct RangeArm<C>(PhantomData<C>);

#[diagnostic::do_not_recommend]
impl<F: Sync + 'static, S: State, C: Upto32<F, S, Rest = Option<u32>>> Arm<F, S, Option<u32>>
    for RangeArm<C>
{
    type Output = Result<Option<u32>, BoxError>;
    const SPEC: Spec = BROKEN;

    fn call<'a>(
        flow: &'a F,
        node: u32,
        step: &'a mut Step<'_, S>,
    ) -> impl Future<Output = Result<Option<u32>, BoxError>> + Send + 'a {
        upto32::<C, F, S>(flow, node, step)
    }

    fn finish(output: Self::Output, _: &mut Step<'_, S>) -> Self::Output {
        output
    }
}

/// The result of an arm.
pub trait Below: Send + 'static {
    /// The next node, if the dispatch continues.
    fn next<S: State>(self, step: &mut Step<'_, S>) -> Option<u32>;
}

/// A node ran. The barrier decides whether another follows.
impl Below for () {
    #[inline]
    fn next<S: State>(self, step: &mut Step<'_, S>) -> Option<u32> {
        step.advance()
    }
}

/// A range has no arm for this next node.
impl Below for Option<u32> {
    fn next<S: State>(self, _: &mut Step<'_, S>) -> Option<u32> {
        self
    }
}

/// The result of a dispatch.
pub trait End: Send + 'static {
    /// No node follows.
    const NONE: Self;

    /// This node follows. The dispatch has no arm for it.
    fn other(node: u32) -> Self;
}

/// The outermost dispatch has an arm for each node.
impl End for () {
    const NONE: Self = ();

    fn other(node: u32) -> Self {
        no_node(node)
    }
}

/// The outer dispatch continues.
impl End for Option<u32> {
    const NONE: Self = None;

    fn other(node: u32) -> Self {
        Some(node)
    }
}

/// Panics for an index that the graph does not have.
#[cold]
fn no_node(index: u32) -> ! {
    unreachable!("the macro numbers the nodes, and there is no node {index}")
}

/// A dispatch of up to this many arms: the trait that a flow implements, and the function. It continues with the next node as
/// long as [`Step::advance`] returns one and there is an arm for it.
///
/// The arms are associated types of one type, so that symbols and the types of futures do not list all of them.
macro_rules! dispatch {
    ($function:ident $trait:ident $($index:literal $arm:ident)*) => {
        pub trait $trait<F, S>: 'static {
            /// The number of nodes of one arm.
            const WIDTH: u32 = 1;
            /// The first arm.
            const FIRST: u32 = 0;
            type Below: Below;
            type Rest: End;
            $(type $arm: Arm<F, S, Self::Below>;)*
            /// The properties of the arms.
            const SPECS: &'static [Spec] = &[$(<Self::$arm as Arm<F, S, Self::Below>>::SPEC),*];
        }

        // Inlined, so that it is compiled beside the nodes.
        pub fn $function<'a, C: $trait<F, S>, F: Sync + 'static, S: State>(
            flow: &'a F,
            mut node: u32,
            step: &'a mut Step<'_, S>,
        ) -> impl Future<Output = Result<C::Rest, BoxError>> + Send + 'a {
            async move {
                loop {
                    let result = match (node / C::WIDTH).wrapping_sub(C::FIRST) {
                        $($index => {
                            let output = C::$arm::call(flow, node, step).await;
                            C::$arm::finish(output, step)
                        })*
                        _ => return Ok(C::Rest::other(node)),
                    };
                    match result {
                        Ok(below) => match below.next(step) {
                            Some(next) => node = next,
                            None => return Ok(C::Rest::NONE),
                        },
                        Err(error) => return Err(error),
                    }
                }
            }
        }
    };
}

// Few sizes, because rustc takes long to check them. A list of another length has empty arms.
dispatch!(upto4 Upto4 0 A0 1 A1 2 A2 3 A3);
dispatch!(upto16 Upto16 0 A0 1 A1 2 A2 3 A3 4 A4 5 A5 6 A6 7 A7 8 A8 9 A9 10 A10 11 A11 12 A12 13 A13 14 A14 15 A15);
dispatch!(upto32 Upto32 0 A0 1 A1 2 A2 3 A3 4 A4 5 A5 6 A6 7 A7 8 A8 9 A9 10 A10 11 A11 12 A12 13 A13 14 A14 15 A15 16 A16 17 A17 18 A18 19 A19 20 A20 21 A21 22 A22 23 A23 24 A24 25 A25 26 A26 27 A27 28 A28 29 A29 30 A30 31 A31);
