//! Which tasks of a superstep run in this pass.

use std::collections::BTreeMap;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;

use super::batch::TaskRequest;
use super::pass_store::PassStore;
use crate::error::BoxError;
use crate::ids::TaskId;
use crate::middleware::{Middleware, Next, NodeCall};
use crate::node::Scope;
use crate::state::State;

/// Leaves the tasks of placed nodes to other processes, and requests them.
pub(super) struct LeavePlaced {
    /// The pools, by node.
    pub(super) placed: Arc<BTreeMap<String, String>>,
    /// Tasks that were requested before.
    pub(super) requested: HashSet<TaskId>,
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
pub(super) struct RunOnly(pub(super) TaskId);

#[async_trait]
impl<S: State> Middleware<S> for LeavePlaced {
    async fn around(&self, call: NodeCall<'_, S>, next: Next<'_, S>) -> Result<(), BoxError> {
        let Some(pool) = self.placed.get(call.node()) else {
            return next.run(call).await;
        };
        let task = call.scope.task_id();
        if !self.requested.contains(&task) {
            self.store.request(TaskRequest {
                task,
                node: call.node().into(),
                pool: pool.clone(),
            });
        }
        leave(call.scope).await
    }
}

#[async_trait]
impl<S: State> Middleware<S> for LeaveAll {
    async fn around(&self, call: NodeCall<'_, S>, _: Next<'_, S>) -> Result<(), BoxError> {
        match self.placed.get(call.node()) {
            Some(pool) => self.store.request(TaskRequest {
                task: call.scope.task_id(),
                node: call.node().into(),
                pool: pool.clone(),
            }),
            None => self.has_others.store(true, Ordering::Relaxed),
        }
        leave(call.scope).await
    }
}

#[async_trait]
impl<S: State> Middleware<S> for RunOnly {
    async fn around(&self, call: NodeCall<'_, S>, next: Next<'_, S>) -> Result<(), BoxError> {
        if call.scope.task_id() != self.0 {
            return leave(call.scope).await;
        }
        if let Some(services) = &call.scope.shared.services {
            // Its result is recorded, and another process commits the superstep.
            services.hold();
        }
        next.run(call).await
    }
}

/// Leaves the task without a result. The run stops when no other task runs any more, and records the results of the others.
async fn leave(scope: &Scope) -> Result<(), BoxError> {
    if let Some(services) = &scope.shared.services {
        services.hold();
        services.leave(scope.task_id());
    }
    std::future::pending().await
}
