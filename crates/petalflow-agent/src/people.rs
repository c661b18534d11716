//! Requests of agents to people, and the check that an answer is about the requested call.

use serde_json::Value;

use super::conversation::PendingCall;
use super::{AgentError, AgentEvent, CONFIRMATION, CREDENTIAL, confirmation, credential};
use petalflow::tool::{Confirmation, ToolCall, ToolResult};
use petalflow_llm::{ChatMessage, Part, Role};

/// The event in which an agent asks people: one call with this name for each of these calls, with these arguments.
/// `None` if there are no calls.
pub(super) fn request<'c>(
    name: &str,
    asked: impl Iterator<Item = (&'c ToolCall, Value)>,
    filled: AgentEvent,
) -> Option<AgentEvent> {
    let parts: Vec<Part> = asked
        .enumerate()
        .map(|(number, (call, arguments))| {
            Part::Call(ToolCall {
                id: format!("{}-{number}", filled.id),
                name: name.into(),
                arguments,
                signature: call.signature.clone(),
            })
        })
        .collect();
    if parts.is_empty() {
        return None;
    }
    let message = ChatMessage::new(Role::Assistant, parts);
    let long_running = message.calls().map(|call| call.id.clone()).collect();
    Some(AgentEvent {
        message: Some(message),
        long_running,
        ..filled
    })
}

/// A call that people have decided about: its position in the conversation, and the decision.
struct DecisionEvent {
    place: (usize, usize),
    call: ToolCall,
    confirmation: Option<Confirmation>,
    credential: Option<Value>,
}

/// The calls that `answers` decide about, in the order in which the model made them. Each is made once, as the model
/// made it. Requests that were answered before are skipped. Fails if `agent` has not made the request, or if the
/// answer is about another call.
pub(super) fn decided(
    events: &[AgentEvent],
    agent: &str,
    answers: &ChatMessage,
) -> Result<Vec<PendingCall>, AgentError> {
    let mut decided: Vec<DecisionEvent> = Vec::new();
    for answer in answers.tool_results() {
        if !confirmation::is_to_people(&answer.name) {
            continue;
        }
        let (asked_at, asked) = requested(events, agent, answer)?;
        let again = events[asked_at..]
            .iter()
            .any(|event| answers_to(event, &answer.call_id));
        if again {
            continue;
        }
        let new = decision(&events[..asked_at], agent, asked, unwrapped(answer))?;
        let known = decided
            .iter_mut()
            .find(|known| known.call.id == new.call.id);
        match known {
            // If there are two answers about one call, the first one counts.
            Some(known) => {
                known.confirmation = known.confirmation.take().or(new.confirmation);
                known.credential = known.credential.take().or(new.credential);
            }
            None => decided.push(new),
        }
    }
    decided.sort_by_key(|decided| decided.place);
    let calls = decided.into_iter().enumerate();
    let calls = calls.map(|(place, decided)| PendingCall {
        confirmation: decided
            .confirmation
            .or_else(|| confirmed(events, agent, &decided.call.id)),
        credential: decided.credential,
        ..PendingCall::new(place, decided.call)
    });
    Ok(calls.collect())
}

/// The agent's request that this answers, and its index.
fn requested<'e>(
    events: &'e [AgentEvent],
    agent: &str,
    answer: &ToolResult,
) -> Result<(usize, &'e ToolCall), AgentError> {
    let requests = events.iter().enumerate().rev();
    let mut requests = requests.flat_map(|(place, event)| {
        let calls = event.message.iter().flat_map(ChatMessage::calls);
        calls.map(move |call| (place, event, call))
    });
    let request = requests.find(|(_, event, call)| {
        event.author == agent && call.name == answer.name && call.id == answer.call_id
            // A call by the model is not a request: only the agent itself makes a call that it waits for.
            && event.long_running.contains(&call.id)
    });
    let (place, _, call) = request.ok_or_else(|| unasked(agent, answer))?;
    Ok((place, call))
}

fn unasked(agent: &str, answer: &ToolResult) -> AgentError {
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
fn decision(
    before: &[AgentEvent],
    agent: &str,
    request: &ToolCall,
    answer: Value,
) -> Result<DecisionEvent, AgentError> {
    let refused = |id: &str, name: &str| {
        AgentError::Confirmation(format!(
            "the confirmed call `{id}` of `{name}` is not one that the model of agent `{agent}` made"
        ))
    };
    if request.name == CONFIRMATION {
        let (original, _) = confirmation::asked(request).unwrap_or_default();
        let made = made(before, agent, &original.id)
            .filter(|(_, call)| call.name == original.name && call.arguments == original.arguments);
        let (place, call) = made.ok_or_else(|| refused(&original.id, &original.name))?;
        return Ok(DecisionEvent {
            place,
            call: call.clone(),
            confirmation: Some(confirmation::decision(&answer)),
            credential: None,
        });
    }
    let (id, wanted) = credential::asked(request).unwrap_or_default();
    let made = made(before, agent, &id);
    let (place, call) = made.ok_or_else(|| refused(&id, &wanted.key))?;
    Ok(DecisionEvent {
        place,
        call: call.clone(),
        confirmation: None,
        credential: Some(credential::given(&wanted, answer)),
    })
}

/// The call with this id as the agent's model made it, and its position.
fn made<'e>(
    events: &'e [AgentEvent],
    agent: &str,
    id: &str,
) -> Option<((usize, usize), &'e ToolCall)> {
    let by_agent = events.iter().enumerate().rev();
    let by_agent = by_agent.filter(|(_, event)| event.author == agent);
    let mut calls = by_agent.flat_map(|(at, event)| {
        let calls = event.message.iter().flat_map(ChatMessage::calls);
        let calls = calls.enumerate();
        calls.map(move |(place, call)| ((at, place), call))
    });
    calls.find(|(_, call)| call.id == id)
}

/// The earlier approval of the call with this id. The person does not have to approve it again.
fn confirmed(events: &[AgentEvent], agent: &str, id: &str) -> Option<Confirmation> {
    let mut answers = events.iter().rev().filter(|event| event.is_from_user());
    answers.find_map(|event| {
        let mut answers = event.message.iter().flat_map(ChatMessage::tool_results);
        answers.find_map(|answer| {
            let to_it = answer.name == CONFIRMATION;
            let (_, request) = to_it.then(|| requested(events, agent, answer).ok())??;
            let (original, _) = confirmation::asked(request)?;
            let confirmation = confirmation::decision(&unwrapped(answer));
            (original.id == id && confirmation.confirmed).then_some(confirmation)
        })
    })
}

fn answers_to(event: &AgentEvent, id: &str) -> bool {
    let mut results = event.message.iter().flat_map(ChatMessage::tool_results);
    event.is_from_user() && results.any(|result| result.call_id == id)
}

/// The answer of a person. Front ends may wrap it as text in `response`.
fn unwrapped(answer: &ToolResult) -> Value {
    let wrapped = answer.content.get("response").and_then(Value::as_str);
    let unwrapped = wrapped.and_then(|text| serde_json::from_str(text).ok());
    unwrapped.unwrap_or_else(|| answer.content.clone())
}
