//! Collects the outcomes of the calls of one step and decides what follows.

use serde_json::{Map, Value};

use super::merge;
use crate::conversation::{Outcome, Speaker, Waiting};
use crate::human::{confirmation, credential};
use crate::limits::Usage;
use crate::turn::ctx::Ctx;
use crate::turn::model::repair;
use crate::turn::own_tools::answer_tool;
use crate::turn::own_tools::delegation::{self, FinishedTask};
use crate::turn::own_tools::transfer;
use crate::turn::spans;
use crate::{AgentError, AgentEvent, output};
use petalflow_llm::{ChatMessage, Part, Role};

/// The collected outcomes of the calls.
pub(in crate::turn) struct Gathered {
    pub(in crate::turn) events: Vec<AgentEvent>,
    pub(in crate::turn) state: Map<String, Value>,
    /// The new speakers, if they change.
    pub(in crate::turn) speakers: Option<Vec<Speaker>>,
    /// The agents that wait for a person after this step; `None` if they are the same as before.
    pub(in crate::turn) waiting: Option<Vec<Waiting>>,
    /// What the called agents used.
    pub(in crate::turn) spent: Option<Usage>,
    /// Whether the turn continues.
    pub(in crate::turn) continues: bool,
}

impl Gathered {
    /// The results alone.
    pub(in crate::turn) fn of(results: Option<AgentEvent>) -> Self {
        Gathered {
            waiting: None,
            spent: None,
            events: results.into_iter().collect(),
            state: Map::new(),
            speakers: None,
            continues: true,
        }
    }
}

/// Collects the outcomes: one event with all results, then the requests to a person, then an answer set by a tool.
pub(in crate::turn) fn gather(ctx: Ctx<'_>) -> Result<Gathered, AgentError> {
    let conversation = ctx.conversation;
    let mut outcomes: Vec<&Outcome> = conversation.outcomes.iter().collect();
    outcomes.sort_by_key(|outcome| outcome.index);
    let calls = event_with_calls(ctx, &outcomes);
    let mut gathered = Gathered {
        waiting: waiting(ctx, &outcomes),
        spent: outcomes
            .iter()
            .filter_map(|outcome| outcome.spent)
            .reduce(|sum, spent| sum + spent),
        ..Gathered::of(None)
    };
    for outcome in &outcomes {
        gathered.state.extend(outcome.state.clone());
        gathered.events.extend(outcome.inner.iter().cloned());
    }
    let waits = outcomes
        .iter()
        .any(|outcome| outcome.waiting.is_some() || waits_for_client(ctx, outcome));
    let results = merge::responses(outcomes.into_iter().map(|outcome| outcome.event.clone()));
    if let Some(results) = results {
        add_results(ctx, &mut gathered, calls, results)?;
    } else if let Some(calls) = calls {
        // No result has come back: the event with the calls decides.
        gathered.continues = !calls.is_final();
    }
    if waits {
        // The model is called once the answers of the other agents and the results of the client are known.
        gathered.continues = false;
    } else {
        next_task(ctx, &mut gathered);
    }
    Ok(gathered)
}

/// Whether the result of the call comes from the client.
fn waits_for_client(ctx: Ctx<'_>, outcome: &Outcome) -> bool {
    let client = &ctx.conversation.client;
    outcome.event.is_none()
        && !client.tools.is_empty()
        && ctx
            .call(&outcome.call_id)
            .is_some_and(|call| client.has_tool(&call.name))
}

/// Adds the results of `calls`, the requests to a person, and what follows: an answer, the end of a task, or a transfer.
fn add_results(
    ctx: Ctx<'_>,
    gathered: &mut Gathered,
    calls: Option<&AgentEvent>,
    mut results: AgentEvent,
) -> Result<(), AgentError> {
    spans::merged(&results);
    results.repair = repair::of_results(ctx, &results)?;
    let actions = &results.actions;
    // Few calls ask a person, so the events are made for those only.
    let credentials = calls
        .filter(|_| !actions.requested_credentials.is_empty())
        .and_then(|calls| credential::request_event(calls, &results, ctx.event(4)));
    let confirmations = calls
        .filter(|_| !actions.requested_confirmations.is_empty())
        .and_then(|calls| confirmation::request_event(calls, &results, ctx.event(1)));
    let answer = answer(ctx, &results);
    let target = results.actions.transfer_to_agent.clone();
    let finished = delegation::finished_task(ctx, &mut results);
    gathered.continues = !results.is_final();
    gathered.state.extend(results.actions.state_delta.clone());
    // Exact, because an event is large, and most steps have one.
    gathered.events.reserve_exact(1);
    gathered.events.push(results);
    gathered.continues &= credentials.is_none() && confirmations.is_none();
    gathered
        .events
        .extend(credentials.into_iter().chain(confirmations));
    if let Some(answer) = answer {
        gathered.events.push(answer);
        gathered.continues = false;
    }
    if let Some(FinishedTask { event, speakers }) = finished {
        gathered.events.push(event);
        gathered.speakers = Some(speakers);
        gathered.continues = true;
    } else if let Some(name) = target {
        let index = transfer::target(ctx.tree, ctx.index, &name)?;
        gathered.speakers = Some(transferred(ctx, index));
        gathered.continues = true;
    }
    Ok(())
}

/// Starts the next task, if the new speaker has called for a task that is not started.
fn next_task(ctx: Ctx<'_>, gathered: &mut Gathered) {
    let conversation = ctx.conversation;
    let speakers = gathered.speakers.as_ref().unwrap_or(&conversation.speakers);
    let Some(index) = speakers
        .last()
        .and_then(|speaker| ctx.tree.index(&speaker.agent))
    else {
        return;
    };
    let events = conversation.events.iter().chain(&gathered.events);
    if let Some(task) = delegation::open_task(ctx.tree, index, events) {
        let mut speakers = speakers.clone();
        speakers.push(task);
        gathered.speakers = Some(speakers);
        gathered.continues = true;
    }
}

/// The event in which the agent made these calls.
fn event_with_calls<'a>(ctx: Ctx<'a>, outcomes: &[&Outcome]) -> Option<&'a AgentEvent> {
    let agent = &*ctx.agent().name;
    ctx.conversation.events.iter().rev().find(|event| {
        event.author == agent
            && outcomes
                .iter()
                .any(|outcome| event.has_call(&outcome.call_id))
    })
}

/// The agents that wait for a person after these calls; `None` if the list has not changed.
fn waiting(ctx: Ctx<'_>, outcomes: &[&Outcome]) -> Option<Vec<Waiting>> {
    let before = ctx.conversation.waiting.iter().flatten();
    let is_called = |waiting: &&Waiting| {
        let mut calls = outcomes.iter().map(|outcome| &outcome.call_id);
        calls.any(|call| *call == waiting.call.id)
    };
    let (called, others): (Vec<_>, Vec<_>) = before.partition(is_called);
    let new: Vec<Waiting> = outcomes
        .iter()
        .filter_map(|outcome| outcome.waiting.clone())
        .collect();
    let changed = !called.is_empty() || !new.is_empty();
    changed.then(|| others.into_iter().cloned().chain(new).collect())
}

/// The answer that a tool has set, as text of the model.
fn answer(ctx: Ctx<'_>, results: &AgentEvent) -> Option<AgentEvent> {
    let set = results
        .results()
        .filter(|result| answer_tool::gives_answer(ctx, &result.name) && repair::fits(ctx, result))
        .last()?;
    let mut outcomes = ctx.conversation.outcomes.iter();
    let outcome = outcomes.find(|outcome| outcome.call_id == set.call_id);
    let noted = outcome.and_then(|outcome| outcome.answer.clone());
    // A text of a function is no JSON, so its value is beside it.
    let output = (ctx.agent().output_function(&set.name).is_some() && noted.is_none())
        .then(|| set.content.clone());
    let text = match (noted, &output) {
        (Some(noted), _) => noted,
        (None, Some(output)) => output::text_of(output),
        (None, None) => ctx.call(&set.call_id)?.arguments.to_string(),
    };
    Some(AgentEvent {
        output,
        message: Some(ChatMessage::new(Role::Assistant, vec![Part::text(text)])),
        ..ctx.event(2)
    })
}

/// The speaker after a transfer to the agent at `index`.
fn transferred(ctx: Ctx<'_>, index: usize) -> Vec<Speaker> {
    vec![Speaker {
        agent: ctx.tree.agent(index).name.to_string(),
        task: None,
    }]
}
