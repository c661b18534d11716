//! One task with all that surrounds it: middleware, timeouts, retries, events.

use super::Extras;
use crate::error::{BoxError, Failure, FailureKind, NodeError};
use crate::event::EventKind;
use crate::flow::{Flow, Step};
use crate::future::{BoxFuture, caught};
use crate::middleware::{Innermost, Next, NodeCall};
use crate::node::{Effects, LastActivity, Scope};

/// Runs a task to its end: attempt after attempt, each with fresh writes.
pub(crate) async fn attempts<F: Flow>(
    flow: &F,
    extras: &Extras<F::State>,
    scope: &mut Scope,
    state: &F::State,
    effects: &mut Effects<F::State>,
) -> Result<(), Failure> {
    let cached = extras
        .cached
        .and_then(|find| find(flow.name(), scope, state));
    if let Some(cached) = &cached
        && cached.load(scope, effects).await
    {
        tell(extras, scope, || EventKind::NodeFinished {
            update: effects.update.clone(),
            cached: true,
        });
        return Ok(());
    }
    scope.attempt = 0;
    loop {
        scope.attempt += 1;
        effects.clear();
        tell(extras, scope, || EventKind::NodeStarted);
        let failure = match attempt(flow, extras, scope, state, effects).await {
            Ok(()) => {
                if let Some(cached) = &cached {
                    cached.save(scope, effects).await;
                }
                tell(extras, scope, || EventKind::NodeFinished {
                    update: effects.update.clone(),
                    cached: false,
                });
                return Ok(());
            }
            Err(failure) => failure,
        };
        // A panic is a defect, not a passing fault: it is not tried again.
        let policy = &scope.shared.plan.policies[scope.node as usize];
        let wait = if failure.kind() == FailureKind::Panic {
            None
        } else {
            policy.wait_after(scope.attempt, failure.source())
        };
        let Some(wait) = wait else {
            effects.clear();
            tell(extras, scope, || EventKind::NodeFailed {
                error: failure.describe(scope),
            });
            return Err(failure);
        };
        tell(extras, scope, || EventKind::Retry {
            error: failure.describe(scope),
            wait,
        });
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
    }
}

/// One attempt, within its timeouts.
async fn attempt<F: Flow>(
    flow: &F,
    extras: &Extras<F::State>,
    scope: &mut Scope,
    state: &F::State,
    effects: &mut Effects<F::State>,
) -> Result<(), Failure> {
    let policy = &scope.shared.plan.policies[scope.node as usize];
    let (timeout, idle) = (policy.timeout, policy.idle);
    scope.activity = idle.map(|_| LastActivity::new().into());
    let activity = scope.activity.clone();
    let run = layered(flow, extras, scope, state, effects);
    let idle = async {
        match (activity, idle) {
            (Some(activity), Some(idle)) => {
                activity.stopped(idle).await;
                Failure::idle(idle)
            }
            _ => std::future::pending().await,
        }
    };
    let late = async {
        match timeout {
            Some(timeout) => {
                tokio::time::sleep(timeout).await;
                Failure::timeout(timeout)
            }
            None => std::future::pending().await,
        }
    };
    first(run, idle, late).await
}

/// The result of `run`, unless one of the others completes before it.
async fn first<T>(
    run: impl Future<Output = Result<T, Failure>>,
    idle: impl Future<Output = Failure>,
    late: impl Future<Output = Failure>,
) -> Result<T, Failure> {
    let (mut run, mut idle, mut late) = (
        std::pin::pin!(run),
        std::pin::pin!(idle),
        std::pin::pin!(late),
    );
    std::future::poll_fn(|cx| {
        use std::task::Poll::{Pending, Ready};
        if let Ready(result) = run.as_mut().poll(cx) {
            return Ready(result);
        }
        if let Ready(failure) = late.as_mut().poll(cx) {
            return Ready(Err(failure));
        }
        if let Ready(failure) = idle.as_mut().poll(cx) {
            return Ready(Err(failure));
        }
        Pending
    })
    .await
}

/// The node inside its middleware.
async fn layered<F: Flow>(
    flow: &F,
    extras: &Extras<F::State>,
    scope: &Scope,
    state: &F::State,
    effects: &mut Effects<F::State>,
) -> Result<(), Failure> {
    if extras.middleware.is_empty() {
        caught(flow.step(scope.node, &mut Step::task(scope, state, effects))).await
    } else {
        let call = NodeCall {
            state,
            effects,
            scope,
        };
        // Called inside, so that a panic before the future is made is caught as well.
        caught(async { Next::new(&extras.middleware, &Node(flow)).run(call).await }).await
    }
}

struct Node<'f, F>(&'f F);

impl<F: Flow> Innermost<F::State> for Node<'_, F> {
    fn run<'a>(
        &'a self,
        NodeCall {
            scope,
            state,
            effects,
        }: NodeCall<'a, F::State>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            self.0
                .step(scope.node, &mut Step::task(scope, state, effects))
                .await
        })
    }
}

fn tell<S: crate::state::State>(
    extras: &Extras<S>,
    scope: &Scope,
    kind: impl FnOnce() -> EventKind<S>,
) {
    if let Some(sink) = &extras.sink {
        sink.send(scope.event(kind()));
    }
}

impl Failure {
    /// The failure as data.
    pub(crate) fn describe(&self, scope: &Scope) -> NodeError {
        let message = crate::error::message_with_sources(&**self.source());
        let mut error = NodeError::new(
            scope.node(),
            &scope.shared.namespace,
            scope.superstep,
            self.kind(),
            message,
        );
        error.attempt = scope.attempt;
        error.index = scope.index();
        error
    }
}
