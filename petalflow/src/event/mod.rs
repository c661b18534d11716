//! What happens in a run, as it happens.

mod custom;
mod mode;
mod sink;

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use custom::{CustomEvent, EventPayload};
pub(crate) use mode::Modes;
pub(crate) use sink::{Listener, Sink};

use crate::error::NodeError;
pub use crate::ids::{Namespace, TaskId};
use crate::outcome::RunError;
use crate::question::Interrupt;
use crate::state::State;

/// One thing that happened in a run. Events come in the order in which things happened.
///
/// ```
/// use futures_util::StreamExt;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
/// # flow!(Write(Essay) { write });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let mut events = Write::run(()).events();
/// let mut log = Vec::new();
/// while let Some(event) = events.next().await {
///     if let Some(node) = event.node() {
///         log.push(format!("{}: {} {node}", event.superstep, event.kind.name()));
///     }
/// }
/// assert_eq!(log, ["1: node started write", "1: node finished write"]);
/// # Ok(())
/// # }
/// ```
pub struct Event<S: State> {
    /// Where: the sub-flow it happened in, empty at the top.
    pub namespace: Namespace,
    /// The superstep, from 1; 0 before the first.
    pub superstep: u64,
    /// The node it is about, for events of a node.
    pub task: Option<TaskInfo>,
    /// What happened.
    pub kind: EventKind<S>,
}

/// The task that an event is about.
///
/// ```
/// use futures_util::StreamExt;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
/// # flow!(Write(Essay) { write });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let events: Vec<_> = Write::run(()).events().collect().await;
/// let tasks: Vec<_> = events.iter().filter_map(|event| event.task.as_ref()).collect();
/// assert_eq!((&*tasks[0].node, tasks[0].attempt, tasks[0].index), ("write", 1, None));
/// assert_eq!(tasks[0].id, tasks[1].id, "the same when it starts and when it finishes");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskInfo {
    /// The name of the node.
    pub node: Arc<str>,
    /// The task's name, the same in every attempt.
    pub id: TaskId,
    /// The index among what was sent to the node, where the node is the target of `each`.
    pub index: Option<usize>,
    /// The attempt, from 1.
    pub attempt: u32,
}

/// What happened.
///
/// ```
/// use futures_util::StreamExt;
/// use petalflow::event::EventKind;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Essay { draft: String }
/// # #[node(Essay)]
/// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
/// # flow!(Write(Essay) { write });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let mut events = Write::run(()).events();
/// while let Some(event) = events.next().await {
///     match event.kind {
///         EventKind::SuperstepStarted { nodes } => assert_eq!(&*nodes[0], "write"),
///         EventKind::NodeFinished { update, .. } => assert_eq!(update.draft().only().unwrap(), "…"),
///         EventKind::Finished { state } => assert_eq!(state.draft, "…"),
///         _ => {}
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
pub enum EventKind<S: State> {
    /// The run has begun.
    RunStarted,
    /// A superstep has begun, with these nodes in the order in which their writes will fold.
    SuperstepStarted {
        /// The names of the nodes, one per task.
        nodes: Vec<Arc<str>>,
    },
    /// An attempt of a node has begun.
    NodeStarted,
    /// A node has finished. Its writes take effect at the end of the superstep.
    NodeFinished {
        /// What it wrote.
        update: S::Update,
        /// Whether it did not run, because the [cache](crate::Launch::cache) knew its result.
        cached: bool,
    },
    /// An attempt has failed and there will be another.
    Retry {
        /// What went wrong.
        error: NodeError,
        /// How long until the next attempt.
        wait: Duration,
    },
    /// A node has failed for good.
    NodeFailed {
        /// What went wrong.
        error: NodeError,
    },
    /// A node emitted a value ([`Context::emit`](crate::Context::emit)).
    Custom(CustomEvent),
    /// The superstep's writes have been applied.
    SuperstepFinished,
    /// What the flow knows: when the run begins, unless it begins with nothing, and after each superstep. Only for who asked
    /// for it, with [`Events::with_values`](crate::run::Events::with_values) or [`Events::values`](crate::run::Events::values).
    Values {
        /// The state.
        state: S,
    },
    /// The thread's checkpoint of this number is in the store.
    Checkpoint {
        /// The number.
        checkpoint: u64,
    },
    /// Something happened in a sub-flow: [`Event::nested`] gives it back with its type.
    Nested(NestedEvent),
    /// The run has reached its end.
    Finished {
        /// The final state.
        state: S,
    },
    /// A thread's run has stopped to ask people.
    Interrupted {
        /// What is asked.
        interrupts: Vec<Interrupt>,
        /// The state at the last barrier.
        state: S,
    },
    /// The run has ended without reaching its end.
    Failed {
        /// Why.
        error: RunError,
    },
}

/// An event of a sub-flow, whose state is of another type.
#[derive(Clone)]
pub struct NestedEvent {
    event: Arc<dyn Any + Send + Sync>,
    name: &'static str,
    modes: Modes,
}

impl NestedEvent {
    pub(crate) fn of<S: State>(event: Event<S>) -> Self {
        NestedEvent {
            name: event.kind.name(),
            modes: event.kind.modes(),
            event: Arc::new(event),
        }
    }

    /// The name of its [kind](EventKind::name).
    pub fn name(&self) -> &'static str {
        self.name
    }
}

impl fmt::Debug for NestedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NestedEvent").field(&self.name).finish()
    }
}

impl<S: State> Event<S> {
    /// The event of a sub-flow over the state `C`.
    ///
    /// ```
    /// use futures_util::StreamExt;
    /// use petalflow::event::EventKind;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { draft: String }
    /// # #[node(Essay)]
    /// # async fn write() -> EssayDraft { EssayDraft("…".into()) }
    /// # flow!(Write(Essay) { write });
    /// # #[state]
    /// # struct Book { essay: String }
    /// # flow!(WriteBook(Book) { chapter; node chapter: Write { in: || (), out: |essay: Essay| BookEssay(essay.draft) }; });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let events: Vec<_> = WriteBook::run(()).events().collect().await;
    /// let written = events.iter().filter_map(|event| event.nested::<Essay>()).find_map(|inner| match &inner.kind {
    ///     EventKind::NodeFinished { update, .. } => update.draft().only(),
    ///     _ => None,
    /// });
    /// assert_eq!(written.unwrap(), "…");
    /// # Ok(())
    /// # }
    /// ```
    pub fn nested<C: State>(&self) -> Option<&Event<C>> {
        match &self.kind {
            EventKind::Nested(nested) => nested.event.downcast_ref(),
            _ => None,
        }
    }

    /// The name of the node it is about, for events of a node.
    pub fn node(&self) -> Option<&str> {
        self.task.as_ref().map(|task| &*task.node)
    }
}

impl<S: State> EventKind<S> {
    /// The name of the kind, as a log would show it.
    pub fn name(&self) -> &'static str {
        match self {
            EventKind::RunStarted => "run started",
            EventKind::SuperstepStarted { .. } => "superstep started",
            EventKind::NodeStarted => "node started",
            EventKind::NodeFinished { .. } => "node finished",
            EventKind::Retry { .. } => "retry",
            EventKind::NodeFailed { .. } => "node failed",
            EventKind::Custom(_) => "custom",
            EventKind::SuperstepFinished => "superstep finished",
            EventKind::Values { .. } => "values",
            EventKind::Checkpoint { .. } => "checkpoint",
            EventKind::Nested(_) => "nested",
            EventKind::Finished { .. } => "finished",
            EventKind::Interrupted { .. } => "interrupted",
            EventKind::Failed { .. } => "failed",
        }
    }
}

impl<S: State> fmt::Debug for Event<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut event = f.debug_struct("Event");
        event
            .field("namespace", &self.namespace)
            .field("superstep", &self.superstep)
            .field("task", &self.task)
            .field("kind", &self.kind);
        event.finish()
    }
}

impl<S: State> fmt::Debug for EventKind<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EventKind::SuperstepStarted { nodes } => write!(f, "superstep started: {nodes:?}"),
            EventKind::Retry { error, wait } => write!(f, "retry in {wait:?}: {error}"),
            EventKind::NodeFailed { error } => write!(f, "node failed: {error}"),
            EventKind::Custom(event) => write!(f, "custom: {event}"),
            EventKind::Failed { error } => write!(f, "failed: {error}"),
            _ => f.write_str(self.name()),
        }
    }
}
