//! What the driver waits for while tasks run: their end, their requests, or a stop.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use petalflow_graph::NodeIdx;

use crate::error::Failure;
use crate::exec::control::abort::Abort;
use crate::exec::control::watch::{Stop, Watch, poll_watch, watched};
use crate::exec::persistence::task_end::TaskEnd;
use crate::exec::persistence::{Committed, Persistence};
use crate::node::RunShared;
use crate::state::State;
use crate::task_services::{DriverRequest, Services};

/// What the driver waited for.
pub(in crate::exec) enum TaskEvent<T> {
    Ended(T),
    Requested(DriverRequest),
}

/// Waits until a task ends, a task requests something, or something stops the run. They are polled in this order, in one
/// future.
pub(in crate::exec) fn next_event<T>(
    watch: &mut Option<Box<Watch>>,
    services: Option<&dyn Services>,
    mut tasks: Pin<&mut (impl Future<Output = T> + Send)>,
) -> impl Future<Output = Result<TaskEvent<T>, Stop>> + Send {
    poll_fn(move |cx| {
        if let Poll::Ready(ended) = tasks.as_mut().poll(cx) {
            return Poll::Ready(Ok(TaskEvent::Ended(ended)));
        }
        if let Some(Poll::Ready(request)) = services.map(|services| services.poll_request(cx)) {
            return Poll::Ready(Ok(TaskEvent::Requested(request)));
        }
        poll_watch(watch, cx).map(Err)
    })
}

/// Serves the request of a task.
pub(in crate::exec) async fn serve<S: State, P: Persistence<S>>(
    request: DriverRequest,
    watch: &mut Option<Box<Watch>>,
    persistence: &mut P,
    committed: Committed<'_, S>,
) -> Result<(), Abort<S>> {
    match request {
        DriverRequest::Abort(problem) => Err(Abort::of_task(problem.0, problem.1)),
        DriverRequest::Flush => watched(watch, persistence.flush(committed))
            .await
            .map_err(Abort::stopped)?
            .map_err(Abort::of_thread),
    }
}

/// Runs a task until it ends or waits for an answer. A task that waits is dropped, and runs again when there is an answer.
/// `task` is its superstep, its node and its send index.
pub(in crate::exec) async fn run_until_question(
    shared: &RunShared,
    (superstep, node, send): (u64, NodeIdx, Option<u32>),
    end: &mut TaskEnd,
    mut attempts: Pin<&mut (dyn Future<Output = Result<(), Failure>> + Send + '_)>,
) -> Result<(), Failure> {
    let Some(services) = &shared.services else {
        return attempts.await;
    };
    // Most tasks end when they are polled first, and then nothing needs their id.
    let id = || shared.task_id(superstep, node, send);
    let mut pending = None;
    let result = poll_fn(|cx| match attempts.as_mut().poll(cx) {
        Poll::Ready(result) => Poll::Ready(Some(result)),
        Poll::Pending => {
            let task = *pending.get_or_insert_with(id);
            services.poll_waiting(task, cx).map(|()| None)
        }
    })
    .await;
    let Some(result) = result else {
        *end = TaskEnd::Waiting;
        return Ok(());
    };
    if pending.is_some() || services.has_questions() {
        // The task ended without the answer, for example because it asked in a `select!`.
        services.withdraw(pending.unwrap_or_else(id));
    }
    result
}
