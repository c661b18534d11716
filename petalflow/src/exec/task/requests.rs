//! What the driver waits for while tasks run: their end, their requests, or a stop.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use crate::exec::control::abort::Abort;
use crate::exec::control::watch::{Stop, Watch, poll_watch, watched};
use crate::exec::persistence::{Committed, Persistence};
use crate::future::BoxFuture;
use crate::ids::TaskId;
use crate::outcome::ThreadError;
use crate::question::Interrupt;
use crate::task_services::{DriverRequest, TaskServices};

/// What the driver waited for.
pub(in crate::exec) enum TaskEvent<T> {
    Ended(T),
    Requested(DriverRequest),
    /// These tasks have waited, and run again.
    Ready(Vec<TaskId>),
}

/// Waits until a task ends, a task requests something, a task that waits has got an answer or its time has come, or something stops the
/// run. They are polled in this order, in one future.
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
        if let Some(Poll::Ready(tasks)) = services.map(|services| services.poll_ready(cx)) {
            return Poll::Ready(Ok(TaskEvent::Ready(tasks)));
        }
        poll_watch(watch, cx).map(Err)
    })
}

/// Serves the request of a task. Returns the questions that are to be told.
pub(in crate::exec) async fn serve(
    request: DriverRequest,
    watch: &mut Option<Box<Watch>>,
    persistence: &mut dyn Persistence,
    committed: Committed<'_>,
) -> Result<Vec<Interrupt>, Abort> {
    let served: BoxFuture<'_, Result<Vec<Interrupt>, ThreadError>> = match request {
        DriverRequest::Abort(problem) => return Err(Abort::of_task(problem.0, problem.1)),
        DriverRequest::Tell => persistence.questions_asked(committed),
        DriverRequest::Flush => Box::pin(async {
            persistence.flush(committed).await?;
            Ok(Vec::new())
        }),
        DriverRequest::Answers => {
            let given = persistence.answers_given(committed);
            let rejected = watched(watch, given).await.map_err(Abort::stopped)?;
            return match rejected.map_err(Abort::of_thread)? {
                Some(decision) => Err(Abort::rejected(decision)),
                None => Ok(Vec::new()),
            };
        }
    };
    let served = watched(watch, served).await.map_err(Abort::stopped)?;
    served.map_err(Abort::of_thread)
}
