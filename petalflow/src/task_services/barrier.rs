//! Requests of a task to its driver: write the barrier to the store, or end the run.

use std::future::poll_fn;
use std::task::{Poll, Waker};

use super::{DriverRequest, TaskRef, TaskServices};
use crate::error::BoxError;

impl TaskServices {
    /// Waits until the barrier that the superstep began from is in the store. Without this, a crash could leave the records
    /// of a task beside an older barrier, where a different task would find them.
    pub(crate) async fn barrier_stored(&self, superstep: u64) {
        let origin = self.origin(superstep);
        poll_fn(|cx| {
            if self.stored.covers(origin) {
                return Poll::Ready(());
            }
            let mut inner = self.lock();
            inner.flushing.push(cx.waker().clone());
            inner.request(DriverRequest::Flush);
            Poll::Pending
        })
        .await;
    }

    /// Wakes the tasks that wait for the barrier: it is in the store.
    pub(crate) fn notify_flushed(&self) {
        let flushing = std::mem::take(&mut self.lock().flushing);
        flushing.into_iter().for_each(Waker::wake);
    }

    /// Ends the run because the thread cannot be written to. No node can handle or ignore that: this completes only when the
    /// attempt is over.
    pub(crate) async fn abort(
        &self,
        task: &TaskRef<'_>,
        method: &str,
        source: BoxError,
    ) -> BoxError {
        let problem = source.to_string();
        self.lock()
            .request(DriverRequest::Abort(Box::new((problem, source))));
        task.wait_until_over(method).await
    }
}
