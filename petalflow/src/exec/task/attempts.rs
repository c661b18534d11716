//! The attempts of one task: cache, retries, timeouts, middleware and events.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll::{Pending, Ready};
use std::time::Duration;

use crate::error::{BoxError, Failure, FailureKind, TooDeep};
use crate::event::EventKind;
use crate::exec::Extras;
use crate::flow::{Flow, Step};
use crate::future::{BoxFuture, caught};
use crate::middleware::{Innermost, Next, NodeCall};
use crate::node::{Effects, LastActivity, Scope};
use crate::policy::pause;
use crate::state::State;

/// Runs a task until an attempt succeeds or no retry is left. Each attempt begins without writes.
pub(in crate::exec) async fn run_attempts<F: Flow>(
    flow: &F,
    extras: &Extras<F::State>,
    scope: &mut Scope,
    state: &F::State,
    effects: &mut Effects<F::State>,
) -> Result<(), Failure> {
    if extras.sink.is_some() {
        scope.set_info();
    }
    let cached = extras
        .find_cached
        .and_then(|find| find(flow.name(), scope, state));
    if let Some(cached) = &cached
        && cached.load(scope, effects).await
    {
        emit_finished(extras, scope, effects, true);
        return Ok(());
    }
    scope.attempt = 0;
    loop {
        scope.attempt += 1;
        effects.clear();
        if let Some(sink) = extras.sink.as_ref().filter(|sink| sink.wants_progress()) {
            sink.send(scope.event(EventKind::NodeStarted));
        }
        let failure = match run_attempt(flow, extras, scope, state, effects).await {
            Ok(()) => {
                if scope.attempt > 1 {
                    scope.shared.set_retried(scope.task_id(), None);
                }
                if let Some(cached) = &cached {
                    cached.save(scope, effects).await;
                }
                emit_finished(extras, scope, effects, false);
                return Ok(());
            }
            Err(failure) => failure,
        };
        let Some(wait) = wait_before_next(scope, &failure) else {
            effects.clear();
            if scope.attempt > 1 {
                scope.shared.set_retried(scope.task_id(), None);
            }
            emit(Some(extras), scope, || EventKind::NodeFailed {
                error: failure.describe(scope),
            });
            return Err(failure);
        };
        let error = failure.describe(scope);
        scope.shared.set_retried(scope.task_id(), Some(&error));
        emit(Some(extras), scope, || EventKind::Retry { error, wait });
        pause(wait).await;
    }
}

/// The time before the next attempt. `None` if none follows.
fn wait_before_next(scope: &Scope, failure: &Failure) -> Option<Duration> {
    // A panic and an endless recursion are defects and not transient faults, so they are not retried.
    if failure.kind() == FailureKind::Panic || failure.source().is::<TooDeep>() {
        return None;
    }
    let policy = &scope.shared.plan.policies[scope.node.index()];
    policy.wait_after(scope.attempt, failure.source())
}

fn emit_finished<S: State>(extras: &Extras<S>, scope: &Scope, effects: &Effects<S>, cached: bool) {
    emit(Some(extras), scope, || EventKind::NodeFinished {
        update: effects.update.clone(),
        cached,
    });
}

/// Runs one attempt within its timeouts.
async fn run_attempt<F: Flow>(
    flow: &F,
    extras: &Extras<F::State>,
    scope: &mut Scope,
    state: &F::State,
    effects: &mut Effects<F::State>,
) -> Result<(), Failure> {
    let policy = &scope.shared.plan.policies[scope.node.index()];
    let (timeout, idle) = (policy.timeout, policy.idle);
    let activity = idle.map(|_| Arc::new(LastActivity::new()));
    if activity.is_some() {
        scope.details_mut().activity.clone_from(&activity);
    }
    let run = pin!(run_layers(flow, extras, scope, state, effects));
    let idle = pin!(async {
        match (activity, idle) {
            (Some(activity), Some(idle)) => {
                activity.idle_for(idle).await;
                Failure::idle(idle)
            }
            _ => std::future::pending().await,
        }
    });
    let late = pin!(async {
        match timeout {
            Some(timeout) => {
                tokio::time::sleep(timeout).await;
                Failure::timeout(timeout)
            }
            None => std::future::pending().await,
        }
    });
    first_of(run, late, idle).await
}

/// The result of `run`, unless a timeout completes before it. The caller has pinned them: an `async fn` has room for an
/// argument twice.
async fn first_of<T>(
    mut run: Pin<&mut impl Future<Output = Result<T, Failure>>>,
    mut late: Pin<&mut impl Future<Output = Failure>>,
    mut idle: Pin<&mut impl Future<Output = Failure>>,
) -> Result<T, Failure> {
    std::future::poll_fn(|cx| {
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

/// Runs the node inside its middleware.
async fn run_layers<F: Flow>(
    flow: &F,
    extras: &Extras<F::State>,
    scope: &Scope,
    state: &F::State,
    effects: &mut Effects<F::State>,
) -> Result<(), Failure> {
    if extras.middleware.is_empty() {
        let mut step = Step::task(scope, state, effects);
        caught(pin!(flow.step(scope.node.as_u32(), &mut step))).await
    } else {
        let call = NodeCall {
            state,
            effects,
            scope,
        };
        // Called inside the future, so that a panic before the future is made is caught as well.
        let layers = async { Next::new(&extras.middleware, &Node(flow)).run(call).await };
        caught(pin!(layers)).await
    }
}

/// The node itself, as the innermost layer.
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
                .step(scope.node.as_u32(), &mut Step::task(scope, state, effects))
                .await
        })
    }
}

/// Sends an event of a task, if there is a listener.
pub(in crate::exec) fn emit<S: State>(
    extras: Option<&Extras<S>>,
    scope: &Scope,
    kind: impl FnOnce() -> EventKind<S>,
) {
    if let Some(sink) = extras.and_then(|extras| extras.sink.as_ref()) {
        sink.send(scope.event(kind()));
    }
}
