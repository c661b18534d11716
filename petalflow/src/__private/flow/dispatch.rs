//! From the number of a node to its future.
//!
//! An `.await` is the dearest thing in generated code to check, and a dispatch has one per node. So all of them stand here,
//! over the types of the nodes, where they are checked once and for every flow; a flow writes only the lists of its types.

use std::future::Future;
use std::marker::PhantomData;

use crate::error::BoxError;
use crate::flow::Step;
use crate::node::{FnNode, Output};
use crate::state::State;

/// What a number stands for in the flow `F`: a node, or a range of nodes. `T` is what there is to say after it ran.
pub trait Arm<F, S, T>: 'static {
    /// Runs it.
    fn call<'a>(
        flow: &'a F,
        node: u32,
        step: &'a mut Step<'_, S>,
    ) -> impl Future<Output = Result<T, BoxError>> + Send + 'a
    where
        S: State;
}

/// An annotated function.
#[derive(Debug)]
pub struct FunctionArm<N>(PhantomData<N>);

impl<F, S: State, N: FnNode<S>> Arm<F, S, ()> for FunctionArm<N> {
    #[inline]
    fn call<'a>(
        _: &'a F,
        _: u32,
        step: &'a mut Step<'_, S>,
    ) -> impl Future<Output = Result<(), BoxError>> + Send + 'a {
        async move {
            let node = N::NODE;
            let output = node.run(step.state(), step.scope()).await;
            output.apply(step.effects())
        }
    }
}

/// Fills a dispatch. No node has its number.
#[derive(Debug)]
pub enum NoArm {}

impl<F, S: State, T> Arm<F, S, T> for NoArm {
    #[inline]
    fn call<'a>(
        _: &'a F,
        node: u32,
        _: &'a mut Step<'_, S>,
    ) -> impl Future<Output = Result<T, BoxError>> + Send + 'a {
        async move { no_node(node) }
    }
}

/// A range of nodes with a dispatch of its own.
#[derive(Debug)]
pub struct RangeArm<C>(PhantomData<C>);

impl<F: Sync + 'static, S: State, C: Upto32<F, S, Rest = Option<u32>>> Arm<F, S, Option<u32>>
    for RangeArm<C>
{
    #[inline]
    fn call<'a>(
        flow: &'a F,
        node: u32,
        step: &'a mut Step<'_, S>,
    ) -> impl Future<Output = Result<Option<u32>, BoxError>> + Send + 'a {
        upto32::<C, F, S>(flow, node, step)
    }
}

/// What there is to say after an arm ran.
pub trait Below: Send + 'static {
    /// The node that follows, if the dispatch goes on.
    fn next<S: State>(self, step: &mut Step<'_, S>) -> Option<u32>;
}

/// A node ran: whether another follows is the barrier's to say.
impl Below for () {
    #[inline]
    fn next<S: State>(self, step: &mut Step<'_, S>) -> Option<u32> {
        step.advance()
    }
}

/// A range was left, for this node.
impl Below for Option<u32> {
    #[inline]
    fn next<S: State>(self, _: &mut Step<'_, S>) -> Option<u32> {
        self
    }
}

/// What a dispatch says when it is through.
pub trait End: Send + 'static {
    /// No node follows.
    const NONE: Self;

    /// This node follows, for which it has no arm.
    fn other(node: u32) -> Self;
}

/// The one at the top has an arm for every node.
impl End for () {
    const NONE: Self = ();

    #[inline]
    fn other(node: u32) -> Self {
        no_node(node)
    }
}

/// The one above takes over.
impl End for Option<u32> {
    const NONE: Self = None;

    #[inline]
    fn other(node: u32) -> Self {
        Some(node)
    }
}

/// A place that the graph does not have.
#[cold]
fn no_node(place: u32) -> ! {
    unreachable!("nodes are numbered by the macro, and {place} is not a number it gave")
}

/// A dispatch of up to so many arms: what a flow says of it, and the function that is it. It goes on from node to node as long
/// as [`Step::advance`] names one and there is an arm for it.
///
/// The arms stand behind associated types of one type, so that neither symbols nor the types of futures list them all.
macro_rules! dispatch {
    ($function:ident $trait:ident $($place:literal $arm:ident)*) => {
        pub trait $trait<F, S>: 'static {
            /// How many nodes one arm stands for.
            const WIDTH: u32;
            /// Which arm is the first.
            const FIRST: u32;
            type Below: Below;
            type Rest: End;
            $(type $arm: Arm<F, S, Self::Below>;)*
        }

        // Inlined, so that it is compiled beside the nodes.
        #[inline]
        pub fn $function<'a, C: $trait<F, S>, F: Sync + 'static, S: State>(
            flow: &'a F,
            mut node: u32,
            step: &'a mut Step<'_, S>,
        ) -> impl Future<Output = Result<C::Rest, BoxError>> + Send + 'a {
            async move {
                loop {
                    let result = match (node / C::WIDTH).wrapping_sub(C::FIRST) {
                        $($place => C::$arm::call(flow, node, step).await,)*
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

dispatch!(upto4 Upto4 0 A0 1 A1 2 A2 3 A3);
dispatch!(upto8 Upto8 0 A0 1 A1 2 A2 3 A3 4 A4 5 A5 6 A6 7 A7);
dispatch!(upto16 Upto16 0 A0 1 A1 2 A2 3 A3 4 A4 5 A5 6 A6 7 A7 8 A8 9 A9 10 A10 11 A11 12 A12 13 A13 14 A14 15 A15);
dispatch!(upto32 Upto32 0 A0 1 A1 2 A2 3 A3 4 A4 5 A5 6 A6 7 A7 8 A8 9 A9 10 A10 11 A11 12 A12 13 A13 14 A14 15 A15 16 A16 17 A17 18 A18 19 A19 20 A20 21 A21 22 A22 23 A23 24 A24 25 A25 26 A26 27 A27 28 A28 29 A29 30 A30 31 A31);
