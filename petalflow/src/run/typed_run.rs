//! The future of a run.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::AnyRun;
use crate::erased::into_state;
use crate::flow::Flow;
use crate::outcome::RunError;

/// A run of a flow: a future of the final state, or a stream of [events](Self::events).
///
/// The run begins when it is first polled.
///
/// # Errors
///
/// A [`RunError`] with one of these [kinds](crate::run::RunErrorKind): a node failed after its last attempt, a write
/// was rejected, managed values are missing, or the run was stopped by its limit, a timeout or a token. The error
/// contains the last committed state.
///
/// # Panics
///
/// If it is polled again after it has ended. No panic of the program's code propagates: that of a node is a failure of the
/// node, and any other ends the run with [`RunErrorKind::Panic`](crate::run::RunErrorKind::Panic).
///
/// # Cancel safety
///
/// Dropping the future stops the run at once and drops every running node. A `blocking` node that has begun continues,
/// and its result is discarded.
///
/// ```
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Essay {
///     #[key(input)]
///     topic: String,
///     draft: String,
/// }
///
/// #[node(Essay)]
/// async fn write(topic: &str) -> EssayDraft {
///     EssayDraft(format!("about {topic}"))
/// }
///
/// flow!(Write(Essay) { write });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let essay = Write::run("petals".to_string()).await?;
/// assert_eq!(essay.draft, "about petals");
/// # Ok(())
/// # }
/// ```
#[must_use = "a run does nothing before it is awaited"]
pub struct Run<F: Flow> {
    any: AnyRun,
    flow: PhantomData<fn() -> F>,
}

impl<F: Flow> Run<F> {
    /// A run of a flow of this type.
    pub(crate) fn typed(any: AnyRun) -> Self {
        Run {
            any,
            flow: PhantomData,
        }
    }

    /// The run without the type of its flow.
    pub(crate) fn into_any(self) -> AnyRun {
        self.any
    }
}

impl<F: Flow> std::fmt::Debug for Run<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.any.fmt(f)
    }
}

impl<F: Flow> Future for Run<F> {
    type Output = Result<F::State, RunError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match Pin::new(&mut self.any).poll(cx) {
            Poll::Ready(Ok(state)) => Poll::Ready(Ok(into_state(state))),
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => Poll::Pending,
        }
    }
}
