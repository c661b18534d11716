//! Removes the events that nothing reads any more from a conversation. They stay in the checkpoints of its thread.

use crate::conversation::cut::Cut;
use crate::conversation::history::{self, Reader};
use crate::conversation::{ConversationCuts, ConversationEvents, ConversationRemoved};
use crate::definition::{AgentTree, Definition, History, Mode};
use crate::{AgentEvent, Conversation, Pending};
use petalflow::node::{Effects, Key, Output, WriteOutput};
use petalflow::state::KeySet;
use petalflow::{BoxError, Overwrite};

/// What the start of a turn does to the events of a conversation.
pub(crate) enum StartedEvents {
    /// Events that come after the others.
    New(Vec<AgentEvent>),
    /// The first events are removed.
    Shortened {
        /// The number of events that are removed.
        removed: u64,
        /// The events that remain, with the new ones.
        events: Vec<AgentEvent>,
        cuts: Vec<Cut>,
    },
}

impl StartedEvents {
    /// Adds `new` events to the conversation, and removes those that nothing reads any more if they are at least half.
    ///
    /// Each event is copied twice at most for one that was added, so a turn takes the same time after any number of
    /// events.
    pub(super) fn of(tree: &AgentTree, conversation: &Conversation, new: Vec<AgentEvent>) -> Self {
        let events = &*conversation.events;
        let mut agents = tree.agents();
        if !agents.any(|agent| agent.removes_cut_events) {
            return StartedEvents::New(new);
        }
        let mut agents = tree.agents();
        let is_cut = agents.any(|agent| {
            let cut = cut(agent, conversation);
            cut.is_some_and(|cut| cut.from * 2 >= events.len())
        });
        let unread = if is_cut {
            unread(tree, conversation)
        } else {
            0
        };
        if unread == 0 || unread * 2 < events.len() {
            return StartedEvents::New(new);
        }
        let cuts = conversation.cuts.iter();
        StartedEvents::Shortened {
            removed: unread as u64,
            events: events[unread..].iter().cloned().chain(new).collect(),
            cuts: cuts.filter_map(|cut| cut.without(unread)).collect(),
        }
    }
}

/// The number of events at the start of the conversation that no agent reads, and that no open call, task or question
/// belongs to.
fn unread(tree: &AgentTree, conversation: &Conversation) -> usize {
    let events = &*conversation.events;
    let mut first_read = tree.agents().map(|agent| first_read(agent, conversation));
    // Steps read the last turn, which may have been interrupted.
    let last = events
        .iter()
        .rfind(|event| event.branch == conversation.branch);
    let last = last.map_or(0, |last| start_of_turn(events, last));
    let pending = conversation.pending();
    let tasks = conversation.speakers.iter();
    let tasks = tasks.filter_map(|speaker| speaker.task.as_ref());
    let waiting = conversation.waiting.iter().flatten();
    let open = tasks.chain(waiting.map(|waiting| &waiting.call));
    let open = open.map(|call| &*call.id);
    let open = open.chain(pending.iter().map(Pending::id));
    let open = open.chain(conversation.decided.iter().map(|id| &**id));
    let open = open.chain(
        conversation
            .outcomes
            .iter()
            .map(|outcome| &*outcome.call_id),
    );
    let open = open.filter_map(|id| events.iter().find(|event| event.has_call(id)));
    let open = open.map(|event| start_of_turn(events, event));
    let first_read = first_read.try_fold(last, |first, read| Some(first.min(read?)));
    first_read.map_or(0, |first| open.fold(first, usize::min))
}

/// The first event of the turn that an event belongs to.
fn start_of_turn(events: &[AgentEvent], of: &AgentEvent) -> usize {
    let mut turn = events.iter();
    let start = turn.position(|event| event.invocation == of.invocation);
    start.unwrap_or(0)
}

/// The first event that the agent reads in a new turn. `None` if it reads all of them.
fn first_read(agent: &Definition, conversation: &Conversation) -> Option<usize> {
    // Agents in the other modes read the turn that calls them.
    if agent.mode != Mode::Chat || agent.history == History::Turn {
        return Some(usize::MAX);
    }
    let cut = cut(agent, conversation)?;
    let messages = history::messages(
        &conversation.events,
        &reader(agent, conversation),
        Some(cut),
    );
    let read = messages.ok()?.into_iter().filter_map(|(origin, _)| origin);
    read.chain(cut.request).chain([cut.from]).min()
}

/// What the agent reads instead of the start of the conversation.
fn cut<'c>(agent: &Definition, conversation: &'c Conversation) -> Option<&'c Cut> {
    reader(agent, conversation).cut(&conversation.cuts, &conversation.events)
}

fn reader(agent: &Definition, conversation: &Conversation) -> Reader {
    Reader {
        agent: agent.name.clone(),
        branch: conversation.branch.clone(),
        plans: agent.plans.clone(),
        runs_code: agent.code_executor.is_some(),
        reads_called: agent.history == History::WithCalled,
        task: None,
    }
}

impl Output<Conversation> for StartedEvents {
    const MAY_WRITE: KeySet = Self::MUST_WRITE
        .union(KeySet::of(ConversationCuts::INDEX))
        .union(KeySet::of(ConversationRemoved::INDEX));
    const MUST_WRITE: KeySet = KeySet::of(ConversationEvents::INDEX);
    type Routing = ();

    fn apply(self, effects: &mut Effects<Conversation>) -> Result<(), BoxError> {
        match self {
            StartedEvents::New(events) => ConversationEvents(events).apply(effects),
            StartedEvents::Shortened {
                removed,
                events,
                cuts,
            } => {
                Overwrite(ConversationEvents(events)).apply(effects)?;
                ConversationCuts(cuts).apply(effects)?;
                ConversationRemoved(removed).apply(effects)
            }
        }
    }
}

impl WriteOutput<Conversation> for StartedEvents {}
