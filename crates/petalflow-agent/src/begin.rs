//! The start of a turn: turns the user's message into an event and selects the agent that answers.

use std::sync::Arc;

use super::conversation::{PendingCall, Speaker};
use super::roster::Roster;
use super::single_turn::Waiting;
use super::{
    AgentError, AgentEvent, CREDENTIAL, Conversation, Mode, credential, people, single_turn,
};
use petalflow::Context;
use petalflow_llm::{ChatMessage, Part};

/// Result of the start of a turn.
pub(super) struct Begun {
    pub(super) invocation: String,
    /// The user's message without credentials, if it contained some. Only the calls that need a credential get it.
    pub(super) message: Option<ChatMessage>,
    pub(super) events: Vec<AgentEvent>,
    pub(super) speakers: Vec<Speaker>,
    /// The calls that the user has just decided about.
    pub(super) calls: Vec<PendingCall>,
}

/// Starts a turn.
pub(super) fn begin(
    roster: &Arc<Roster>,
    conversation: &Conversation,
    cx: &Context,
) -> Result<Begun, AgentError> {
    let events = &*conversation.events;
    let invocation = cx.task_id().to_string();
    let Some(message) = &conversation.message else {
        // There is no new message, but the existing events may still need an answer.
        if events.is_empty() {
            return Err(AgentError::Nothing);
        }
        return Ok(Begun {
            invocation,
            message: None,
            events: Vec::new(),
            speakers: speakers(roster, conversation),
            calls: Vec::new(),
        });
    };
    let message = named(events, message);
    let gives = message
        .tool_results()
        .any(|result| result.name == CREDENTIAL);
    let without = gives.then(|| scrubbed(message.clone()));
    let waiting = conversation.waiting.as_deref().unwrap_or_default();
    let mut speakers = speakers(roster, conversation);
    let listens = |waiting: &Waiting| {
        let asked = caller(events, &waiting.call.id);
        asked.is_some_and(|asked| speakers.last().is_some_and(|last| last.made(asked)))
    };
    let (message, answers) = single_turn::divided(waiting, message, listens);
    let asked = answers.first().map(|(waiting, _)| &*waiting.call.id);
    if let Some(caller) = message
        .tool_results()
        .map(|result| &*result.call_id)
        .chain(asked)
        .find_map(|id| caller(events, id))
        && let Some(place) = roster.place(&caller.author)
        && caller.scope.is_none()
        && roster.at(place).agent.mode == Mode::Chat
    {
        speakers = vec![speaker(roster, place)];
    }
    let last = speakers.last();
    let scope = last.and_then(|speaker| speaker.task.as_ref());
    let scope = scope.map(|task| task.id.clone());
    let agent = last.map(|speaker| &*speaker.agent).unwrap_or_default();
    let mut calls = people::decided(events, agent, &message)?;
    let mut said = Vec::new();
    if answers.is_empty() || !message.parts.is_empty() {
        said.push((scope.clone(), message));
    }
    for (waiting, answer) in answers {
        let asked = caller(&conversation.events, &waiting.call.id);
        if !asked.is_some_and(|asked| last.is_some_and(|last| last.made(asked))) {
            return Err(AgentError::Confirmation(format!(
                "what agent `{}` waits for is not for agent `{agent}`, which has the conversation: answer it by itself, and while \
                 whoever asked it is at work",
                waiting.call.name
            )));
        }
        // Only the waiting agent reads this answer.
        said.push((Some(waiting.call.id.clone()), answer.clone()));
        calls.push(PendingCall {
            answer: Some(answer),
            ..PendingCall::new(calls.len(), waiting.call.clone())
        });
    }
    let said = said.into_iter().enumerate();
    let events = said.map(|(number, (scope, message))| AgentEvent {
        id: format!("{invocation}-{number}"),
        invocation: invocation.clone(),
        branch: conversation.branch.clone(),
        scope,
        ..AgentEvent::new(AgentEvent::USER, scrubbed(message))
    });
    Ok(Begun {
        events: events.collect(),
        message: without,
        invocation,
        speakers,
        calls,
    })
}

/// The message, with the name of its tool added to each result.
fn named(events: &[AgentEvent], message: &ChatMessage) -> ChatMessage {
    let mut message = message.clone();
    for part in &mut message.parts {
        let Part::Result(result) = part else { continue };
        if !result.name.is_empty() {
            continue;
        }
        let event = caller(events, &result.call_id);
        let message = event.and_then(|event| event.message.as_ref());
        let mut calls = message.into_iter().flat_map(ChatMessage::calls);
        if let Some(call) = calls.find(|call| call.id == result.call_id) {
            result.name.clone_from(&call.name);
        }
    }
    message
}

/// The event that contains the call with this id.
fn caller<'e>(events: &'e [AgentEvent], id: &str) -> Option<&'e AgentEvent> {
    events.iter().rev().find(|event| {
        let mut calls = event.message.iter().flat_map(ChatMessage::calls);
        calls.any(|call| call.id == id)
    })
}

/// The message without the credentials in it.
fn scrubbed(mut message: ChatMessage) -> ChatMessage {
    for part in &mut message.parts {
        if let Part::Result(result) = part
            && result.name == CREDENTIAL
        {
            result.content = credential::scrubbed(&result.content);
        }
    }
    message
}

/// The speakers at the end of the last turn if they may keep the conversation; otherwise the root.
fn speakers(roster: &Roster, conversation: &Conversation) -> Vec<Speaker> {
    let known = |speaker: &Speaker| roster.place(&speaker.agent).is_some();
    let speakers = &conversation.speakers;
    let keeps = speakers.iter().all(known)
        && speakers
            .first()
            .and_then(|speaker| roster.place(&speaker.agent))
            .is_some_and(|place| keeps_the_conversation(roster, place));
    if keeps {
        speakers.clone()
    } else {
        vec![speaker(roster, Roster::ROOT)]
    }
}

impl Speaker {
    /// Whether this speaker made the event.
    fn made(&self, event: &AgentEvent) -> bool {
        let scope = self.task.as_ref().map(|task| &*task.id);
        event.author == self.agent && event.scope.as_deref() == scope
    }
}

fn speaker(roster: &Roster, place: usize) -> Speaker {
    Speaker {
        agent: roster.at(place).agent.name.to_string(),
        task: None,
    }
}

/// Whether the agent may keep the conversation. An agent that cannot transfer back to the root would keep it forever.
fn keeps_the_conversation(roster: &Roster, place: usize) -> bool {
    // A `SingleTurn` agent is called by its name.
    if roster.at(place).agent.mode == Mode::SingleTurn {
        return true;
    }
    let mut line = std::iter::once(place).chain(roster.above(place));
    line.all(|place| place == Roster::ROOT || roster.at(place).agent.transfers.up)
}
