//! The data that all tasks of a run share.

use std::hash::{BuildHasher as _, RandomState};
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use petalflow_graph::{Graph, Node, NodeIdx};

use crate::cancel_token::RunToken;
use crate::erased::KeptStates;
use crate::error::{DEFAULT_MAX_DEPTH, NodeError};
use crate::event::Sink;
use crate::ids::{Namespace, TaskId, task_id};
use crate::node::{ManagedValues, NoKeep, RunChildren};
use crate::plan::{ExecutionPlan, NodeSpec};
use crate::policy::node_policy::NodePolicy;
use crate::task_services::{TaskServices, UsedNames};

/// The data that all tasks of a run share. Small, because a server holds one per run; the rest is in [`Surroundings`].
pub(crate) struct RunShared {
    pub(crate) plan: Arc<ExecutionPlan>,
    /// The superstep at which this run has to end.
    pub(crate) limit: u64,
    /// Made with the run if it has any, or when a name or a retry is first needed. A trait object, because the compiler would look into
    /// every part of the surroundings for each function that has a context and must be `Send`.
    surroundings: OnceLock<Box<dyn AsRef<Surroundings> + Send + Sync>>,
}

/// What few runs have.
pub(crate) struct Surroundings {
    pub(crate) managed: Option<Arc<ManagedValues>>,
    pub(crate) cancel: Option<RunToken>,
    pub(crate) listener: Option<Arc<dyn Sink>>,
    pub(crate) namespace: Namespace,
    /// The supersteps that its thread made before this launch.
    pub(crate) superstep: u64,
    /// The run of the parent flow.
    pub(crate) parent: Option<Arc<RunShared>>,
    /// In how many flows this run is.
    pub(crate) depth: u32,
    /// How many flows this run may be in.
    pub(crate) max_depth: u32,
    /// The tasks of this run and its sub-flows whose last attempt failed and that are tried again.
    pub(crate) retried: Mutex<Vec<(TaskId, NodeError)>>,
    /// Why the sub-flows of this run cannot keep their states, if they cannot.
    pub(crate) no_keep: Option<NoKeep>,
    /// The states that sub-flows retain, if the run is not stored. Those of all levels are in the outermost run.
    pub(crate) kept_states: OnceLock<Box<KeptStates>>,
    /// The names of effects in the superstep, if the run is not stored. Made when the first is used.
    pub(crate) used_names: Mutex<Option<Box<UsedNames>>>,
    pub(crate) thread: OnceLock<Arc<str>>,
    /// The runs that tasks have started, if the run is not stored. Those of all levels are in the outermost run.
    pub(crate) children: OnceLock<Box<RunChildren>>,
    /// Present in a stored run.
    pub(crate) services: Option<Arc<TaskServices>>,
}

impl Surroundings {
    pub(crate) const fn none() -> Self {
        Surroundings {
            managed: None,
            cancel: None,
            listener: None,
            namespace: Namespace::ROOT,
            superstep: 0,
            parent: None,
            depth: 0,
            max_depth: DEFAULT_MAX_DEPTH,
            retried: Mutex::new(Vec::new()),
            no_keep: None,
            kept_states: OnceLock::new(),
            used_names: Mutex::new(None),
            thread: OnceLock::new(),
            children: OnceLock::new(),
            services: None,
        }
    }

    fn is_none(&self) -> bool {
        self.managed.is_none()
            && self.cancel.is_none()
            && self.listener.is_none()
            && self.parent.is_none()
            && self.services.is_none()
            && self.superstep == 0
            && self.max_depth == DEFAULT_MAX_DEPTH
            && self.thread.get().is_none()
    }
}

impl AsRef<Surroundings> for Surroundings {
    fn as_ref(&self) -> &Surroundings {
        self
    }
}

/// The surroundings of a run that has none.
static NONE: Surroundings = Surroundings::none();

/// Each of the surroundings is read as a field of the run.
impl Deref for RunShared {
    type Target = Surroundings;

    fn deref(&self) -> &Surroundings {
        self.surroundings
            .get()
            .map_or(&NONE, |some| (**some).as_ref())
    }
}

impl_debug!(
    RunShared,
    |this| namespace = this.namespace,
    limit = this.limit
);

impl RunShared {
    pub(crate) fn new(plan: Arc<ExecutionPlan>, limit: u64, surroundings: Surroundings) -> Self {
        let surroundings = if surroundings.is_none() {
            OnceLock::new()
        } else {
            let surroundings: Box<dyn AsRef<Surroundings> + Send + Sync> = Box::new(surroundings);
            OnceLock::from(surroundings)
        };
        RunShared {
            plan,
            limit,
            surroundings,
        }
    }

    /// The maximum number of supersteps of this launch, and of each of its sub-flows. The supersteps that a thread made
    /// before do not count.
    pub(crate) fn launch_limit(&self) -> u64 {
        self.limit - self.superstep
    }

    /// The surroundings, created if the run has none.
    fn init(&self) -> &Surroundings {
        let surroundings = self
            .surroundings
            .get_or_init(|| Box::new(Surroundings::none()));
        (**surroundings).as_ref()
    }

    /// Replaces the failure of the task. `None` if it has ended.
    pub(crate) fn set_retried(&self, task: TaskId, error: Option<&NodeError>) {
        let retried = self.init().retried.lock();
        let mut retried = retried.unwrap_or_else(PoisonError::into_inner);
        retried.retain(|(other, _)| *other != task);
        retried.extend(error.map(|error| (task, error.clone())));
        drop(retried);
        if let Some(parent) = &self.parent {
            parent.set_retried(task, error);
        }
    }

    /// Reserves the name of an effect for an attempt of a run that is not stored. Whether it is the first use of the name.
    pub(crate) fn reserve_name(
        &self,
        superstep: u64,
        attempt: (NodeIdx, Option<u32>, u32),
        name: &str,
    ) -> bool {
        let used = self.init().used_names.lock();
        let mut used = used.unwrap_or_else(PoisonError::into_inner);
        let used = used.get_or_insert_default();
        used.insert(superstep, attempt, name)
    }

    /// The states that sub-flows of this run, and of the runs around it, retain.
    pub(crate) fn kept_states(&self) -> &KeptStates {
        match &self.parent {
            Some(parent) => parent.kept_states(),
            None => self.init().kept_states.get_or_init(Box::default),
        }
    }

    /// The runs that the tasks of this run, and of the runs around it, have started.
    pub(crate) fn children(&self) -> &RunChildren {
        match &self.parent {
            Some(parent) => parent.children(),
            None => self.init().children.get_or_init(Box::default),
        }
    }

    /// The failures of tasks that are tried again.
    pub(crate) fn retried(&self) -> Vec<(TaskId, NodeError)> {
        let retried = self.retried.lock();
        retried.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The name of the thread. A run without a thread gets a random name on first use, so that task ids of different
    /// runs differ.
    pub(crate) fn thread(&self) -> &Arc<str> {
        self.init().thread.get_or_init(|| {
            let random = |of: u64| RandomState::new().hash_one(of);
            let bytes = ((u128::from(random(0)) << 64) | u128::from(random(1))).to_be_bytes();
            format!("run-{}", TaskId::from_bytes(bytes)).into()
        })
    }

    /// The data of a call outside of a run, in a flow with only this node.
    pub(crate) fn lone(node: &'static str, limit: u64, surroundings: Surroundings) -> Self {
        let graph = Graph {
            nodes: vec![Node::named(node)].into(),
            edges: vec![].into(),
            joins: 0,
        };
        let policies = vec![NodePolicy::default()];
        let plan = ExecutionPlan::new(graph, vec![NodeSpec::NONE], policies);
        Self::new(Arc::new(plan), limit, surroundings)
    }

    /// The id of a task of this run.
    pub(crate) fn task_id(&self, superstep: u64, node: NodeIdx, send: Option<u32>) -> TaskId {
        let (namespace, node) = (self.namespace.as_str(), self.plan.stored_name(node));
        if let Some(services) = &self.services {
            let origin = services.origin(superstep);
            services.storage.task_id(namespace, origin, node, send)
        } else {
            let origin = superstep.saturating_sub(1);
            task_id(self.thread(), 0, namespace, origin, node, send)
        }
    }
}
