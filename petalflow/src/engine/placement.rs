//! Which tasks of a superstep run in this pass.

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::batch::TaskRequest;
use super::pass_store::PassStore;
use crate::error::BoxError;
use crate::future::BoxFuture;
use crate::ids::TaskId;
use crate::middleware::{AnyCall, AnyMiddleware, AnyNext};

/// Leaves the tasks of placed nodes to other processes, and requests them.
pub(super) struct LeavePlaced {
    /// The pools, by node.
    pub(super) placed: Arc<BTreeMap<String, String>>,
    /// Tasks that were requested before. `None`: all have ended, and one that has no result that can be used is not requested again.
    pub(super) requested: Option<HashSet<TaskId>>,
    pub(super) store: PassStore,
}

/// Leaves all tasks, and requests those of placed nodes.
pub(super) struct LeaveAll {
    /// The pools, by node.
    pub(super) placed: Arc<BTreeMap<String, String>>,
    pub(super) store: PassStore,
    /// Set if a task is not placed.
    pub(super) has_others: Arc<AtomicBool>,
}

/// Runs one task, and leaves all others to other processes.
pub(super) struct RunOnly {
    pub(super) task: TaskId,
    pub(super) store: PassStore,
}

impl AnyMiddleware for LeavePlaced {
    fn around<'a>(
        &'a self,
        call: AnyCall<'a>,
        next: AnyNext<'a>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        let Some(pool) = self.placed.get(call.scope.node()) else {
            return next.run(call);
        };
        let task = call.scope.task_id();
        match &self.requested {
            None => self.store.cannot_use(call.scope.node()),
            Some(requested) if requested.contains(&task) => {}
            Some(_) => self.store.request(TaskRequest {
                task,
                node: call.scope.node().into(),
                pool: pool.clone(),
            }),
        }
        Box::pin(call.scope.leave())
    }
}

impl AnyMiddleware for LeaveAll {
    fn around<'a>(
        &'a self,
        call: AnyCall<'a>,
        _: AnyNext<'a>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        match self.placed.get(call.scope.node()) {
            Some(pool) => self.store.request(TaskRequest {
                task: call.scope.task_id(),
                node: call.scope.node().into(),
                pool: pool.clone(),
            }),
            None => self.has_others.store(true, Ordering::Relaxed),
        }
        Box::pin(call.scope.leave())
    }
}

impl AnyMiddleware for RunOnly {
    fn around<'a>(
        &'a self,
        call: AnyCall<'a>,
        next: AnyNext<'a>,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        if call.scope.task_id() != self.task {
            return Box::pin(call.scope.leave());
        }
        self.store.runs(call.scope.node());
        if let Some(services) = &call.scope.shared.services {
            // Its result is recorded, and another process commits the superstep.
            services.hold();
        }
        next.run(call)
    }
}
