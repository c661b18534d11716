//! Code around a whole run.

use std::sync::Arc;

use super::BoxFuture;
use crate::outcome::RunError;
use crate::state::State;
use async_trait::async_trait;

/// Code around a whole run: it sees the input and the final state, and may keep the run from happening. The first that is
/// added is the outermost.
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
#[async_trait]
pub trait RunMiddleware<S: State>: Send + Sync + 'static {
    /// Runs around one run. A thread that goes on where it stopped has no input.
    ///
    /// # Errors
    ///
    /// They are those of the run, for whoever awaits it.
    ///
    /// # Cancel safety
    ///
    /// The future is dropped where the run is.
    async fn around(&self, input: Option<S::Input>, next: RunNext<'_, S>) -> Result<S, RunError>;
}

/// The run itself, ready to be given its input, if it has one.
type InnerRun<'a, S> =
    Box<dyn FnOnce(Option<<S as State>::Input>) -> BoxFuture<'a, Result<S, RunError>> + Send + 'a>;

/// What is inside a run middleware: the next one, or the run.
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
