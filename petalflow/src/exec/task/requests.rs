//! What the driver waits for while tasks run: their end, their requests, or a stop.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use crate::exec::control::abort::Abort;
use crate::exec::control::watch::{Stop, Watch, poll_watch, watched};
use crate::exec::persistence::{Committed, Persistence};
use crate::task_services::{DriverRequest, TaskServices};

/// What the driver waited for.
pub(in crate::exec) enum TaskEvent<T> {
    Ended(T),
    Requested(DriverRequest),
}

/// Waits until a task ends, a task requests something, or something stops the run. They are polled in this order, in one
/// future.
pub(in crate::exec) fn next_event<T>(
    watch: &mut Option<Box<Watch>>,
    services: Option<&TaskServices>,
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
pub(in crate::exec) async fn serve(
    request: DriverRequest,
    watch: &mut Option<Box<Watch>>,
    persistence: &mut dyn Persistence,
    committed: Committed<'_>,
) -> Result<(), Abort> {
    match request {
        DriverRequest::Abort(problem) => Err(Abort::of_task(problem.0, problem.1)),
        DriverRequest::Flush => watched(watch, persistence.flush(committed))
            .await
            .map_err(Abort::stopped)?
            .map_err(Abort::of_thread),
    }
}
