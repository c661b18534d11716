//! What all tasks of a run share.

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, OnceLock};

use super::ManagedValues;
use crate::cancel::CancelToken;
use crate::event::Listener;
use crate::ids::{Namespace, TaskId, task_id};
use crate::plan::ExecutionPlan;
use crate::task_services::Desk;

/// What all tasks of a run share.
pub(crate) struct Shared {
    pub(crate) plan: Arc<ExecutionPlan>,
    pub(crate) managed: Option<Arc<ManagedValues>>,
    pub(crate) cancel: Option<CancelToken>,
    pub(crate) listener: Option<Arc<dyn Listener>>,
    pub(crate) namespace: Namespace,
    pub(crate) limit: u64,
    pub(crate) thread: OnceLock<Arc<str>>,
    /// Only in a stored run.
    pub(crate) desk: Option<Arc<Desk>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("namespace", &self.namespace)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// The thread's name. A run without one gets a name of its own when it is first asked for, so that the task ids of two
    /// runs differ.
    #[inline]
    pub(crate) fn thread(&self) -> &Arc<str> {
        self.thread.get_or_init(|| {
            format!(
                "run-{:016x}{:016x}",
                RandomState::new().hash_one(0),
                RandomState::new().hash_one(1)
            )
            .into()
        })
    }

    /// The id of a task of this run.
    #[inline]
    pub(crate) fn task_id(&self, superstep: u64, node: u32, send: Option<u32>) -> TaskId {
        let origin = self.desk.as_ref().map_or_else(
            || superstep.saturating_sub(1),
            |desk| desk.origin(superstep),
        );
        task_id(
            self.thread(),
            self.namespace.as_str(),
            origin,
            self.plan.stored_name(node),
            send,
        )
    }
}
