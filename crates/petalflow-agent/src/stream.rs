//! Events of an agent's run, as a stream for users.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{AgentEvent, AgentFlow, Conversation};
use futures_core::Stream;
use petalflow::event::{CustomEvent, EventKind, Namespace, TaskInfo};
use petalflow::interrupt::Interrupt;
use petalflow::state::Write;
use petalflow::{Event, Events, RunError};

/// An event of an agent's run, and its origin: an item of [`AgentEvents`].
#[derive(Debug)]
#[non_exhaustive]
pub struct AgentStreamItem {
    /// The flow within the run. Empty for the run's own flow.
    pub namespace: Namespace,
    /// The superstep.
    pub superstep: u64,
    /// The task, with its attempt.
    pub task: Option<TaskInfo>,
    /// The kind of the event, with its data.
    pub kind: AgentEventKind,
}

/// A kind of event in an agent's run: see [`AgentEvents`].
#[derive(Debug)]
#[non_exhaustive]
pub enum AgentEventKind {
    /// A piece of a message that is still being streamed. The complete message follows as an event.
    Partial(AgentEvent),
    /// A message or an action.
    Event(AgentEvent),
    /// A value that a tool emitted, such as its progress.
    Custom(CustomEvent),
    /// The attempt has failed and a retry follows. The attempt's pieces and events are void.
    Retry {
        /// The error.
        error: petalflow::NodeError,
    },
    /// The turn has ended.
    Finished(Box<Conversation>),
    /// A tool has interrupted the run ([`Context::ask`](petalflow::Context::ask)), and the turn waits for an answer.
    Interrupted(Vec<Interrupt>),
    /// The run has failed.
    Failed(RunError),
}

impl AgentStreamItem {
    fn end(superstep: u64, kind: AgentEventKind) -> Self {
        AgentStreamItem {
            namespace: Namespace::ROOT,
            superstep,
            task: None,
            kind,
        }
    }
}

/// Emits an event of the conversation, or a piece of one, to a listener at once.
pub(super) fn emit(cx: &petalflow::Context, event: impl FnOnce() -> AgentEvent) {
    cx.emit_with(|| CustomEvent::named("agent_event", event()));
}

/// Stream of the events of an agent's run, made by [`Agent::events`](super::Agent::events). Polling it drives the
/// run. Dropping it stops the run at once.
///
/// ```
/// use futures_util::StreamExt;
/// use petalflow_agent::{Agent, AgentEventKind};
/// use petalflow_llm::{Reply, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let model = ScriptedModel::new([Reply::chunks(["Good ", "morning"])]);
/// let mut events = Agent::new(model).streaming().events("hello");
/// let mut heard = Vec::new();
/// while let Some(progress) = events.next().await {
///     match progress.kind {
///         AgentEventKind::Partial(piece) => heard.push(piece.text()),
///         AgentEventKind::Retry { .. } => heard.clear(),
///         AgentEventKind::Finished(talk) => assert_eq!(heard.concat(), talk.answer()),
///         _ => {}
///     }
/// }
/// assert_eq!(heard, ["Good ", "morning"]);
/// # }
/// ```
#[must_use = "the stream drives the run: nothing happens before it is polled"]
pub struct AgentEvents {
    events: Events<AgentFlow>,
    ready: VecDeque<AgentStreamItem>,
    /// The ids of the events that were streamed before they were written. They are written to the conversation later,
    /// and those of nested agents are written twice.
    heard: HashSet<String>,
}

impl AgentEvents {
    /// Creates the stream from the events of a run, such as a run of a thread.
    pub fn new(events: Events<AgentFlow>) -> Self {
        AgentEvents {
            events,
            ready: VecDeque::new(),
            heard: HashSet::new(),
        }
    }

    fn take(&mut self, event: &Event<Conversation>, within: bool) {
        if let Some(inner) = event.nested::<Conversation>() {
            return self.take(inner, true);
        }
        let what = match &event.kind {
            EventKind::NodeFinished { update, .. } => {
                for said in update.events().iter().flat_map(Write::value) {
                    // The caller knows the user's message already.
                    let news = !(said.is_from_user() && event.node() == Some("begin"));
                    let known = if within {
                        !self.heard.insert(said.id.clone())
                    } else {
                        self.heard.remove(&said.id)
                    };
                    if news && !known {
                        self.push(event, AgentEventKind::Event(said.clone()));
                    }
                }
                return;
            }
            EventKind::Custom(custom) => match custom.downcast_ref::<AgentEvent>() {
                Some(piece) if piece.partial => AgentEventKind::Partial(piece.clone()),
                Some(said) => {
                    self.heard.insert(said.id.clone());
                    AgentEventKind::Event(said.clone())
                }
                None => AgentEventKind::Custom(custom.clone()),
            },
            EventKind::Retry { error, .. } => AgentEventKind::Retry {
                error: error.clone(),
            },
            _ => return,
        };
        self.push(event, what);
    }

    fn push(&mut self, event: &Event<Conversation>, kind: AgentEventKind) {
        self.ready.push_back(AgentStreamItem {
            namespace: event.namespace.clone(),
            superstep: event.superstep,
            task: event.task.clone(),
            kind,
        });
    }
}

impl Stream for AgentEvents {
    type Item = AgentStreamItem;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentStreamItem>> {
        loop {
            if let Some(ready) = self.ready.pop_front() {
                return Poll::Ready(Some(ready));
            }
            match std::task::ready!(Pin::new(&mut self.events).poll_next(cx)) {
                Some(event) => match event.kind {
                    EventKind::Interrupted { interrupts, .. } => {
                        let what = AgentEventKind::Interrupted(interrupts);
                        return Poll::Ready(Some(AgentStreamItem::end(event.superstep, what)));
                    }
                    EventKind::Finished { state } => {
                        let what = AgentEventKind::Finished(Box::new(state));
                        return Poll::Ready(Some(AgentStreamItem::end(event.superstep, what)));
                    }
                    EventKind::Failed { error } => {
                        let what = AgentEventKind::Failed(error);
                        return Poll::Ready(Some(AgentStreamItem::end(event.superstep, what)));
                    }
                    _ => self.take(&event, false),
                },
                None => return Poll::Ready(None),
            }
        }
    }
}

impl fmt::Debug for AgentEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentEvents").finish_non_exhaustive()
    }
}
