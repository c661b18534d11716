//! Code around a whole run.

use std::marker::PhantomData;
use std::sync::Arc;

use super::BoxFuture;
use crate::erased::{InputBox, StateBox, input_of, into_state};
use crate::outcome::RunError;
use crate::state::State;
use async_trait::async_trait;

/// Code around a whole run. It can read the input and the final state, and can skip the run. The middleware that was
/// added first is the outermost.
///
/// ```
/// use petalflow::middleware::{RunMiddleware, RunNext};
/// use petalflow::prelude::*;
/// use petalflow::{RunError, async_trait};
///
/// struct Announce;
///
/// #[async_trait]
/// impl<S: State> RunMiddleware<S> for Announce {
///     async fn around(&self, input: Option<S::Input>, next: RunNext<'_, S>) -> Result<S, RunError> {
///         println!("{} begins", S::NAME);
///         next.run(input).await
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a middleware for runs over `{S}`",
    label = "not a middleware of runs",
    note = "implement `petalflow::middleware::RunMiddleware<{S}>` for it; what runs around each node is given to `middleware`"
)]
#[async_trait]
pub trait RunMiddleware<S: State>: Send + Sync + 'static {
    /// Runs around one run. A thread that is resumed has no input.
    ///
    /// # Errors
    ///
    /// The error is the result of the run.
    ///
    /// # Cancel safety
    ///
    /// The future is dropped when the run is dropped.
    async fn around(&self, input: Option<S::Input>, next: RunNext<'_, S>) -> Result<S, RunError>;
}

/// The inner layers of a run middleware, down to the run.
///
/// ```
/// use petalflow::middleware::{RunMiddleware, RunNext};
/// use petalflow::{RunError, async_trait};
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
/// #[async_trait]
/// impl RunMiddleware<Essay> for Count {
///     async fn around(&self, input: Option<EssayInput>, next: RunNext<'_, Essay>) -> Result<Essay, RunError> {
///         let essay = next.run(input).await?;
///         println!("wrote {} characters", essay.draft.chars().count());
///         Ok(essay)
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
    any: AnyRunNext<'a>,
    state: PhantomData<fn() -> S>,
}

/// The properties of a run before it begins.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) flow: String,
    pub(crate) thread: Option<Arc<str>>,
}

impl_debug!([S: State] RunNext<'_, S>, |this| about = this.any.about, layers = this.any.layers.len());

impl<'a, S: State> RunNext<'a, S> {
    /// The name of the flow.
    pub fn flow(&self) -> &'a str {
        &self.any.about.flow
    }

    /// The name of the thread, if the run is stored.
    pub fn thread(&self) -> Option<&'a str> {
        self.any.about.thread.as_deref()
    }

    /// Runs the inner layers and the run. A thread that is resumed has no input.
    ///
    /// # Errors
    ///
    /// The error of the run or of an inner middleware.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the run.
    pub fn run(self, input: Option<S::Input>) -> BoxFuture<'a, Result<S, RunError>> {
        let input = input.map(|input| Box::new(input) as InputBox);
        let run = self.any.run(input);
        Box::pin(async move { Ok(into_state(run.await?)) })
    }
}

/// A [`RunMiddleware`] without the type of the state.
pub(crate) trait AnyRunMiddleware: Send + Sync {
    fn around<'a>(
        &'a self,
        input: Option<InputBox>,
        next: AnyRunNext<'a>,
    ) -> BoxFuture<'a, Result<StateBox, RunError>>;
}

/// A middleware for runs over `S`.
pub(crate) struct RunLayer<S, M> {
    middleware: M,
    state: PhantomData<fn() -> S>,
}

impl<S: State, M: RunMiddleware<S>> RunLayer<S, M> {
    pub(crate) fn new(middleware: M) -> Self {
        RunLayer {
            middleware,
            state: PhantomData,
        }
    }
}

impl<S: State, M: RunMiddleware<S>> AnyRunMiddleware for RunLayer<S, M> {
    fn around<'a>(
        &'a self,
        input: Option<InputBox>,
        next: AnyRunNext<'a>,
    ) -> BoxFuture<'a, Result<StateBox, RunError>> {
        let input = input.map(input_of::<S>);
        let next = RunNext {
            any: next,
            state: PhantomData,
        };
        let run = self.middleware.around(input, next);
        Box::pin(async move { Ok(Box::new(run.await?) as StateBox) })
    }
}

/// Begins the run.
type InnerRun<'a> =
    Box<dyn FnOnce(Option<InputBox>) -> BoxFuture<'a, Result<StateBox, RunError>> + Send + 'a>;

/// A [`RunNext`] without the type of the state.
pub(crate) struct AnyRunNext<'a> {
    layers: &'a [Arc<dyn AnyRunMiddleware>],
    about: &'a About,
    run: InnerRun<'a>,
}

impl<'a> AnyRunNext<'a> {
    pub(crate) fn new(
        layers: &'a [Arc<dyn AnyRunMiddleware>],
        about: &'a About,
        run: impl FnOnce(Option<InputBox>) -> BoxFuture<'a, Result<StateBox, RunError>> + Send + 'a,
    ) -> Self {
        AnyRunNext {
            layers,
            about,
            run: Box::new(run),
        }
    }

    pub(crate) fn run(self, input: Option<InputBox>) -> BoxFuture<'a, Result<StateBox, RunError>> {
        match self.layers.split_first() {
            Some((layer, layers)) => layer.around(input, AnyRunNext { layers, ..self }),
            None => (self.run)(input),
        }
    }
}
