//! Code around one attempt of one node.

use std::marker::PhantomData;
use std::sync::Arc;

use super::BoxFuture;
use crate::erased::{AnyEffects, AnyState, effects_mut, state_ref};
use crate::error::BoxError;
use crate::node::{Effects, Scope};
use crate::state::State;
use async_trait::async_trait;

/// One attempt of one node.
///
/// ```
/// use petalflow::middleware::from_fn;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
/// # flow!(Write(Essay) { write });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let no_retries = from_fn(|call, next| {
///     assert_eq!((call.node(), call.superstep(), call.attempt()), ("write", 1, 1));
///     next.run(call)
/// });
/// Write::new().middleware(no_retries).run(()).await?;
/// # Ok(())
/// # }
/// ```
pub struct NodeCall<'a, S: State> {
    /// The superstep's snapshot, which the node reads.
    pub state: &'a S,
    /// The writes and the routing decision of the node; empty until [`Next::run`] has returned.
    pub effects: &'a mut Effects<S>,
    pub(crate) scope: &'a Scope,
}

impl_debug!([S: State] NodeCall<'_, S>, |this| scope = this.scope, effects = this.effects);

impl<S: State> NodeCall<'_, S> {
    /// The name of the node in its graph.
    pub fn node(&self) -> &str {
        self.scope.node()
    }

    /// The number of the superstep, from 1.
    pub fn superstep(&self) -> u64 {
        self.scope.superstep
    }

    /// The attempt, from 1.
    pub fn attempt(&self) -> u32 {
        self.scope.attempt
    }

    /// The [`Context`](crate::Context) of the node.
    pub fn context(&self) -> crate::node::Context {
        self.scope.context()
    }

    /// The same call, to be passed to [`Next::run`], so that the effects can be read afterwards.
    ///
    /// ```
    /// use petalflow::middleware::from_fn;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
    /// # flow!(Write(Essay) { write });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let insist = from_fn::<Essay, _>(|mut call, next| {
    ///     Box::pin(async move {
    ///         next.run(call.reborrow()).await?;
    ///         if call.effects.update.written_any() { Ok(()) } else { Err("wrote nothing".into()) }
    ///     })
    /// });
    /// Write::new().middleware(insist).run(()).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn reborrow(&mut self) -> NodeCall<'_, S> {
        NodeCall {
            state: self.state,
            effects: &mut *self.effects,
            scope: self.scope,
        }
    }
}

/// Code around every node of a run. The middleware that was added first is the outermost.
///
/// It runs inside the node's retries and timeouts, once per attempt. Only a run with middleware has its cost: one box
/// per layer and attempt.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::middleware::{Middleware, Next, NodeCall};
/// use petalflow::{BoxError, async_trait};
///
/// struct Log;
///
/// #[async_trait]
/// impl<S: State> Middleware<S> for Log {
///     async fn around(&self, call: NodeCall<'_, S>, next: Next<'_, S>) -> Result<(), BoxError> {
///         println!("{} begins", call.node());
///         next.run(call).await
///     }
/// }
///
/// #[state]
/// struct Essay {
///     draft: String,
/// }
///
/// #[node(Essay)]
/// async fn write() -> EssayDraft {
///     EssayDraft("…".into())
/// }
///
/// flow!(Write(Essay) { write });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// Write::new().middleware(Log).run(()).await?;
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a middleware for nodes over `{S}`",
    label = "not a middleware of nodes",
    note = "implement `petalflow::Middleware<{S}>` for it, or give a closure to `petalflow::middleware::from_fn`; what runs around the whole run is given to `run_middleware`"
)]
#[async_trait]
pub trait Middleware<S: State>: Send + Sync + 'static {
    /// Runs around one attempt. `next` runs the inner layers; drop it to skip the node. A node that chooses a route then needs a
    /// choice in its place, [`Effects::choose`](crate::node::Effects::choose), or its attempt fails.
    ///
    /// # Errors
    ///
    /// An error, of the node or of the middleware, fails the attempt. The node's retries apply to it.
    ///
    /// # Cancel safety
    ///
    /// The future is dropped if the attempt ends early: by a timeout, or because the run is stopped.
    async fn around(&self, call: NodeCall<'_, S>, next: Next<'_, S>) -> Result<(), BoxError>;
}

/// The inner layers of a middleware, down to the node.
///
/// ```
/// use petalflow::middleware::from_fn;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
/// # flow!(Write(Essay) { write });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// // A dry run: what is inside never runs.
/// let skip = from_fn::<Essay, _>(|_, next| {
///     drop(next);
///     Box::pin(async { Ok(()) })
/// });
/// assert_eq!(Write::new().middleware(skip).run(()).await?.draft, "");
/// # Ok(())
/// # }
/// ```
pub struct Next<'a, S: State> {
    any: AnyNext<'a>,
    state: PhantomData<fn(&S)>,
}

impl_debug!([S: State] Next<'_, S>, |this| layers = this.any.layers.len());

impl<'a, S: State> Next<'a, S> {
    /// Runs the inner layers and the node.
    ///
    /// # Errors
    ///
    /// The error of the node or of an inner middleware.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the node's future is dropped too.
    pub fn run(self, call: NodeCall<'a, S>) -> BoxFuture<'a, Result<(), BoxError>> {
        self.any.run(AnyCall {
            state: call.state,
            effects: call.effects,
            scope: call.scope,
        })
    }
}

/// A [`NodeCall`] without the type of the state.
pub(crate) struct AnyCall<'a> {
    pub(crate) state: &'a dyn AnyState,
    pub(crate) effects: &'a mut dyn AnyEffects,
    pub(crate) scope: &'a Scope,
}

/// A [`Middleware`] without the type of the state.
pub(crate) trait AnyMiddleware: Send + Sync {
    fn around<'a>(
        &'a self,
        call: AnyCall<'a>,
        next: AnyNext<'a>,
    ) -> BoxFuture<'a, Result<(), BoxError>>;
}

/// A middleware for nodes over `S`.
pub(crate) struct Layer<S, M> {
    middleware: M,
    state: PhantomData<fn(&S)>,
}

impl<S: State, M: Middleware<S>> Layer<S, M> {
    pub(crate) fn new(middleware: M) -> Self {
        Layer {
            middleware,
            state: PhantomData,
        }
    }
}

impl<S: State, M: Middleware<S>> AnyMiddleware for Layer<S, M> {
    fn around<'a>(
        &'a self,
        call: AnyCall<'a>,
        next: AnyNext<'a>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        let call = NodeCall {
            state: state_ref::<S>(call.state),
            effects: effects_mut::<S>(call.effects),
            scope: call.scope,
        };
        let next = Next {
            any: next,
            state: PhantomData,
        };
        self.middleware.around(call, next)
    }
}

/// A [`Next`] without the type of the state.
pub(crate) struct AnyNext<'a> {
    layers: &'a [Arc<dyn AnyMiddleware>],
    node: &'a dyn Innermost,
}

/// The node itself, inside all layers.
pub(crate) trait Innermost: Send + Sync {
    fn run<'a>(&'a self, call: AnyCall<'a>) -> BoxFuture<'a, Result<(), BoxError>>;
}

impl<'a> AnyNext<'a> {
    pub(crate) fn new(layers: &'a [Arc<dyn AnyMiddleware>], node: &'a dyn Innermost) -> Self {
        AnyNext { layers, node }
    }

    pub(crate) fn run(self, call: AnyCall<'a>) -> BoxFuture<'a, Result<(), BoxError>> {
        match self.layers.split_first() {
            Some((layer, layers)) => layer.around(call, AnyNext { layers, ..self }),
            None => self.node.run(call),
        }
    }
}
