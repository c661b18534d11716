//! Events of an agent's run, as a stream for users.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AgentEvent, AgentFlow, Conversation};
use petalflow::event::{EventKind, Namespace, TaskInfo};
use petalflow::interrupt::Interrupt;
use petalflow::state::Write;
use petalflow::{Event, Events, RunError};

/// An event of the conversation as a node emits it to listeners: a piece of a message, or an event that a
/// [`RequestProcessor`](super::RequestProcessor) added, before it is written. In other flows it is the value of a
/// [`Custom`](EventKind::Custom) event.
///
/// ```
/// use petalflow_agent::{AgentEvent, EmittedEvent};
/// use petalflow_llm::ChatMessage;
///
/// let event = AgentEvent::new("guide", ChatMessage::assistant("This"));
/// let value = serde_json::to_value(EmittedEvent { agent_event: event }).unwrap();
/// assert_eq!(EmittedEvent::read(&value).unwrap().text(), "This");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EmittedEvent {
    /// The event.
    pub agent_event: AgentEvent,
}

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
    /// Progress of a tool.
    Custom(Value),
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

impl EmittedEvent {
    /// The event in the value of a [`Custom`](EventKind::Custom) event, if it contains one.
    pub fn read(value: &Value) -> Option<AgentEvent> {
        AgentEvent::deserialize(value.get("agent_event")?).ok()
    }
}

/// Emits an event of the conversation, or a piece of one, to listeners at once.
pub(super) fn tell(cx: &petalflow::Context, event: &AgentEvent) {
    if cx.has_listener() {
        // An event is plain data, and its serialization does not fail.
        let _ = cx.emit(&Telling { agent_event: event });
    }
}

/// [`EmittedEvent`] that borrows its event.
#[derive(Serialize)]
struct Telling<'a> {
    agent_event: &'a AgentEvent,
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
/// let model = ScriptedModel::new([Reply::pieces(["Good ", "morning"])]);
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
            EventKind::Custom { value } => match EmittedEvent::read(value) {
                Some(piece) if piece.partial => AgentEventKind::Partial(piece),
                Some(said) => {
                    self.heard.insert(said.id.clone());
                    AgentEventKind::Event(said)
                }
                None => AgentEventKind::Custom(value.clone()),
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
