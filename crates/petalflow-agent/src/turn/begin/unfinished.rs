//! The end of an interrupted turn: the process stopped, or a step failed, and the next input came before it was resumed.

use std::sync::Arc;

use crate::conversation::{Outcome, PendingCall, decisions};
use crate::definition::{AgentTree, Mode};
use crate::human;
use crate::turn::calls::gather::{self, Gathered};
use crate::turn::calls::merge;
use crate::turn::ctx::{Ctx, RunAgent};
use crate::turn::turn_start::{TurnStart, TurnStep};
use crate::{AgentError, AgentEvent, Conversation};
use petalflow::Context;
use petalflow::tool::{ToolCall, ToolResult};
use petalflow_llm::ChatMessage;
use serde_json::json;

/// The result of a call that did not finish.
const STOPPED: &str =
    "the program stopped while this call ran, and it is not known what the call did";

/// The calls of an interrupted turn. Those that had finished are the outcomes of the conversation.
pub(in crate::turn) struct Unfinished<'c> {
    /// The calls that had not finished, with their index among the calls of their step.
    calls: Vec<(usize, &'c ToolCall)>,
    /// Whether a person has decided about them.
    decided: bool,
}

impl<'c> Unfinished<'c> {
    pub(in crate::turn) fn of(tree: &AgentTree, conversation: &'c Conversation) -> Self {
        let events = &*conversation.events;
        let decided = !conversation.decided.is_empty();
        let calls: Vec<&ToolCall> = if decided {
            let calls = |id: &String| {
                let mut calls = events.iter().rev().flat_map(AgentEvent::calls);
                calls.find(|call| call.id == *id)
            };
            conversation.decided.iter().filter_map(calls).collect()
        } else {
            // A history from elsewhere has no turns.
            let last = events.last().filter(|last| !last.invocation.is_empty());
            let calls = last.map(|last| open_calls(tree, conversation, last));
            calls.unwrap_or_default()
        };
        let is_open = |(_, call): &(usize, &ToolCall)| {
            let mut outcomes = conversation.outcomes.iter();
            !outcomes.any(|outcome| outcome.call_id == call.id)
        };
        let calls = calls.into_iter().enumerate().filter(is_open);
        Unfinished {
            calls: calls.collect(),
            decided,
        }
    }

    /// Ends the calls: adds the results of those that had finished, and results for the others that say so.
    pub(in crate::turn) fn close(
        self,
        start: &mut TurnStart,
        tree: &Arc<AgentTree>,
        conversation: &Conversation,
        cx: &Context,
        run_agent: RunAgent,
    ) -> Result<(), AgentError> {
        if self.calls.is_empty() && conversation.outcomes.is_empty() {
            return Ok(());
        }
        gather(start, tree, conversation, cx, run_agent, &self.calls)?;
        Ok(())
    }

    /// Continues the turn: its input was given again. Does nothing if the turn has ended.
    pub(in crate::turn) fn continue_turn(
        self,
        start: &mut TurnStart,
        tree: &Arc<AgentTree>,
        conversation: &Conversation,
        cx: &Context,
        run_agent: RunAgent,
        repeated: &[ToolResult],
    ) -> Result<(), AgentError> {
        let last = conversation.events.last();
        start.turn_id = last.map(|last| last.invocation.clone()).unwrap_or_default();
        start.speakers.clone_from(&conversation.speakers);
        let continues = if conversation.outcomes.is_empty() {
            !conversation.is_over()
        } else {
            gather(start, tree, conversation, cx, run_agent, &[])?
        };
        let agent = conversation.speakers.last();
        let agent = agent.map(|speaker| &*speaker.agent).unwrap_or_default();
        let calls: Vec<PendingCall> = if self.decided {
            let ids: Vec<&str> = self.calls.iter().map(|(_, call)| &*call.id).collect();
            decisions::calls_to_repeat(&conversation.events, agent, repeated, &ids)
        } else {
            let calls = self.calls.into_iter();
            calls
                .map(|(index, call)| PendingCall::new(index, call.clone()))
                .collect()
        };
        start.next = if !calls.is_empty() {
            if self.decided {
                start.decided = calls.iter().map(|call| call.call.id.clone()).collect();
            }
            TurnStep::Call(calls)
        } else if continues {
            TurnStep::Ask
        } else {
            TurnStep::End
        };
        Ok(())
    }
}

/// The calls of the last event that should have results. The results of the others come later, or wait for a person.
fn open_calls<'c>(
    tree: &AgentTree,
    conversation: &Conversation,
    last: &'c AgentEvent,
) -> Vec<&'c ToolCall> {
    let agent = tree.index(&last.author).map(|index| tree.agent(index));
    let comes_later = |call: &ToolCall| {
        let mut specs = agent.into_iter().flat_map(|agent| agent.specs().iter());
        last.long_running.contains(&call.id)
            || human::is_request(&call.name)
            || specs.any(|spec| spec.name == call.name && (spec.long_running || spec.deferred))
    };
    let mut speakers = conversation.speakers.iter();
    let has_task = speakers.any(|speaker| speaker.task.is_some());
    let works_on_task = |call: &ToolCall| {
        let index = tree.index(&call.name).filter(|_| has_task);
        index.is_some_and(|index| tree.agent(index).mode == Mode::Task)
    };
    let waits = |call: &ToolCall| {
        let mut waiting = conversation.waiting.iter().flatten();
        waiting.any(|waiting| waiting.call == *call)
    };
    last.calls()
        // A call that is not made has its error.
        .filter(|call| call.error.is_none())
        .filter(|call| !comes_later(call) && !works_on_task(call) && !waits(call))
        .collect()
}

/// Adds the outcomes of the conversation, and for each of these calls a result that says that it did not finish. Returns
/// whether the turn would continue.
fn gather(
    start: &mut TurnStart,
    tree: &Arc<AgentTree>,
    conversation: &Conversation,
    cx: &Context,
    run_agent: RunAgent,
    stopped: &[(usize, &ToolCall)],
) -> Result<bool, AgentError> {
    let last = conversation.events.last();
    let mut interrupted = Conversation {
        turn_id: last.map(|last| last.invocation.clone()).unwrap_or_default(),
        speakers: start.speakers.clone(),
        ..conversation.clone()
    };
    let ctx = Ctx::new(tree, &interrupted, cx, run_agent)?;
    let closed = stopped.iter();
    let closed: Vec<Outcome> = closed
        .map(|(index, call)| stopped_outcome(ctx, *index, call))
        .collect();
    interrupted.outcomes.extend(closed);
    let ctx = Ctx::new(tree, &interrupted, cx, run_agent)?;
    let gathered = gather::gather(ctx).unwrap_or_else(|_| {
        // What would have failed the interrupted turn must not fail this one.
        let events = interrupted
            .outcomes
            .iter()
            .map(|outcome| outcome.event.clone());
        Gathered::of(merge::responses(events))
    });
    start.events.extend(gathered.events);
    start.state.extend(gathered.state);
    start.waiting = gathered.waiting;
    let spent = interrupted
        .outcomes
        .iter()
        .filter_map(|outcome| outcome.spent);
    start.spent = spent.fold(start.spent, |sum, spent| sum + spent);
    if let Some(speakers) = gathered.speakers {
        start.speakers = speakers;
    }
    Ok(gathered.continues)
}

/// The outcome of a call that did not finish.
fn stopped_outcome(ctx: Ctx<'_>, index: usize, call: &ToolCall) -> Outcome {
    let result = ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content: json!({ "error": STOPPED }),
        is_error: true,
    };
    let event = AgentEvent {
        message: Some(ChatMessage::results([result])),
        ..ctx.event(0)
    };
    Outcome::of(index, &call.id, event)
}
