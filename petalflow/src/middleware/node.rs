//! Code around one attempt of one node.

use std::sync::Arc;

use super::BoxFuture;
use crate::error::BoxError;
use crate::node::{Effects, Scope};
use crate::state::State;
use async_trait::async_trait;

/// One attempt of one node, as middleware sees it.
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
    /// What the node wrote and chose; empty until [`Next::run`] has returned.
    pub effects: &'a mut Effects<S>,
    pub(crate) scope: &'a Scope,
}

impl<S: State> std::fmt::Debug for NodeCall<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NodeCall")
            .field("scope", &self.scope)
            .field("effects", &self.effects)
            .finish_non_exhaustive()
    }
}

impl<S: State> NodeCall<'_, S> {
    /// The name of the node in its graph.
    pub fn node(&self) -> &str {
        self.scope.node()
    }

    /// The number of the superstep, from 1.
    pub fn superstep(&self) -> u64 {
        self.scope.superstep
    }

    /// Which attempt this is, from 1.
    pub fn attempt(&self) -> u32 {
        self.scope.attempt
    }

    /// The run, as the node sees it.
    pub fn context(&self) -> crate::node::Context {
        self.scope.context()
    }

    /// The same call for [`Next::run`], so that what the node wrote can be looked at afterwards.
    ///
    /// ```
    /// use petalflow::state::Update as _;
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

/// Code around every node of a run. The first that is added is the outermost.
///
/// It runs inside the node's retries and timeouts: once per attempt. Only a run with middleware pays for it (one box per
/// layer and attempt).
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
#[async_trait]
pub trait Middleware<S: State>: Send + Sync + 'static {
    /// Runs around one attempt; `next` runs what is inside, and may be dropped to keep the node from running.
    ///
    /// # Errors
    ///
    /// They fail the attempt, whether they are the node's or the middleware's own, and the node's retries apply to them.
    ///
    /// # Cancel safety
    ///
    /// The future is dropped where the attempt ends early: by a timeout, or because the run is stopped.
    async fn around(&self, call: NodeCall<'_, S>, next: Next<'_, S>) -> Result<(), BoxError>;
}

/// What is inside a middleware: the next one, or the node.
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
    layers: &'a [Arc<dyn Middleware<S>>],
    node: &'a dyn Innermost<S>,
}

impl<S: State> std::fmt::Debug for Next<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Next")
            .field("layers", &self.layers.len())
            .finish_non_exhaustive()
    }
}

/// The node itself, with its type hidden from the layers around it.
pub(crate) trait Innermost<S: State>: Send + Sync {
    fn run<'a>(&'a self, call: NodeCall<'a, S>) -> BoxFuture<'a, Result<(), BoxError>>;
}

impl<'a, S: State> Next<'a, S> {
    pub(crate) fn new(layers: &'a [Arc<dyn Middleware<S>>], node: &'a dyn Innermost<S>) -> Self {
        Next { layers, node }
    }

    /// Runs what is inside.
    ///
    /// # Errors
    ///
    /// What the node, or a middleware on the way to it, fails with.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the node's.
    pub fn run(self, call: NodeCall<'a, S>) -> BoxFuture<'a, Result<(), BoxError>> {
        match self.layers.split_first() {
            Some((layer, layers)) => layer.around(
                call,
                Next {
                    layers,
                    node: self.node,
                },
            ),
            None => self.node.run(call),
        }
    }
}
