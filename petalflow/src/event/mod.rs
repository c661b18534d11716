//! The events of a run.

mod custom;
mod end;
mod kind;
mod log;
mod mode;
mod newest_superstep;
mod queue;
mod sink;
mod types;

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

pub use custom::{CustomEvent, EventPayload};
pub(crate) use end::RunEnd;
pub use kind::EventName;
pub use log::LoggedEvent;
pub(crate) use log::{
    EventFilter, LogBuffer, LogCandidate, LogEntry, LogRole, LogSettings, TimedEntry, WithoutState,
};
pub(crate) use mode::Modes;
pub(crate) use queue::EventQueue;
pub(crate) use sink::{LogSink, Origin, ParentSink, Sink};
#[doc(hidden)]
pub use types::EventTypes;
pub(crate) use types::{AnyEvent, AnyEventKind};

use crate::error::NodeError;
pub use crate::ids::{Namespace, TaskId};
use crate::outcome::RunError;
use crate::question::Interrupt;
use crate::state::State;

/// An event of a run. Events arrive in the order in which they happened.
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
/// assert_eq!(log, ["1: node_started write", "1: node_finished write"]);
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
pub struct Event<S: EventTypes> {
    /// The namespace of the sub-flow it happened in; empty at the top.
    pub namespace: Namespace,
    /// The superstep, from 1; 0 before the first one. The end of a run has the number of its last superstep.
    pub superstep: u64,
    /// The task, for events of a node.
    pub task: Option<TaskInfo>,
    /// The kind of event, with its data.
    pub kind: EventKind<S>,
}

/// The task of an event.
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
#[non_exhaustive]
pub struct TaskInfo {
    /// The name of the node.
    pub node: Arc<str>,
    /// The id of the task, the same in every attempt.
    pub id: TaskId,
    /// The index among the items sent to the node, if the node is the target of `each`.
    pub index: Option<usize>,
    /// The attempt, from 1.
    pub attempt: u32,
}

/// The kind of an event.
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
///         EventKind::NodeFinished { update, .. } => assert_eq!(update.of::<EssayDraft>().only().unwrap(), "…"),
///         EventKind::Finished { state } => assert_eq!(state.draft, "…"),
///         _ => {}
///     }
/// }
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
pub enum EventKind<S: EventTypes> {
    /// The run has begun.
    RunStarted,
    /// A superstep has begun.
    SuperstepStarted {
        /// The names of the nodes, one per task, in the order in which their writes fold. Each task then has one of the events
        /// [`NodeFinished`](EventKind::NodeFinished), [`NodeRestored`](EventKind::NodeRestored),
        /// [`NodeSkipped`](EventKind::NodeSkipped) and [`NodeFailed`](EventKind::NodeFailed), unless the run stops before.
        nodes: Vec<Arc<str>>,
    },
    /// An attempt of a node has begun.
    NodeStarted,
    /// A node has finished. Its writes are applied at the end of the superstep.
    NodeFinished {
        /// The writes of the node.
        update: S::Update,
        /// Whether the result came from the [cache](crate::Launch::cache), without a run of the node.
        cached: bool,
    },
    /// A node has finished in an earlier run of this superstep, and does not run again. Its result was loaded from the store.
    /// The thread was resumed after the superstep was stopped.
    NodeRestored {
        /// The writes of the node.
        update: S::Update,
    },
    /// A person has decided to skip the node at its `interrupt before`.
    NodeSkipped,
    /// Nodes wait for a person, while other nodes of the superstep run. The questions and approvals are stored, and can be answered
    /// now: see [`Thread::resume`](crate::thread::Thread::resume). If some are still open when the other nodes have ended, the run ends with
    /// [`Interrupted`](EventKind::Interrupted).
    Asked {
        /// The interrupts that were not told before.
        interrupts: Vec<Interrupt>,
    },
    /// An attempt has failed, and another one follows.
    Retry {
        /// The error of the attempt.
        error: NodeError,
        /// The time until the next attempt.
        wait: Duration,
    },
    /// A node has failed after its last attempt.
    NodeFailed {
        /// The error.
        error: NodeError,
    },
    /// A node emitted a value ([`Context::emit`](crate::Context::emit)).
    Custom(CustomEvent),
    /// The superstep's writes have been applied.
    SuperstepFinished,
    /// The state at the start of the run, unless the run starts with an empty state, and after each superstep. Sent
    /// only with [`Events::with_values`](crate::run::Events::with_values) or
    /// [`Events::values`](crate::run::Events::values).
    Values {
        /// The state.
        state: S::State,
    },
    /// A checkpoint of the thread was stored. With [`Durability::Async`](crate::thread::Durability::Async), its write has begun. At a
    /// barrier, this comes before [`SuperstepFinished`](EventKind::SuperstepFinished) and then [`Values`](EventKind::Values).
    Checkpoint {
        /// The number of the checkpoint.
        checkpoint: u64,
    },
    /// An event of a sub-flow. [`Event::nested`] returns it with its type.
    Nested(NestedEvent),
    /// The run has reached `END`.
    Finished {
        /// The final state.
        state: S::State,
    },
    /// A thread's run has stopped and waits for a person.
    Interrupted {
        /// The open interrupts.
        interrupts: Vec<Interrupt>,
        /// When it can continue although nobody answers, if it sleeps besides.
        wakes: Option<SystemTime>,
        /// The state at the last barrier.
        state: S::State,
    },
    /// A thread's run has stopped: it [sleeps](crate::Context::sleep), and waits for no person.
    Sleeping {
        /// When the first of its sleeps ends, by the clock of the store.
        until: SystemTime,
        /// The state at the last barrier.
        state: S::State,
    },
    /// The run has failed.
    Failed {
        /// The error.
        error: RunError,
    },
}

/// An event of a sub-flow, which has another state type.
#[derive(Clone)]
pub struct NestedEvent {
    event: Arc<dyn Any + Send + Sync>,
    name: &'static str,
    modes: Modes,
    is_partial: bool,
    /// The event as it is stored, if a receiver stores it.
    entry: Option<Arc<LogEntry>>,
}

impl NestedEvent {
    /// An event of a flow over `S`.
    pub(crate) fn of<S: State>(event: AnyEvent, entry: Option<LogEntry>) -> Self {
        NestedEvent {
            name: event.kind.name(),
            modes: event.kind.modes(),
            is_partial: event.kind.is_partial(),
            event: Arc::new(event.typed::<S>()),
            entry: entry.map(Arc::new),
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

impl<S: EventTypes> Event<S> {
    /// The event of a sub-flow, if its state is `C`.
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
    ///     EventKind::NodeFinished { update, .. } => update.of::<EssayDraft>().only(),
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

    /// The name of the node, for events of a node.
    pub fn node(&self) -> Option<&str> {
        self.task.as_ref().map(|task| &*task.node)
    }
}

impl<S: EventTypes> EventKind<S> {
    /// Whether a later event has the whole of it.
    pub(crate) fn is_partial(&self) -> bool {
        match self {
            EventKind::Custom(custom) => custom.is_partial(),
            EventKind::Nested(nested) => nested.is_partial,
            _ => false,
        }
    }
}

impl<S: EventTypes> fmt::Debug for Event<S> {
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

impl<S: EventTypes> fmt::Debug for EventKind<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EventKind::SuperstepStarted { nodes } => write!(f, "superstep_started: {nodes:?}"),
            EventKind::Retry { error, wait } => write!(f, "retry in {wait:?}: {error}"),
            EventKind::NodeFailed { error } => write!(f, "node_failed: {error}"),
            EventKind::Custom(event) => write!(f, "custom: {event}"),
            EventKind::Failed { error } => write!(f, "failed: {error}"),
            _ => f.write_str(self.name()),
        }
    }
}
