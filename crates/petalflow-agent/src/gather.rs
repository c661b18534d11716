//! Collects the outcomes of the calls of one step and decides what follows.

use serde_json::{Map, Value};

use super::at::At;
use super::conversation::{Outcome, Speaker};
use super::delegation::{self, Done};
use super::single_turn::Waiting;
use super::{AgentError, AgentEvent, confirmation, credential, merge, observed, output, transfer};
use petalflow::tool::ToolCall;
use petalflow_llm::{ChatMessage, Part, Role};

/// The collected outcomes of the calls.
pub(super) struct Gathered {
    pub(super) events: Vec<AgentEvent>,
    pub(super) state: Map<String, Value>,
    /// The new speakers, if they change.
    pub(super) speakers: Option<Vec<Speaker>>,
    /// The new list of agents that wait for people, if it changes.
    pub(super) waiting: Option<Vec<Waiting>>,
    /// Whether the turn continues.
    pub(super) goes_on: bool,
}

/// Collects the outcomes: one event with all results, then the requests to people, then an answer set by a tool.
pub(super) fn gather(at: At<'_>) -> Result<Gathered, AgentError> {
    let conversation = at.conversation;
    let mut outcomes: Vec<&Outcome> = conversation.outcomes.iter().collect();
    outcomes.sort_by_key(|outcome| outcome.place);
    let calls = calls(at, &outcomes);
    let mut gathered = Gathered {
        waiting: waiting(at, &outcomes),
        events: Vec::new(),
        state: Map::new(),
        speakers: None,
        goes_on: true,
    };
    for outcome in &outcomes {
        gathered.state.extend(outcome.state.clone());
        gathered.events.extend(outcome.inner.iter().cloned());
    }
    let waits = outcomes.iter().any(|outcome| outcome.waiting.is_some());
    let results = merge::responses(outcomes.into_iter().map(|outcome| outcome.event.clone()));
    if let Some(mut results) = results {
        observed::merged(&results);
        let credentials = calls.and_then(|said| credential::request(said, &results, at.event(4)));
        let confirmations =
            calls.and_then(|said| confirmation::request(said, &results, at.event(1)));
        let answer = answer(at, &results);
        let target = results.actions.transfer_to_agent.clone();
        let done = delegation::done(at, &mut results);
        gathered.goes_on = !results.is_final();
        gathered.state.extend(results.actions.state_delta.clone());
        gathered.events.push(results);
        gathered.goes_on &= credentials.is_none() && confirmations.is_none();
        gathered
            .events
            .extend(credentials.into_iter().chain(confirmations));
        if let Some(answer) = answer {
            gathered.events.push(answer);
            gathered.goes_on = false;
        }
        if let Some(Done { event, speakers }) = done {
            gathered.events.push(event);
            gathered.speakers = Some(speakers);
            gathered.goes_on = true;
        } else if let Some(name) = target {
            let place = transfer::target(at.roster, at.place, &name)?;
            gathered.speakers = Some(transferred(at, place));
            gathered.goes_on = true;
        }
    } else if let Some(said) = calls {
        // No result has come back: the event with the calls decides.
        gathered.goes_on = !said.is_final();
    }
    if waits {
        // The model is called once the answers of the other agents are known.
        gathered.goes_on = false;
    } else {
        next_task(at, &mut gathered);
    }
    Ok(gathered)
}

/// Starts the next task, if the new speaker has called for a task that is not started.
fn next_task(at: At<'_>, gathered: &mut Gathered) {
    let conversation = at.conversation;
    let speakers = gathered.speakers.as_ref().unwrap_or(&conversation.speakers);
    let Some(place) = speakers
        .last()
        .and_then(|speaker| at.roster.place(&speaker.agent))
    else {
        return;
    };
    let events = conversation.events.iter().chain(&gathered.events);
    if let Some(task) = delegation::open_task(at.roster, place, events) {
        let mut speakers = speakers.clone();
        speakers.push(task);
        gathered.speakers = Some(speakers);
        gathered.goes_on = true;
    }
}

/// The event in which the agent made these calls.
fn calls<'a>(at: At<'a>, outcomes: &[&Outcome]) -> Option<&'a AgentEvent> {
    let agent = &*at.agent().name;
    at.conversation.events.iter().rev().find(|event| {
        let mut calls = event.message.iter().flat_map(ChatMessage::calls);
        event.author == agent
            && calls.any(|call| outcomes.iter().any(|outcome| outcome.call == call.id))
    })
}

/// The agents that wait for people after these calls; `None` if the list has not changed.
fn waiting(at: At<'_>, outcomes: &[&Outcome]) -> Option<Vec<Waiting>> {
    let before = at.conversation.waiting.iter().flatten();
    let called = |waiting: &&Waiting| {
        let mut calls = outcomes.iter().map(|outcome| &outcome.call);
        calls.any(|call| *call == waiting.call.id)
    };
    let (over, still): (Vec<_>, Vec<_>) = before.partition(called);
    let new: Vec<Waiting> = outcomes
        .iter()
        .filter_map(|outcome| outcome.waiting.clone())
        .collect();
    let changed = !over.is_empty() || !new.is_empty();
    changed.then(|| still.into_iter().cloned().chain(new).collect())
}

/// The answer that a tool has set, as text of the model.
fn answer(at: At<'_>, results: &AgentEvent) -> Option<AgentEvent> {
    let results = results.message.iter().flat_map(ChatMessage::tool_results);
    let set = results
        .filter(|result| result.name == output::NAME && !result.is_error)
        .last()?;
    let call = called(at, &set.call_id)?;
    Some(AgentEvent {
        message: Some(ChatMessage::new(
            Role::Assistant,
            vec![Part::text(call.arguments.to_string())],
        )),
        ..at.event(2)
    })
}

/// The call with this id.
pub(super) fn called<'a>(at: At<'a>, id: &str) -> Option<&'a ToolCall> {
    at.conversation.events.iter().rev().find_map(|event| {
        let mut calls = event.message.iter().flat_map(ChatMessage::calls);
        calls.find(|call| call.id == id)
    })
}

/// The speaker after a transfer to the agent at `place`.
fn transferred(at: At<'_>, place: usize) -> Vec<Speaker> {
    vec![Speaker {
        agent: at.roster.at(place).agent.name.to_string(),
        task: None,
    }]
}
