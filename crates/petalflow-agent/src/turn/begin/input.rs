//! The start of a turn: turns the user's message into an event and selects the agent that answers.

use std::sync::Arc;

use super::unfinished::Unfinished;
use crate::conversation::{PendingCall, Speaker, Waiting, decisions, repeated};
use crate::definition::{AgentTree, Mode};
use crate::extension::event_id;
use crate::human::{CREDENTIAL, credential};
use crate::turn::calls::sub_agent;
use crate::turn::ctx::RunAgent;
use crate::turn::turn_start::{TurnStart, TurnStep};
use crate::{AgentError, AgentEvent, Conversation};
use petalflow::Context;
use petalflow_llm::{ChatMessage, Part};
use serde_json::Map;

/// Starts a turn.
pub(in crate::turn) fn begin(
    tree: &Arc<AgentTree>,
    conversation: &Conversation,
    cx: &Context,
    run_agent: RunAgent,
) -> Result<TurnStart, AgentError> {
    let events = &*conversation.events;
    if events.is_empty() && conversation.message.is_none() {
        return Err(AgentError::NoMessage);
    }
    let left = Unfinished::of(tree, conversation);
    let mut start = TurnStart {
        turn_id: cx.task_id().to_string(),
        message: None,
        events: Vec::new(),
        speakers: speakers(tree, conversation),
        state: Map::new(),
        decided: Vec::new(),
        waiting: None,
        spent: conversation.unfinished,
        next: TurnStep::Ask,
    };
    let Some(message) = &conversation.message else {
        // There is no new message, but the existing events may still need an answer.
        left.close(&mut start, tree, conversation, cx, run_agent)?;
        return Ok(start);
    };
    let message = with_tool_names(events, message);
    let has_credentials = message
        .tool_results()
        .any(|result| result.name == CREDENTIAL);
    start.message = has_credentials.then(|| redacted(message.clone()));
    let (message, repeated) = repeated::split(conversation, message);
    if message.parts.is_empty() && !repeated.is_empty() {
        left.continue_turn(&mut start, tree, conversation, cx, run_agent, &repeated)?;
        return Ok(start);
    }
    left.close(&mut start, tree, conversation, cx, run_agent)?;
    answer(start, tree, conversation, message)
}

/// Starts the turn of a message.
fn answer(
    mut start: TurnStart,
    tree: &AgentTree,
    conversation: &Conversation,
    message: ChatMessage,
) -> Result<TurnStart, AgentError> {
    let events = &*conversation.events;
    let waiting = conversation.waiting.as_deref().unwrap_or_default();
    let has_called = |speaker: Option<&Speaker>, waiting: &Waiting| {
        speaker.is_some_and(|speaker| speaker.has_called(waiting, events))
    };
    let reads_text = |waiting: &Waiting| has_called(start.speakers.last(), waiting);
    let (message, answers) = sub_agent::split_answers(waiting, message, reads_text);
    let waiting_call = answers.first().map(|(waiting, _)| &*waiting.call.id);
    let results = message.tool_results().map(|result| &*result.call_id);
    if let Some(caller) = speaker_with_call(tree, events, results.chain(waiting_call)) {
        start.speakers = vec![caller];
    }
    let last = start.speakers.last();
    let scope = last.and_then(|speaker| speaker.task.as_ref());
    let scope = scope.map(|task| task.id.clone());
    let agent = last.map(|speaker| &*speaker.agent).unwrap_or_default();
    let mut calls = decisions::decided_calls(events, agent, &message)?;
    start.decided = calls.iter().map(|call| call.call.id.clone()).collect();
    let mut messages = Vec::with_capacity(answers.len() + 1);
    if answers.is_empty() || !message.parts.is_empty() {
        messages.push((scope.clone(), message));
    }
    for (waiting, answer) in answers {
        if !has_called(last, waiting) {
            return Err(AgentError::Confirmation(format!(
                "agent `{}` waits for an answer, and agent `{agent}`, which has the conversation, did not call it: give the answer \
                 in an input of its own, while the agent that called it has the conversation",
                waiting.call.name
            )));
        }
        // Only the waiting agent reads this answer.
        messages.push((Some(waiting.call.id.clone()), answer.clone()));
        calls.push(PendingCall {
            answer: Some(answer),
            ..PendingCall::new(calls.len(), waiting.call.clone())
        });
    }
    add_messages(&mut start, conversation, messages);
    if !calls.is_empty() {
        start.next = TurnStep::Call(calls);
    }
    Ok(start)
}

/// The agent that made one of the calls with these ids, if it can have the conversation.
fn speaker_with_call<'e>(
    tree: &AgentTree,
    events: &[AgentEvent],
    mut ids: impl Iterator<Item = &'e str>,
) -> Option<Speaker> {
    let caller = ids.find_map(|id| event_with_call(events, id))?;
    let index = tree.index(&caller.author)?;
    let may_speak = caller.scope.is_none() && tree.agent(index).mode == Mode::Chat;
    may_speak.then(|| speaker(tree, index))
}

/// Adds an event of the user for each message, with the call whose agent alone reads it.
fn add_messages(
    start: &mut TurnStart,
    conversation: &Conversation,
    messages: Vec<(Option<String>, ChatMessage)>,
) {
    // The events of an interrupted turn have the numbers before.
    let first = if start.events.is_empty() { 0 } else { 5 };
    start.events.reserve_exact(messages.len());
    for (number, (scope, message)) in messages.into_iter().enumerate() {
        start.events.push(AgentEvent {
            id: event_id(&start.turn_id, first + number),
            invocation: start.turn_id.clone(),
            branch: conversation.branch.clone(),
            scope,
            ..AgentEvent::new(AgentEvent::USER, redacted(message))
        });
    }
}

/// The message, with the name of its tool added to each result.
fn with_tool_names(events: &[AgentEvent], message: &ChatMessage) -> ChatMessage {
    let mut message = message.clone();
    for part in &mut message.parts {
        let Part::Result(result) = part else { continue };
        if !result.name.is_empty() {
            continue;
        }
        let event = event_with_call(events, &result.call_id);
        let mut calls = event.into_iter().flat_map(AgentEvent::calls);
        if let Some(call) = calls.find(|call| call.id == result.call_id) {
            result.name.clone_from(&call.name);
        }
    }
    message
}

/// The event that contains the call with this id.
fn event_with_call<'e>(events: &'e [AgentEvent], id: &str) -> Option<&'e AgentEvent> {
    events.iter().rev().find(|event| event.has_call(id))
}

/// The message without the credentials in it.
fn redacted(mut message: ChatMessage) -> ChatMessage {
    for part in &mut message.parts {
        if let Part::Result(result) = part
            && result.name == CREDENTIAL
        {
            result.content = credential::redacted(&result.content);
        }
    }
    message
}

/// The speakers at the end of the last turn if they may keep the conversation; otherwise the root.
fn speakers(tree: &AgentTree, conversation: &Conversation) -> Vec<Speaker> {
    let known = |speaker: &Speaker| tree.index(&speaker.agent).is_some();
    let speakers = &conversation.speakers;
    let may_keep = speakers.iter().all(known)
        && speakers
            .first()
            .and_then(|speaker| tree.index(&speaker.agent))
            .is_some_and(|index| may_keep_conversation(tree, index));
    if may_keep {
        speakers.clone()
    } else {
        vec![speaker(tree, AgentTree::ROOT)]
    }
}

impl Speaker {
    /// Whether this speaker made the call of the waiting agent.
    fn has_called(&self, waiting: &Waiting, events: &[AgentEvent]) -> bool {
        let call = events.iter().rev().find(|event| {
            // Other calls may have the same id.
            event.calls().any(|call| *call == waiting.call)
        });
        call.is_some_and(|call| self.is_author_of(call))
    }

    /// Whether this speaker made the event.
    fn is_author_of(&self, event: &AgentEvent) -> bool {
        let scope = self.task.as_ref().map(|task| &*task.id);
        event.author == self.agent && event.scope.as_deref() == scope
    }
}

fn speaker(tree: &AgentTree, index: usize) -> Speaker {
    Speaker {
        agent: tree.agent(index).name.to_string(),
        task: None,
    }
}

/// Whether the agent may keep the conversation. An agent that cannot transfer back to the root would keep it forever.
fn may_keep_conversation(tree: &AgentTree, index: usize) -> bool {
    // A `SingleTurn` agent is called by its name.
    if tree.agent(index).mode == Mode::SingleTurn {
        return true;
    }
    let mut line = std::iter::once(index).chain(tree.above(index));
    line.all(|index| index == AgentTree::ROOT || tree.agent(index).transfers.to_parent)
}
