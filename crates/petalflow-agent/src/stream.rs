//! Events of an agent's run, as a stream for users.

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::SystemTime;

use crate::compaction::CompactionEvent;
use crate::conversation::ConversationEvents;
use crate::guardrail::GuardrailEvent;
use crate::partial_output::PartialOutput;
use crate::turn::AgentFlow;
use crate::{AgentEvent, Conversation};
use futures_core::Stream;
use petalflow::event::{CustomEvent, EventKind, Namespace, TaskInfo};
use petalflow::interrupt::Interrupt;
use petalflow::state::Write;
use petalflow::{Event, Events, RunError};

/// An event of an agent's run, and its origin: an item of [`AgentEvents`].
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_agent::stream::AgentStreamItem;
/// use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut events = Agent::new(ScriptedModel::new(["hello"])).events("hi");
/// let item: AgentStreamItem = events.next().await.unwrap();
/// assert_eq!(&*item.task.unwrap().node, "ask");
/// # }
/// ```
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
    /// The typed answer as far as it is known. It replaces the one before.
    PartialOutput(PartialOutput),
    /// A guardrail has rewritten or blocked something, or failed the run.
    Guardrail(GuardrailEvent),
    /// Messages were cut from what a model reads.
    Compacted(CompactionEvent),
    /// A value that a tool emitted, such as its progress.
    Custom(CustomEvent),
    /// The attempt has failed and a retry follows. The attempt's pieces and events are void.
    Retry {
        /// The error.
        error: petalflow::NodeError,
    },
    /// Tools have asked ([`Context::ask`](petalflow::Context::ask)) while other calls of the turn run. What they ask is stored, and
    /// can be answered now. If some of it is still open when the other calls have ended, [`Interrupted`](Self::Interrupted) follows.
    Asked(Vec<Interrupt>),
    /// The turn has ended.
    Finished(Box<Conversation>),
    /// A tool has interrupted the run ([`Context::ask`](petalflow::Context::ask)), and the turn waits for an answer.
    Interrupted(Vec<Interrupt>),
    /// A tool sleeps ([`Context::sleep`](petalflow::Context::sleep)), and the turn goes on after this time.
    Sleeping(SystemTime),
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

/// Stream of the events of an agent's run, made by [`Agent::events`](crate::Agent::events). Polling it drives the
/// run. Dropping it stops the run at once.
///
/// ```
/// use petalflow_agent::{Agent, stream::AgentEventKind};
/// use petalflow_llm::{Reply, ScriptedModel};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let model = ScriptedModel::new([Reply::chunks(["Good ", "morning"])]);
/// let mut events = Agent::new(model).streaming().events("hello");
/// let mut pieces = Vec::new();
/// while let Some(item) = events.next().await {
///     match item.kind {
///         AgentEventKind::Partial(piece) => pieces.push(piece.text()),
///         AgentEventKind::Retry { .. } => pieces.clear(),
///         AgentEventKind::Finished(talk) => assert_eq!(pieces.concat(), talk.answer()),
///         _ => {}
///     }
/// }
/// assert_eq!(pieces, ["Good ", "morning"]);
/// # }
/// ```
#[must_use = "the stream drives the run: nothing happens before it is polled"]
pub struct AgentEvents {
    events: Events<AgentFlow>,
    ready: VecDeque<AgentStreamItem>,
    /// The ids of the events that were streamed before they were written. They are written to the conversation later,
    /// and those of nested agents are written twice.
    emitted: HashSet<String>,
}

impl AgentEvents {
    /// Creates the stream from the events of a run, such as a run of a thread.
    pub fn new(events: Events<AgentFlow>) -> Self {
        AgentEvents {
            events: events.without_progress(),
            ready: VecDeque::new(),
            emitted: HashSet::new(),
        }
    }

    fn take(&mut self, outer: &Event<Conversation>) {
        let mut event = outer;
        while let Some(inner) = event.nested::<Conversation>() {
            event = inner;
        }
        let is_nested = !std::ptr::eq(event, outer);
        let kind = match &event.kind {
            EventKind::NodeFinished { update, .. } => {
                for new in update
                    .of::<ConversationEvents>()
                    .iter()
                    .flat_map(Write::value)
                {
                    // The caller knows the user's message already.
                    let is_news = !(new.is_from_user() && event.node() == Some("begin"));
                    let is_known = if is_nested {
                        !self.emitted.insert(new.id.clone())
                    } else {
                        self.emitted.remove(&new.id)
                    };
                    if is_news && !is_known {
                        self.push(event, AgentEventKind::Event(new.clone()));
                    }
                }
                return;
            }
            EventKind::Custom(custom) => match custom.downcast_ref::<AgentEvent>() {
                Some(piece) if piece.partial => AgentEventKind::Partial(piece.clone()),
                Some(event) => {
                    self.emitted.insert(event.id.clone());
                    AgentEventKind::Event(event.clone())
                }
                None => own_event(custom).unwrap_or_else(|| AgentEventKind::Custom(custom.clone())),
            },
            EventKind::Retry { error, .. } => AgentEventKind::Retry {
                error: error.clone(),
            },
            EventKind::Asked { interrupts } => AgentEventKind::Asked(interrupts.clone()),
            _ => return,
        };
        self.push(event, kind);
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

/// An event of this crate that is not a message.
fn own_event(custom: &CustomEvent) -> Option<AgentEventKind> {
    if let Some(compacted) = custom.downcast_ref::<CompactionEvent>() {
        return Some(AgentEventKind::Compacted(compacted.clone()));
    }
    if let Some(output) = custom.downcast_ref::<PartialOutput>() {
        return Some(AgentEventKind::PartialOutput(output.clone()));
    }
    let guardrail = custom.downcast_ref::<GuardrailEvent>()?;
    Some(AgentEventKind::Guardrail(guardrail.clone()))
}

impl AgentEvents {
    /// The next event. `None` after the last one. Programs need no other crate to read the stream with it.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let mut events = Agent::new(ScriptedModel::new(["hello"])).events("hi");
    /// let mut count = 0;
    /// while events.next().await.is_some() {
    ///     count += 1;
    /// }
    /// assert_eq!(count, 2, "the answer and the end of the run");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses no event. The run stops until the stream is polled again.
    pub async fn next(&mut self) -> Option<AgentStreamItem> {
        std::future::poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
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
                Some(event) if is_end(&event.kind) => {
                    let kind = match event.kind {
                        EventKind::Interrupted { interrupts, .. } => {
                            AgentEventKind::Interrupted(interrupts)
                        }
                        EventKind::Sleeping { until, .. } => AgentEventKind::Sleeping(until),
                        EventKind::Finished { state } => AgentEventKind::Finished(Box::new(state)),
                        EventKind::Failed { error } => AgentEventKind::Failed(error),
                        _ => continue,
                    };
                    return Poll::Ready(Some(AgentStreamItem::end(event.superstep, kind)));
                }
                Some(event) => self.take(&event),
                None => return Poll::Ready(None),
            }
        }
    }
}

/// Whether the event is the last one. Others are read where they are: an event has room for a whole conversation.
fn is_end(kind: &EventKind<Conversation>) -> bool {
    matches!(
        kind,
        EventKind::Interrupted { .. }
            | EventKind::Sleeping { .. }
            | EventKind::Finished { .. }
            | EventKind::Failed { .. }
    )
}

impl fmt::Debug for AgentEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentEvents").finish_non_exhaustive()
    }
}
