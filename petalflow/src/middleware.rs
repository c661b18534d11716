//! Code around every node, or around the whole run.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::node::{Effects, Scope};
use crate::run::caught;
use crate::{BoxError, RunError, State};

/// A boxed future that can move between threads.
///
/// ```
/// use petalflow::middleware::BoxFuture;
///
/// fn later(n: u32) -> BoxFuture<'static, u32> {
///     Box::pin(async move { n + 1 })
/// }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// assert_eq!(later(1).await, 2);
/// # }
/// ```
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

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
    pub fn context(&self) -> crate::Context {
        self.scope.context()
    }

    /// The same call for [`Next::run`], so that what the node wrote can be looked at afterwards.
    ///
    /// ```
    /// use petalflow::Update as _;
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
/// use petalflow::{BoxError, Middleware, Next, NodeCall, middleware::BoxFuture};
///
/// struct Log;
///
/// impl<S: State> Middleware<S> for Log {
///     fn around<'a>(&'a self, call: NodeCall<'a, S>, next: Next<'a, S>) -> BoxFuture<'a, Result<(), BoxError>> {
///         Box::pin(async move {
///             println!("{} begins", call.node());
///             next.run(call).await
///         })
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
pub trait Middleware<S: State>: Send + Sync + 'static {
    /// Runs around one attempt; `next` runs what is inside, and may be dropped to keep the node from running.
    fn around<'a>(
        &'a self,
        call: NodeCall<'a, S>,
        next: Next<'a, S>,
    ) -> BoxFuture<'a, Result<(), BoxError>>;
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

    /// Runs what is inside. A thread that goes on where it stopped has no input.
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

/// Middleware of a function.
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
/// let log = from_fn(|call, next| {
///     println!("{} begins", call.node());
///     next.run(call)
/// });
/// Write::new().middleware(log).run(()).await?;
/// # Ok(())
/// # }
/// ```
pub fn from_fn<S, F>(function: F) -> impl Middleware<S>
where
    S: State,
    F: for<'a> Fn(NodeCall<'a, S>, Next<'a, S>) -> BoxFuture<'a, Result<(), BoxError>>
        + Send
        + Sync
        + 'static,
{
    FromFn(function)
}

struct FromFn<F>(F);

impl<S, F> Middleware<S> for FromFn<F>
where
    S: State,
    F: for<'a> Fn(NodeCall<'a, S>, Next<'a, S>) -> BoxFuture<'a, Result<(), BoxError>>
        + Send
        + Sync
        + 'static,
{
    fn around<'a>(
        &'a self,
        call: NodeCall<'a, S>,
        next: Next<'a, S>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        (self.0)(call, next)
    }
}

/// Middleware that applies only to some nodes.
///
/// ```
/// use petalflow::middleware::{from_fn, only};
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
/// # flow!(Write(Essay) { write });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let refuse = from_fn(|_, _| Box::pin(async { Err("not today".into()) }));
/// Write::new().middleware(only(|node| node == "publish", refuse)).run(()).await?;
/// # Ok(())
/// # }
/// ```
pub fn only<S: State>(
    which: impl Fn(&str) -> bool + Send + Sync + 'static,
    middleware: impl Middleware<S>,
) -> impl Middleware<S> {
    Only { which, middleware }
}

struct Only<P, M> {
    which: P,
    middleware: M,
}

impl<S: State, P: Fn(&str) -> bool + Send + Sync + 'static, M: Middleware<S>> Middleware<S>
    for Only<P, M>
{
    fn around<'a>(
        &'a self,
        call: NodeCall<'a, S>,
        next: Next<'a, S>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        if (self.which)(call.node()) {
            self.middleware.around(call, next)
        } else {
            next.run(call)
        }
    }
}

/// Middleware that turns a node's panic into an error, so that retries apply to it, and calls `hook` with the node's name
/// and the panic's message first.
///
/// Without it a panic fails the node as well, but is not tried again.
///
/// ```
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { panic!("no paper") }
/// # flow!(Write(Essay) { write });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let recover = petalflow::middleware::recover(|node, message| eprintln!("{node}: {message}"));
/// let error = Write::new().middleware(recover).run(()).await.err().unwrap();
/// assert!(error.to_string().contains("no paper"));
/// # }
/// ```
pub fn recover<S: State>(hook: impl Fn(&str, &str) + Send + Sync + 'static) -> impl Middleware<S> {
    Recover(hook)
}

struct Recover<H>(H);

impl<S: State, H: Fn(&str, &str) + Send + Sync + 'static> Middleware<S> for Recover<H> {
    fn around<'a>(
        &'a self,
        call: NodeCall<'a, S>,
        next: Next<'a, S>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            let scope = call.scope;
            let failure = match caught(async { next.run(call).await }).await {
                Ok(()) => return Ok(()),
                Err(failure) => failure,
            };
            if failure.kind() == crate::FailureKind::Panic {
                (self.0)(scope.node(), &failure.source().to_string());
            }
            Err(failure.into_source())
        })
    }
}

/// Code around a whole run: it sees the input and the final state, and may keep the run from happening. The first that is
/// added is the outermost.
///
/// ```
/// use petalflow::middleware::{BoxFuture, RunMiddleware, RunNext};
/// use petalflow::prelude::*;
/// use petalflow::RunError;
///
/// struct Announce;
///
/// impl<S: State> RunMiddleware<S> for Announce {
///     fn around<'a>(&'a self, input: Option<S::Input>, next: RunNext<'a, S>) -> BoxFuture<'a, Result<S, RunError>> {
///         Box::pin(async move {
///             println!("{} begins", S::NAME);
///             next.run(input).await
///         })
///     }
/// }
/// ```
pub trait RunMiddleware<S: State>: Send + Sync + 'static {
    /// Runs around one run.
    fn around<'a>(
        &'a self,
        input: Option<S::Input>,
        next: RunNext<'a, S>,
    ) -> BoxFuture<'a, Result<S, RunError>>;
}

/// The run itself, ready to be given its input, if it has one.
type InnerRun<'a, S> =
    Box<dyn FnOnce(Option<<S as State>::Input>) -> BoxFuture<'a, Result<S, RunError>> + Send + 'a>;

/// What is inside a run middleware: the next one, or the run.
///
/// ```
/// use petalflow::RunError;
/// use petalflow::middleware::{BoxFuture, RunMiddleware, RunNext};
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
/// # flow!(Write(Essay) { write });
///
/// /// Says how much was written.
/// struct Count;
///
/// impl RunMiddleware<Essay> for Count {
///     fn around<'a>(&'a self, input: Option<EssayInput>, next: RunNext<'a, Essay>) -> BoxFuture<'a, Result<Essay, RunError>> {
///         Box::pin(async move {
///             let essay = next.run(input).await?;
///             println!("wrote {} characters", essay.draft.chars().count());
///             Ok(essay)
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// assert_eq!(Write::new().run_middleware(Count).run(()).await?.draft, "…");
/// # Ok(())
/// # }
/// ```
pub struct RunNext<'a, S: State> {
    layers: &'a [Arc<dyn RunMiddleware<S>>],
    about: &'a About,
    run: InnerRun<'a, S>,
}

/// What there is to know of a run before it begins.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) flow: String,
    pub(crate) thread: Option<Arc<str>>,
}

impl<S: State> std::fmt::Debug for RunNext<'_, S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunNext")
            .field("about", &self.about)
            .field("layers", &self.layers.len())
            .finish_non_exhaustive()
    }
}

impl<'a, S: State> RunNext<'a, S> {
    pub(crate) fn new(
        layers: &'a [Arc<dyn RunMiddleware<S>>],
        about: &'a About,
        run: impl FnOnce(Option<S::Input>) -> BoxFuture<'a, Result<S, RunError>> + Send + 'a,
    ) -> Self {
        RunNext {
            layers,
            about,
            run: Box::new(run),
        }
    }

    /// The name of the flow.
    pub fn flow(&self) -> &'a str {
        &self.about.flow
    }

    /// The thread that the run is of, if it is stored.
    pub fn thread(&self) -> Option<&'a str> {
        self.about.thread.as_deref()
    }

    /// Runs what is inside. A thread that goes on where it stopped has no input.
    ///
    /// # Errors
    ///
    /// What the run fails with.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the run.
    pub fn run(self, input: Option<S::Input>) -> BoxFuture<'a, Result<S, RunError>> {
        match self.layers.split_first() {
            Some((layer, layers)) => layer.around(
                input,
                RunNext {
                    layers,
                    about: self.about,
                    run: self.run,
                },
            ),
            None => (self.run)(input),
        }
    }
}
