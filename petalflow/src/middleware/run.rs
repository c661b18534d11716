//! Code around a whole run.

use std::sync::Arc;

use super::BoxFuture;
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

/// The run itself, waiting for its input.
type InnerRun<'a, S> =
    Box<dyn FnOnce(Option<<S as State>::Input>) -> BoxFuture<'a, Result<S, RunError>> + Send + 'a>;

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
    layers: &'a [Arc<dyn RunMiddleware<S>>],
    about: &'a About,
    run: InnerRun<'a, S>,
}

/// The properties of a run before it begins.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) flow: String,
    pub(crate) thread: Option<Arc<str>>,
}

impl_debug!([S: State] RunNext<'_, S>, |this| about = this.about, layers = this.layers.len());

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

    /// The name of the thread, if the run is stored.
    pub fn thread(&self) -> Option<&'a str> {
        self.about.thread.as_deref()
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
