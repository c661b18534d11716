//! Sub-flows: flows as nodes of other flows.

use std::sync::Arc;

use crate::cache::RunCache;
use crate::cancel_token::RunToken;
use crate::checkpoint::OnBusy;
use crate::clock::to_ms;
use crate::durable::{Command, Nested, ThreadStart};
use crate::erased::{InputBox, StateBox, into_state};
use crate::error::{BoxError, TooDeep};
use crate::event::{AnyEvent, LogEntry, NestedEvent, ParentSink};
use crate::exec::{Begin, Extras, Settings, Start, drive};
use crate::flow::AnyFlow;
use crate::flow::Flow;
use crate::ids::Namespace;
use crate::middleware::AnyMiddleware;
use crate::node::Context;
use crate::node::{Effects, ManagedValues, NoKeep, Output, Scope};
use crate::outcome::{RunError, RunErrorKind};
use crate::state::State;
use crate::task_services::{ParentTask, TaskServices, outlived_error};

/// Runs a sub-flow inside one superstep of its parent: all its supersteps, in the namespace of its node. The limit of its
/// parent applies to it too, and counts its own supersteps. Cancellation, managed values and events are the parent's. Only
/// the result of `out` reaches the parent's state. A flow that retains its
/// state continues with it on the next call of the same thread, or of the same run if that is not stored.
#[doc(hidden)]
pub async fn subflow<C: Flow, S: State, I: Into<<C::State as State>::Input>, O: Output<S>>(
    child: C,
    scope: &Scope,
    input: I,
    out: impl FnOnce(C::State) -> O,
    effects: &mut Effects<S>,
    retains_state: bool,
) -> Result<(), BoxError> {
    let namespace = scope
        .shared
        .namespace
        .child(scope.stored_name(), scope.index());
    let call = Call {
        namespace,
        limit: scope.shared.launch_limit(),
        managed: scope.shared.managed.clone(),
        input: Box::new(Into::<<C::State as State>::Input>::into(input)),
        retains_state,
        nest: NestedEvent::of::<C::State>,
    };
    let state = run_subflow(Arc::new(child), scope, call).await?;
    out(into_state(state)).apply(effects)
}

/// A launch that a node runs.
pub(crate) struct NestedLaunch {
    pub(crate) flow: Arc<dyn AnyFlow>,
    pub(crate) limit: u64,
    /// The managed values of the launch, which come before those of the parent.
    pub(crate) managed: Option<Arc<ManagedValues>>,
    pub(crate) input: InputBox,
    pub(crate) nest: fn(AnyEvent, Option<LogEntry>) -> NestedEvent,
}

/// Runs a sub-flow inside a node that calls it: like [`subflow`], in the node's namespace and with its own name.
pub(crate) async fn run_nested(
    launch: NestedLaunch,
    cx: &Context,
    name: &str,
) -> Result<StateBox, BoxError> {
    let scope = Scope::from(cx);
    if scope.life.is_over() {
        return Err(outlived_error(scope.node(), "run"));
    }
    let node = scope
        .shared
        .namespace
        .child(scope.stored_name(), scope.index());
    let parent = scope.shared.managed.as_ref();
    let managed = match launch.managed {
        Some(own) => Some(own.above(parent)),
        None => parent.cloned(),
    };
    let call = Call {
        namespace: node.child(name, None),
        limit: launch.limit,
        managed,
        input: launch.input,
        retains_state: false,
        nest: launch.nest,
    };
    run_subflow(launch.flow, &scope, call).await
}

/// A call of a sub-flow by a node.
struct Call {
    namespace: Namespace,
    limit: u64,
    managed: Option<Arc<ManagedValues>>,
    input: InputBox,
    /// Whether the next call of the same thread continues with the state.
    retains_state: bool,
    /// Makes an event of the sub-flow an event of its parent.
    nest: fn(AnyEvent, Option<LogEntry>) -> NestedEvent,
}

async fn run_subflow(
    child: Arc<dyn AnyFlow>,
    scope: &Scope,
    call: Call,
) -> Result<StateBox, BoxError> {
    let shared = &scope.shared;
    if shared.depth >= shared.max_depth {
        let error = TooDeep {
            flow: child.name().to_string(),
            max_depth: shared.max_depth,
        };
        return Err(error.into());
    }
    let of_item = scope.index().map(|_| NoKeep::Item);
    if call.retains_state
        && let Some(no_keep) = shared.no_keep.or(of_item)
    {
        return Err(no_keep.refuse(call.namespace.as_str()).into());
    }
    let cache = shared.managed.as_ref().and_then(|managed| managed.get());
    let find_cached = cache.map(|_: Arc<RunCache>| crate::durable::find_cached as _);
    let parent = shared.listener.clone();
    let sink = parent.map(|listener| {
        let wants_values = listener.wants_values();
        let copy_state = wants_values.then(child.state_type().copier).flatten();
        Arc::new(ParentSink {
            listener,
            copy_state,
            nest: call.nest,
        }) as _
    });
    let middleware = replay_middleware(shared.services.as_deref());
    let has_extras = sink.is_some() || find_cached.is_some() || !middleware.is_empty();
    let settings = Settings {
        limit: call.limit,
        max_depth: shared.max_depth,
        parent: Some(Arc::clone(shared)),
        retained_by: call.retains_state.then(|| scope.task_id()),
        no_keep: shared.no_keep.or_else(|| {
            let policy = &shared.plan.policies[scope.node.index()];
            NoKeep::inside(policy, scope.index())
        }),
        cancel: shared.cancel.as_ref().map(RunToken::for_subflow),
        managed: call.managed,
        extras: has_extras.then(|| {
            Arc::new(Extras {
                middleware,
                sink,
                find_cached,
                ..Extras::default()
            })
        }),
        namespace: call.namespace,
        // Without a store, only this distinguishes the tasks of two runs of the sub-flow, in two supersteps of its
        // parent.
        thread: Some(match &shared.services {
            Some(_) => Arc::clone(shared.thread()),
            None => scope.task_id().to_string().into(),
        }),
    };
    let services = shared.services.clone();
    let begin = match &services {
        None => Begin::Input(call.input),
        Some(services) => {
            let namespace = settings.namespace.clone();
            stored_begin(services, scope, namespace, call.input, call.retains_state)
        }
    };
    // Boxed: a flow can contain itself, and its size should not add to its parent's.
    let run = drive(Start {
        flow: child,
        settings,
        begin,
    });
    match run.await {
        Ok(state) => Ok(state),
        Err(error) => Err(node_error(error, services.as_deref(), scope).await),
    }
}

/// In a replay, what leaves the tasks that are not to run. The middleware of a launch is for the tasks of its own flow only.
fn replay_middleware(services: Option<&TaskServices>) -> Vec<Arc<dyn AnyMiddleware>> {
    #[cfg(feature = "engine")]
    if services.is_some_and(|services| services.storage.store.is_replay()) {
        return vec![Arc::new(crate::middleware::LeaveOthers)];
    }
    let _ = services;
    Vec::new()
}

/// The error of the node whose sub-flow has failed. While the node runs it does not return if the run of the parent ends here.
async fn node_error(error: RunError, services: Option<&TaskServices>, scope: &Scope) -> BoxError {
    match (services, error.kind()) {
        (Some(services), RunErrorKind::Interrupted { interrupts }) => {
            // The node waits for the interrupts of the sub-flow: no code can discard them.
            let task = scope.task_ref();
            if let Some(wakes_ms) = error.wakes_ms()
                && let Err(error) = services.sleep_of_subflow(&task, wakes_ms).await
            {
                return services.abort(&task, "run", error.into()).await;
            }
            services.wait_for(&task, interrupts.clone());
            task.wait_until_over("run").await
        }
        (Some(services), RunErrorKind::Sleeping { until }) => {
            let task = scope.task_ref();
            match services.sleep_of_subflow(&task, to_ms(*until)).await {
                Ok(()) => task.wait_until_over("run").await,
                Err(error) => services.abort(&task, "run", error.into()).await,
            }
        }
        // A task of the sub-flow was left, so the node has no result.
        #[cfg(feature = "engine")]
        (Some(services), RunErrorKind::Drained { .. }) if services.storage.store.is_replay() => {
            services.leave_for_good(scope.task_id()).await
        }
        (Some(services), RunErrorKind::Thread { .. }) => {
            // The same thread cannot be written to.
            let task = scope.task_ref();
            services.abort(&task, "run", error.into()).await
        }
        // Each level above would add its name to the text.
        _ => match error.get_ref().and_then(|error| error.downcast_ref()) {
            Some(error @ TooDeep { .. }) => error.clone().into(),
            None => error.into(),
        },
    }
}

/// The sub-flow of a stored flow is stored beside it, in its own namespace.
fn stored_begin(
    services: &Arc<TaskServices>,
    scope: &Scope,
    namespace: Namespace,
    input: InputBox,
    retains_state: bool,
) -> Begin {
    let start = ThreadStart {
        storage: services.storage.clone(),
        namespace,
        durability: services.durability,
        on_busy: OnBusy::Refuse,
        command: Command::Input(input),
        retention: services.retention,
        // Its events are among those of the outermost flow.
        event_log: None,
        discard_pending: true,
        leaves_held: false,
        begin_barrier: None,
        claimed: None,
        nested: Some(Nested {
            owner: ParentTask {
                services: Arc::clone(services),
                id: scope.task_id(),
                node: scope.node,
                index: scope.index(),
            },
            superstep: scope.superstep,
            retains_state,
            is_retry: scope.attempt > 1,
        }),
    };
    Begin::Stored(Box::new(start))
}
