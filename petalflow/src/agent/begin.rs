//! How a turn begins: what the user says becomes an event, and it is clear who answers.

use std::sync::Arc;

use super::conversation::{PendingCall, Speaker};
use super::roster::Roster;
use super::{AgentError, AgentEvent, Conversation, Mode, confirmation};
use crate::Context;
use crate::llm::{ChatMessage, Part};

/// How a turn begins.
pub(super) struct Begun {
    pub(super) invocation: String,
    pub(super) events: Vec<AgentEvent>,
    pub(super) speakers: Vec<Speaker>,
    /// The calls that the user has just decided about.
    pub(super) calls: Vec<PendingCall>,
}

/// Begins a turn.
pub(super) fn begin(
    roster: &Arc<Roster>,
    conversation: &Conversation,
    cx: &Context,
) -> Result<Begun, AgentError> {
    let events = &*conversation.events;
    let invocation = cx.task_id().to_string();
    let Some(message) = &conversation.message else {
        // Nothing new was said: what there is may still want an answer.
        if events.is_empty() {
            return Err(AgentError::Nothing);
        }
        return Ok(Begun {
            invocation,
            events: Vec::new(),
            speakers: speakers(roster, conversation),
            calls: Vec::new(),
        });
    };
    let (message, caller) = addressed(events, message);
    let mut speakers = speakers(roster, conversation);
    if let Some(caller) = caller
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
    let calls = confirmation::decided(events, agent, &message)?;
    let event = AgentEvent {
        id: format!("{invocation}-0"),
        invocation: invocation.clone(),
        branch: conversation.branch.clone(),
        scope,
        ..AgentEvent::new(AgentEvent::USER, message)
    };
    Ok(Begun {
        invocation,
        events: vec![event],
        speakers,
        calls,
    })
}

/// The message, with the name of each result's tool, and the event that has the call of the first.
fn addressed<'e>(
    events: &'e [AgentEvent],
    message: &ChatMessage,
) -> (ChatMessage, Option<&'e AgentEvent>) {
    let mut message = message.clone();
    let mut caller = None;
    for part in &mut message.parts {
        let Part::Result(result) = part else { continue };
        let called = events.iter().rev().find_map(|event| {
            let mut calls = event.message.iter().flat_map(ChatMessage::calls);
            Some((event, calls.find(|call| call.id == result.call_id)?))
        });
        if let Some((event, call)) = called {
            if result.name.is_empty() {
                result.name.clone_from(&call.name);
            }
            caller = caller.or(Some(event));
        }
    }
    (message, caller)
}

/// Who spoke when the last turn ended, as long as they may keep the conversation; else the root.
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

fn speaker(roster: &Roster, place: usize) -> Speaker {
    Speaker {
        agent: roster.at(place).agent.name.to_string(),
        task: None,
    }
}

/// An agent from which there is no way back up would have it for ever.
fn keeps_the_conversation(roster: &Roster, place: usize) -> bool {
    // One that is asked once is asked by its name.
    if roster.at(place).agent.mode == Mode::SingleTurn {
        return true;
    }
    let mut line = std::iter::once(place).chain(roster.above(place));
    line.all(|place| place == Roster::ROOT || roster.at(place).agent.transfers.up)
}
