//! The task that uses a service of its run.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use petalflow_graph::NodeIdx;

use super::AttemptLife;
use crate::error::BoxError;
use crate::ids::TaskId;

/// The task that uses a service.
pub(crate) struct TaskRef<'a> {
    pub(crate) id: TaskId,
    pub(crate) at: NodeIdx,
    pub(crate) node: &'a str,
    pub(crate) index: Option<usize>,
    pub(crate) attempt: u32,
    pub(crate) superstep: u64,
    pub(crate) life: &'a AttemptLife,
}

impl TaskRef<'_> {
    /// Fails if the attempt is over: its run takes nothing from it any more.
    pub(crate) fn check_alive(&self, method: &str) -> Result<(), BoxError> {
        if self.life.is_over() {
            return Err(outlived_error(self.node, method));
        }
        Ok(())
    }

    /// Waits until the attempt is over. Returns the error of what it was waiting for.
    pub(crate) async fn wait_until_over(&self, method: &str) -> BoxError {
        self.life.over().await;
        outlived_error(self.node, method)
    }

    /// Waits for something that the run does, or until the attempt is over, which is an error.
    pub(crate) async fn while_alive(
        &self,
        method: &str,
        mut waits: Pin<&mut (dyn Future<Output = ()> + Send)>,
    ) -> Result<(), BoxError> {
        let mut over = pin!(self.wait_until_over(method));
        poll_fn(|cx| match waits.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Ok(())),
            Poll::Pending => over.as_mut().poll(cx).map(Err),
        })
        .await
    }
}

/// The error of a call with a context whose node has ended.
pub(crate) fn outlived_error(node: &str, method: &str) -> BoxError {
    format!(
        "`{method}` was called with the `Context` of a run of node `{node}` that has ended, so nothing can record it: await it in the node, and if it is on a task that the node has spawned, await that task"
    )
    .into()
}
