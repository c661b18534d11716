//! The events of an agent's run, as people want to see them.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AgentEvent, AgentFlow, Conversation};
use petalflow::interrupt::Interrupt;
use petalflow::{Event, EventKind, Events, Namespace, RunError, TaskInfo, Write};

/// How a node of an agent sends an event of the conversation to who listens: a piece of a message, or an event that
/// a [`RequestProcessor`](super::RequestProcessor) added, before it is written. In other flows it is the value of a
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

/// Something that happens in an agent's run, and where: an item of [`AgentEvents`].
#[derive(Debug)]
#[non_exhaustive]
pub struct AgentStreamItem {
    /// The flow within the run; empty at the top.
    pub namespace: Namespace,
    /// The superstep.
    pub superstep: u64,
    /// The task, with its attempt.
    pub task: Option<TaskInfo>,
    /// What happens.
    pub kind: AgentEventKind,
}

/// What happens in an agent's run: see [`AgentEvents`].
#[derive(Debug)]
#[non_exhaustive]
pub enum AgentEventKind {
    /// A piece of a message that is still being written. The whole follows as an event.
    Partial(AgentEvent),
    /// Something was said or done.
    Event(AgentEvent),
    /// What a tool says about how far it has come.
    Custom(Value),
    /// The attempt has failed and there will be another: its pieces are void, and so are events that it told.
    Retry {
        /// Why.
        error: petalflow::NodeError,
    },
    /// The turn has ended.
    Finished(Box<Conversation>),
    /// A tool asks people something by the means of flows ([`Context::ask`](petalflow::Context::ask)), and the turn waits.
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
    /// The event in the value of a [`Custom`](EventKind::Custom) event, if one is in it.
    pub fn read(value: &Value) -> Option<AgentEvent> {
        AgentEvent::deserialize(value.get("agent_event")?).ok()
    }
}

/// Lets who listens hear an event of the conversation, or a piece of one, at once.
pub(super) fn tell(cx: &petalflow::Context, event: &AgentEvent) {
    if cx.has_listener() {
        // An event is data: it can be represented.
        let _ = cx.emit(&Telling { agent_event: event });
    }
}

/// [`EmittedEvent`], without a copy of the event.
#[derive(Serialize)]
struct Telling<'a> {
    agent_event: &'a AgentEvent,
}

/// What happens in an agent's run, as it happens: made by [`Agent::events`](super::Agent::events). Polling it drives the run;
/// dropping it stops the run at once.
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
    /// The events that were heard when they happened, by id: they stand in the conversation later, those of agents within
    /// agents twice.
    heard: HashSet<String>,
}

impl AgentEvents {
    /// The same of a run's events: those of a thread's run, say.
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
                    // What the user says is no news.
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
