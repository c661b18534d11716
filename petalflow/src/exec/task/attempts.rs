//! The attempts of one task: cache, retries, timeouts, middleware and events.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll::{Pending, Ready};
use std::time::Duration;

use crate::erased::{AnyEffects, AnyState};
use crate::error::{BoxError, Failure, FailureKind, TooDeep};
use crate::event::AnyEventKind;
use crate::exec::Extras;
use crate::flow::AnyFlow;
use crate::future::{BoxFuture, caught};
use crate::middleware::{AnyCall, AnyNext, Innermost};
use crate::node::{LastActivity, RouteChoice, Scope};
use crate::policy::pause;

/// Runs a task until an attempt succeeds or no retry is left. Each attempt begins without writes.
pub(in crate::exec) async fn run_attempts(
    flow: &dyn AnyFlow,
    extras: &Extras,
    scope: &mut Scope,
    state: &dyn AnyState,
    effects: &mut dyn AnyEffects,
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
        scope.life.renew();
        effects.clear();
        if let Some(sink) = extras.sink.as_ref().filter(|sink| sink.wants_progress()) {
            sink.send(scope.event(AnyEventKind::NodeStarted));
        }
        let failure = match run_attempt(flow, extras, scope, state, effects).await {
            Ok(()) => {
                if scope.attempt > 1 {
                    scope.shared.set_retried(scope.task_id(), None);
                }
                if let Some(cached) = &cached
                    && !was_answered(scope)
                {
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
            emit(Some(extras), scope, || AnyEventKind::NodeFailed {
                error: failure.describe(scope),
            });
            return Err(failure);
        };
        let error = failure.describe(scope);
        scope.shared.set_retried(scope.task_id(), Some(&error));
        emit(Some(extras), scope, || AnyEventKind::Retry { error, wait });
        pause(wait).await;
    }
}

/// Whether a person has answered a question of the task. Its result is for this thread alone.
fn was_answered(scope: &Scope) -> bool {
    let services = scope.shared.services.as_ref();
    services.is_some_and(|services| services.was_answered(scope.task_id()))
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

fn emit_finished(extras: &Extras, scope: &Scope, effects: &dyn AnyEffects, cached: bool) {
    emit(Some(extras), scope, || AnyEventKind::NodeFinished {
        update: effects.clone_writes(),
        cached,
    });
}

/// Runs one attempt within its timeouts.
async fn run_attempt(
    flow: &dyn AnyFlow,
    extras: &Extras,
    scope: &mut Scope,
    state: &dyn AnyState,
    effects: &mut dyn AnyEffects,
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
async fn run_layers(
    flow: &dyn AnyFlow,
    extras: &Extras,
    scope: &Scope,
    state: &dyn AnyState,
    effects: &mut dyn AnyEffects,
) -> Result<(), Failure> {
    if extras.middleware.is_empty() {
        caught(pin!(flow.run_node(scope, state, effects))).await
    } else {
        let call = AnyCall {
            state,
            effects: &mut *effects,
            scope,
        };
        // Called inside the future, so that a panic before the future is made is caught as well.
        let layers = async {
            AnyNext::new(&extras.middleware, &Node(flow))
                .run(call)
                .await
        };
        caught(pin!(layers)).await?;
        check_choice(scope, effects)
    }
}

/// Fails if a node that chooses a route has chosen none: then middleware has not run it, and its path would end here.
fn check_choice(scope: &Scope, effects: &dyn AnyEffects) -> Result<(), Failure> {
    if effects.chosen() != RouteChoice::Edges || !scope.shared.plan.chooses(scope.node) {
        return Ok(());
    }
    let problem = format!(
        "middleware did not run node `{}`, which chooses a route, and chose none: run the node, or choose with `call.effects.choose(..)`",
        scope.node()
    );
    Err(Failure::error(problem.into()))
}

/// The node itself, as the innermost layer.
struct Node<'f>(&'f dyn AnyFlow);

impl Innermost for Node<'_> {
    fn run<'a>(&'a self, call: AnyCall<'a>) -> BoxFuture<'a, Result<(), BoxError>> {
        self.0.run_node(call.scope, call.state, call.effects)
    }
}

/// Sends an event of a task, if there is a listener.
pub(in crate::exec) fn emit(
    extras: Option<&Extras>,
    scope: &Scope,
    kind: impl FnOnce() -> AnyEventKind,
) {
    if let Some(sink) = extras.and_then(|extras| extras.sink.as_ref()) {
        sink.send(scope.event(kind()));
    }
}
