//! Ready-made middleware: from a function, for some nodes, against panics.

use std::pin::pin;

use super::{BoxFuture, Middleware, Next, NodeCall};
use crate::error::BoxError;
use crate::future::caught;
use crate::state::State;

/// The method [`Middleware::around`], as `async_trait` would expand it. It returns the boxed future of the inner layer and
/// does not box it again. An `async fn` would do so, and rustc takes long to check one of a generic type.
macro_rules! around {
    (|$this:ident, $call:ident, $next:ident| $future:expr) => {
        fn around<'m, 'c, 'n, 'f>(
            &'m $this,
            $call: NodeCall<'c, S>,
            $next: Next<'n, S>,
        ) -> BoxFuture<'f, Result<(), BoxError>>
        where
            'm: 'f,
            'c: 'f,
            'n: 'f,
            Self: 'f,
        {
            $future
        }
    };
}

/// Creates middleware from a function.
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
    around!(|self, call, next| (self.0)(call, next));
}

/// Applies a middleware to some nodes only.
///
/// ```
/// use petalflow::middleware::{for_nodes, from_fn};
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
/// # flow!(Write(Essay) { write });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let refuse = from_fn(|_, _| Box::pin(async { Err("not today".into()) }));
/// Write::new().middleware(for_nodes(|node| node == "publish", refuse)).run(()).await?;
/// # Ok(())
/// # }
/// ```
pub fn for_nodes<S: State>(
    which: impl Fn(&str) -> bool + Send + Sync + 'static,
    middleware: impl Middleware<S>,
) -> impl Middleware<S> {
    ForNodes { which, middleware }
}

struct ForNodes<P, M> {
    which: P,
    middleware: M,
}

impl<S: State, P: Fn(&str) -> bool + Send + Sync + 'static, M: Middleware<S>> Middleware<S>
    for ForNodes<P, M>
{
    around!(|self, call, next| {
        if (self.which)(call.node()) {
            self.middleware.around(call, next)
        } else {
            next.run(call)
        }
    });
}

/// Converts a node's panic to an error, so that retries apply to it. First calls `hook` with the node's name and the
/// panic's message.
///
/// Without it, a panic also fails the node, but is not retried.
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
    around!(|self, call, next| run_and_recover(&self.0, call, next));
}

fn run_and_recover<'a, S: State>(
    hook: &'a (dyn Fn(&str, &str) + Send + Sync),
    call: NodeCall<'a, S>,
    next: Next<'a, S>,
) -> BoxFuture<'a, Result<(), BoxError>> {
    Box::pin(async move {
        let scope = call.scope;
        let failure = match caught(pin!(async { next.run(call).await })).await {
            Ok(()) => return Ok(()),
            Err(failure) => failure,
        };
        if failure.kind() == crate::error::FailureKind::Panic {
            hook(scope.node(), &failure.source().to_string());
        }
        Err(failure.into_source())
    })
}
