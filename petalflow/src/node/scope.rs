//! One run of a node.

use std::num::NonZeroU32;
use std::sync::Arc;

use petalflow_graph::NodeIdx;

use super::{LastActivity, ManagedValues, RunShared};
use crate::delivery::Delivery;
use crate::error::BoxError;
use crate::event::{Event, EventKind, TaskInfo};
use crate::ids::TaskId;
use crate::state::State;
use crate::task_services::TaskRef;

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
    // The index among the items that were sent to the node in this superstep.
    pub(crate) send: OptionalIndex,
    // The index of this task's item in the delivery. Without an index, the task takes the whole delivery.
    pub(crate) item: OptionalIndex,
    pub(crate) delivery: Option<Delivery>,
    // Present if the run has a listener, which receives it with each event of the task.
    pub(crate) info: Option<Arc<TaskInfo>>,
    // Present if the attempt has an idle timeout.
    pub(crate) activity: Option<Arc<LastActivity>>,
}

/// An optional index in four bytes, because every running task has two of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OptionalIndex(Option<NonZeroU32>);

impl OptionalIndex {
    pub(crate) fn get(self) -> Option<u32> {
        self.0.map(|after| after.get() - 1)
    }
}

impl From<Option<u32>> for OptionalIndex {
    fn from(index: Option<u32>) -> Self {
        // No list has `u32::MAX` items.
        OptionalIndex(index.and_then(|index| NonZeroU32::new(index.wrapping_add(1))))
    }
}

impl Scope {
    /// A scope without a task.
    pub(crate) fn new(shared: Arc<RunShared>) -> Self {
        Scope {
            shared,
            superstep: 0,
            node: NodeIdx::new(0),
            attempt: 1,
            send: OptionalIndex::default(),
            item: OptionalIndex::default(),
            delivery: None,
            info: None,
            activity: None,
        }
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
        self.send.get().map(|index| index as usize)
    }

    /// The managed values of the run.
    pub fn managed(&self) -> Option<&ManagedValues> {
        self.shared.managed.as_deref()
    }

    /// The delivered value, if it is a `T`.
    #[doc(hidden)]
    pub fn item<T: 'static>(&self) -> Result<&T, BoxError> {
        let item = self
            .delivery
            .as_ref()
            .and_then(|delivery| delivery.get(self.item.get().map(|item| item as usize)));
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
        Self::new(Arc::new(RunShared::lone(node, managed)))
    }
}

impl Scope {
    /// The node's name in checkpoints.
    #[inline]
    pub(crate) fn stored_name(&self) -> &str {
        self.shared.plan.stored_name(self.node)
    }

    pub(crate) fn task_id(&self) -> TaskId {
        match &self.info {
            Some(info) => info.id,
            None => self
                .shared
                .task_id(self.superstep, self.node, self.send.get()),
        }
    }
}

impl Scope {
    /// An event about this task.
    pub(crate) fn event<S: State>(&self, kind: EventKind<S>) -> Event<S> {
        Event {
            namespace: self.shared.namespace.clone(),
            superstep: self.superstep,
            task: Some(self.task_info()),
            kind,
        }
    }

    /// This task, for events.
    pub(crate) fn task_info(&self) -> TaskInfo {
        if let Some(info) = &self.info {
            return TaskInfo {
                attempt: self.attempt,
                ..TaskInfo::clone(info)
            };
        }
        TaskInfo {
            node: self.node().into(),
            id: self.task_id(),
            index: self.index(),
            attempt: self.attempt,
        }
    }

    /// This task, for the services of a stored run.
    #[inline]
    pub(crate) fn task_ref(&self) -> TaskRef<'_> {
        TaskRef {
            id: self.task_id(),
            at: self.node,
            node: self.node(),
            index: self.index(),
            attempt: self.attempt,
            superstep: self.superstep,
        }
    }
}
