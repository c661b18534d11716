//! Decisions of a person about calls, and the check that an answer is about the requested call.

use serde_json::Value;

use super::calls::PendingCall;
use crate::human::{self, CONFIRMATION, CREDENTIAL, confirmation, credential};
use crate::{AgentError, AgentEvent};
use petalflow::tool::{Confirmation, ToolCall, ToolResult};
use petalflow_llm::ChatMessage;

/// The position of a call in a conversation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CallPosition {
    /// The index of the event.
    event: usize,
    /// The index of the call among the calls of the event.
    call: usize,
}

/// A call that a person has decided about: its position in the conversation, and the decision.
struct DecidedCall {
    position: CallPosition,
    call: ToolCall,
    confirmation: Option<Confirmation>,
    credential: Option<Value>,
}

/// The calls that `answers` decide about, in the order in which the model made them. Each is made once, as the model
/// made it. Requests that were answered before are skipped. Fails if `agent` has not made the request, or if the
/// answer is about another call.
pub(crate) fn decided_calls(
    events: &[AgentEvent],
    agent: &str,
    answers: &ChatMessage,
) -> Result<Vec<PendingCall>, AgentError> {
    let mut decided: Vec<DecidedCall> = Vec::new();
    for answer in answers.tool_results() {
        if !human::is_request(&answer.name) {
            continue;
        }
        let (request_at, request) = find_request(events, agent, answer)?;
        let was_answered = events[request_at..]
            .iter()
            .any(|event| is_answer_to(event, &answer.call_id));
        if !was_answered {
            let call = decided_call(&events[..request_at], agent, request, answer_value(answer))?;
            add(&mut decided, call);
        }
    }
    Ok(in_order(events, agent, decided))
}

/// The calls with these ids, with the decisions about them in the conversation. The turn that was to make them was
/// interrupted. The conversation contains no credentials: those are in the repeated `answers`, or the call asks for them
/// again.
pub(crate) fn calls_to_repeat(
    events: &[AgentEvent],
    agent: &str,
    answers: &[ToolResult],
    ids: &[&str],
) -> Vec<PendingCall> {
    let mut decided: Vec<DecidedCall> = Vec::new();
    let of_user = events.iter().filter(|event| event.is_from_user());
    for stored in of_user.flat_map(AgentEvent::results) {
        if !human::is_request(&stored.name) {
            continue;
        }
        let Ok((request_at, request)) = find_request(events, agent, stored) else {
            continue;
        };
        let repeated = answers
            .iter()
            .find(|answer| answer.call_id == stored.call_id);
        let answer = repeated
            .filter(|_| stored.name == CREDENTIAL)
            .unwrap_or(stored);
        let before = &events[..request_at];
        let Ok(mut call) = decided_call(before, agent, request, answer_value(answer)) else {
            continue;
        };
        call.credential = call.credential.filter(|_| repeated.is_some());
        if ids.contains(&&*call.call.id) {
            add(&mut decided, call);
        }
    }
    in_order(events, agent, decided)
}

/// Adds a decision. If there are two about one call, the first one counts.
fn add(decided: &mut Vec<DecidedCall>, new: DecidedCall) {
    // Not by the id: some servers give calls of different answers the same id.
    let known = decided
        .iter_mut()
        .find(|known| known.position == new.position);
    match known {
        Some(known) => {
            known.confirmation = known.confirmation.take().or(new.confirmation);
            known.credential = known.credential.take().or(new.credential);
        }
        None => decided.push(new),
    }
}

/// The decided calls, in the order in which the model made them.
fn in_order(events: &[AgentEvent], agent: &str, mut decided: Vec<DecidedCall>) -> Vec<PendingCall> {
    decided.sort_by_key(|decided| decided.position);
    let calls = decided.into_iter().enumerate();
    let calls = calls.map(|(index, decided)| PendingCall {
        confirmation: decided
            .confirmation
            .or_else(|| earlier_approval(events, agent, decided.position)),
        credential: decided.credential,
        ..PendingCall::new(index, decided.call)
    });
    calls.collect()
}

/// The request of the agent to which this is the answer, and the index of its event.
fn find_request<'e>(
    events: &'e [AgentEvent],
    agent: &str,
    answer: &ToolResult,
) -> Result<(usize, &'e ToolCall), AgentError> {
    let requests = events.iter().enumerate().rev();
    let mut requests =
        requests.flat_map(|(index, event)| event.calls().map(move |call| (index, event, call)));
    let request = requests.find(|(_, event, call)| {
        event.author == agent && call.name == answer.name && call.id == answer.call_id
            // A call by the model is not a request: only the agent itself makes a call that it waits for.
            && event.long_running.contains(&call.id)
    });
    let (index, _, call) = request.ok_or_else(|| not_requested(agent, answer))?;
    Ok((index, call))
}

fn not_requested(agent: &str, answer: &ToolResult) -> AgentError {
    let what = match &*answer.name {
        CREDENTIAL => "credential",
        _ => "confirmation",
    };
    AgentError::Confirmation(format!(
        "agent `{agent}` has not asked for the {what} `{}`: answer to the id of a pending one",
        answer.call_id
    ))
}

/// The decision in an answer to this request.
fn decided_call(
    before: &[AgentEvent],
    agent: &str,
    request: &ToolCall,
    answer: Value,
) -> Result<DecidedCall, AgentError> {
    let refused = |id: &str, name: &str| {
        AgentError::Confirmation(format!(
            "the confirmed call `{id}` of `{name}` is not one that the model of agent `{agent}` made"
        ))
    };
    if request.name == CONFIRMATION {
        let (original, _) = confirmation::parse_request(request).unwrap_or_default();
        let found = find_call(before, agent, &original.id)
            .filter(|(_, call)| call.name == original.name && call.arguments == original.arguments);
        let (position, call) = found.ok_or_else(|| refused(&original.id, &original.name))?;
        return Ok(DecidedCall {
            position,
            call: call.clone(),
            confirmation: Some(confirmation::parse_answer(&answer)),
            credential: None,
        });
    }
    let (id, wanted) = credential::parse_request(request).unwrap_or_default();
    let found = find_call(before, agent, &id);
    let (position, call) = found.ok_or_else(|| refused(&id, &wanted.key))?;
    Ok(DecidedCall {
        position,
        call: call.clone(),
        confirmation: None,
        credential: Some(credential::parse_answer(&wanted, answer)),
    })
}

/// The call with this id as the agent's model made it, and its position.
fn find_call<'e>(
    events: &'e [AgentEvent],
    agent: &str,
    id: &str,
) -> Option<(CallPosition, &'e ToolCall)> {
    let by_agent = events.iter().enumerate().rev();
    let by_agent = by_agent.filter(|(_, event)| event.author == agent);
    let mut calls = by_agent.flat_map(|(event_index, event)| {
        let calls = event.calls().enumerate();
        calls.map(move |(call_index, call)| {
            let position = CallPosition {
                event: event_index,
                call: call_index,
            };
            (position, call)
        })
    });
    calls.find(|(_, call)| call.id == id)
}

/// The earlier approval of the call at this position. The person does not have to approve it again. An approval of
/// another call with the same id does not count.
fn earlier_approval(
    events: &[AgentEvent],
    agent: &str,
    position: CallPosition,
) -> Option<Confirmation> {
    // It comes after the call.
    let answers = events[position.event..].iter().rev();
    let mut answers = answers.filter(|event| event.is_from_user());
    answers.find_map(|event| {
        let mut answers = event.results().filter(|answer| answer.name == CONFIRMATION);
        answers.find_map(|answer| {
            let (request_at, request) = find_request(events, agent, answer).ok()?;
            let before = &events[..request_at];
            let earlier = decided_call(before, agent, request, answer_value(answer)).ok()?;
            let is_same = earlier.position == position;
            let confirmation = earlier.confirmation?;
            (is_same && confirmation.confirmed).then_some(confirmation)
        })
    })
}

fn is_answer_to(event: &AgentEvent, id: &str) -> bool {
    event.is_from_user() && event.results().any(|result| result.call_id == id)
}

/// The answer of a person. Front ends may wrap it as text in `response`.
fn answer_value(answer: &ToolResult) -> Value {
    let wrapped = answer.content.get("response").and_then(Value::as_str);
    let unwrapped = wrapped.and_then(|text| serde_json::from_str(text).ok());
    unwrapped.unwrap_or_else(|| answer.content.clone())
}
