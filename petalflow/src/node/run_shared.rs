//! The data that all tasks of a run share.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use petalflow_graph::{Graph, Node, NodeIdx};

use crate::cancel_token::CancelToken;
use crate::error::{DEFAULT_MAX_DEPTH, NodeError};
use crate::event::Listener;
use crate::ids::{Namespace, TaskId, task_id};
use crate::node::ManagedValues;
use crate::plan::{ExecutionPlan, NodeSpec};
use crate::policy::node_policy::NodePolicy;
use crate::task_services::Services;

/// The data that all tasks of a run share.
pub(crate) struct RunShared {
    pub(crate) plan: Arc<ExecutionPlan>,
    pub(crate) managed: Option<Arc<ManagedValues>>,
    pub(crate) cancel: Option<CancelToken>,
    pub(crate) listener: Option<Arc<dyn Listener>>,
    pub(crate) namespace: Namespace,
    /// The superstep at which this run has to end.
    pub(crate) limit: u64,
    /// The maximum number of supersteps of this launch, and of each of its sub-flows. The supersteps that a thread made
    /// before do not count.
    pub(crate) launch_limit: u64,
    /// The run of the parent flow.
    pub(crate) parent: Option<Arc<RunShared>>,
    /// In how many flows this run is.
    pub(crate) depth: u32,
    /// How many flows this run may be in.
    pub(crate) max_depth: u32,
    /// The tasks of this run and its sub-flows whose last attempt failed and that are tried again.
    pub(crate) retried: Mutex<Vec<(TaskId, NodeError)>>,
    pub(crate) thread: OnceLock<Arc<str>>,
    /// Present in a stored run.
    pub(crate) services: Option<Arc<dyn Services>>,
}

impl_debug!(
    RunShared,
    |this| namespace = this.namespace,
    limit = this.limit
);

impl RunShared {
    /// Replaces the failure of the task. `None` if it has ended.
    pub(crate) fn set_retried(&self, task: TaskId, error: Option<&NodeError>) {
        let mut retried = self.retried.lock().unwrap_or_else(PoisonError::into_inner);
        retried.retain(|(other, _)| *other != task);
        retried.extend(error.map(|error| (task, error.clone())));
        drop(retried);
        if let Some(parent) = &self.parent {
            parent.set_retried(task, error);
        }
    }

    /// The failures of tasks that are tried again.
    pub(crate) fn retried(&self) -> Vec<(TaskId, NodeError)> {
        let retried = self.retried.lock();
        retried.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The name of the thread. A run without a thread gets a random name on first use, so that task ids of different
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

    /// The data of a call outside of a run, in a flow with only this node.
    #[inline]
    pub(crate) fn lone(node: &'static str, managed: Arc<ManagedValues>) -> Self {
        let graph = Graph {
            nodes: vec![Node::named(node)].into(),
            edges: vec![].into(),
            joins: 0,
        };
        let policies = vec![NodePolicy::default()];
        RunShared {
            plan: Arc::new(ExecutionPlan::new(&graph, &[NodeSpec::NONE], policies)),
            managed: Some(managed),
            cancel: None,
            listener: None,
            namespace: Namespace::ROOT,
            limit: 1,
            launch_limit: 1,
            parent: None,
            depth: 0,
            max_depth: DEFAULT_MAX_DEPTH,
            retried: Mutex::default(),
            thread: OnceLock::new(),
            services: None,
        }
    }

    /// The id of a task of this run.
    #[inline]
    pub(crate) fn task_id(&self, superstep: u64, node: NodeIdx, send: Option<u32>) -> TaskId {
        let origin = self.services.as_ref().map_or_else(
            || superstep.saturating_sub(1),
            |services| services.origin(superstep),
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
