//! One run of a node.

use std::sync::Arc;

use petalflow_graph::NodeIdx;

#[cfg(feature = "tool")]
use super::Surroundings;
use super::{LastActivity, ManagedValues, RunShared};
use crate::delivery::Delivery;
use crate::error::BoxError;
use crate::event::{AnyEvent, AnyEventKind, TaskInfo};
use crate::ids::TaskId;
use crate::task_services::{AttemptLife, TaskRef};

/// One run of a node: the source of extracted values.
///
/// ```
/// use petalflow::node::{Extract, Scope};
/// use petalflow::BoxError;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Log { #[key(append)] lines: Vec<String> }
///
/// /// A prefix for log lines.
/// struct Prefix(String);
///
/// impl Extract for Prefix {
///     fn extract(scope: &Scope) -> Result<Self, BoxError> {
///         Ok(Prefix(format!("[{} {}]", scope.superstep(), scope.node())))
///     }
/// }
///
/// #[node(Log)]
/// async fn greet(prefix: Prefix) -> LogLines {
///     LogLines(vec![format!("{} hello", prefix.0)])
/// }
///
/// flow!(Greet(Log) { greet });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// assert_eq!(Greet::run(()).await?.lines, ["[1 greet] hello"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Scope {
    pub(crate) shared: Arc<RunShared>,
    pub(crate) superstep: u64,
    pub(crate) node: NodeIdx,
    pub(crate) attempt: u32,
    /// Whether the attempt still runs.
    pub(crate) life: AttemptLife,
    // What few tasks have. Apart, because every run in flight has a scope.
    details: Option<Arc<TaskDetails>>,
}

/// What few tasks have.
#[derive(Clone, Debug, Default)]
pub(crate) struct TaskDetails {
    /// The index among the items that were sent to the node in this superstep.
    pub(crate) send: Option<u32>,
    /// The index of this task's item in the delivery. Without an index, the task takes the whole delivery.
    pub(crate) item: Option<usize>,
    pub(crate) delivery: Option<Delivery>,
    /// Present if the run has a listener, which receives it with each event of the task.
    info: Option<TaskInfo>,
    /// Present if the attempt has an idle timeout.
    pub(crate) activity: Option<Arc<LastActivity>>,
}

impl Scope {
    /// A scope without a task.
    pub(crate) fn new(shared: Arc<RunShared>) -> Self {
        Scope {
            shared,
            superstep: 0,
            node: NodeIdx::new(0),
            attempt: 1,
            life: AttemptLife::default(),
            details: None,
        }
    }

    /// A scope for another task of the same run.
    pub(crate) fn of_another_task(&self) -> Self {
        Self::new(Arc::clone(&self.shared))
    }

    /// What few tasks have, if this task has any of it.
    pub(crate) fn details(&self) -> Option<&TaskDetails> {
        self.details.as_deref()
    }

    /// The same, to be changed.
    pub(crate) fn details_mut(&mut self) -> &mut TaskDetails {
        Arc::make_mut(self.details.get_or_insert_default())
    }

    /// Begins another task, with what was sent to it. The memory of the details is used again.
    pub(crate) fn begin(
        &mut self,
        (superstep, node): (u64, NodeIdx),
        send: Option<u32>,
        item: Option<usize>,
        delivery: Option<Delivery>,
    ) {
        self.superstep = superstep;
        self.node = node;
        self.attempt = 1;
        self.life.renew();
        if self.details.is_some() || send.is_some() || delivery.is_some() {
            *self.details_mut() = TaskDetails {
                send,
                item,
                delivery,
                info: None,
                activity: None,
            };
        }
    }

    /// The index among the items that were sent to the node.
    pub(crate) fn send(&self) -> Option<u32> {
        self.details.as_ref()?.send
    }

    /// The number of the superstep, from 1.
    pub fn superstep(&self) -> u64 {
        self.superstep
    }

    /// The name of the node in its graph.
    pub fn node(&self) -> &str {
        self.shared.plan.name(self.node)
    }

    /// The index among the items sent to the node, if it is the target of `each`.
    pub fn index(&self) -> Option<usize> {
        self.send().map(|index| index as usize)
    }

    /// The managed values of the run.
    pub fn managed(&self) -> Option<&ManagedValues> {
        self.shared.managed.as_deref()
    }

    /// The delivered value, if it is a `T`.
    #[doc(hidden)]
    pub fn item<T: 'static>(&self) -> Result<&T, BoxError> {
        let details = self.details();
        let item = details.and_then(|details| details.delivery.as_ref()?.get(details.item));
        item.ok_or_else(|| {
            format!(
                "node `{}` got no `{}`, which is the type of its item",
                self.node(),
                std::any::type_name::<T>()
            )
            .into()
        })
    }
}

#[cfg(feature = "tool")]
impl Scope {
    /// A scope outside of a run, in a flow with only this node.
    pub(crate) fn lone(node: &'static str, managed: Arc<ManagedValues>) -> Self {
        let surroundings = Surroundings {
            managed: Some(managed),
            ..Surroundings::none()
        };
        Scope {
            life: AttemptLife::endless(),
            ..Self::new(Arc::new(RunShared::lone(node, 1, surroundings)))
        }
    }
}

impl Scope {
    /// The node's name in checkpoints.
    pub(crate) fn stored_name(&self) -> &str {
        self.shared.plan.stored_name(self.node)
    }

    pub(crate) fn task_id(&self) -> TaskId {
        match self.info() {
            Some(info) => info.id,
            None => self.shared.task_id(self.superstep, self.node, self.send()),
        }
    }
}

impl Scope {
    /// An event about this task.
    pub(crate) fn event(&self, kind: AnyEventKind) -> AnyEvent {
        AnyEvent {
            namespace: self.shared.namespace.clone(),
            superstep: self.superstep,
            task: Some(self.task_info()),
            kind,
        }
    }

    /// This task, for events.
    pub(crate) fn task_info(&self) -> TaskInfo {
        if let Some(info) = self.info() {
            return TaskInfo {
                attempt: self.attempt,
                ..info.clone()
            };
        }
        TaskInfo {
            node: self.node().into(),
            id: self.task_id(),
            index: self.index(),
            attempt: self.attempt,
        }
    }

    fn info(&self) -> Option<&TaskInfo> {
        self.details()?.info.as_ref()
    }

    /// Computes [`task_info`](Self::task_info) once for all events of the task.
    pub(crate) fn set_info(&mut self) {
        let info = self.task_info();
        self.details_mut().info = Some(info);
    }

    /// This task, for the services of a stored run.
    pub(crate) fn task_ref(&self) -> TaskRef<'_> {
        TaskRef {
            id: self.task_id(),
            at: self.node,
            node: self.node(),
            index: self.index(),
            attempt: self.attempt,
            superstep: self.superstep,
            life: &self.life,
        }
    }
}

#[cfg(feature = "engine")]
impl Scope {
    /// Leaves the task without a result. The run stops when no other task runs any more, and records the results of the others.
    pub(crate) async fn leave(&self) -> Result<(), BoxError> {
        if let Some(services) = &self.shared.services {
            services.hold();
            services.leave(self.task_id());
        }
        std::future::pending().await
    }
}
