//! Calls of an agent for one answer. The call has its own conversation, and waits while the agent waits for a person.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::conversation::{PendingCall, Speaker, Waiting, branch};
use crate::definition::Definition;
use crate::limits::{CallLimits, OwnShare, Usage};
use crate::turn::ctx::Ctx;
use crate::turn::spans;
use crate::turn::spend;
use crate::{AgentError, AgentEvent, Conversation, ConversationInput, output};
use petalflow::BoxError;
use petalflow::tool::ToolCall;
use petalflow_llm::{ChatMessage, Part};

/// Result of calling the agent.
pub(in crate::turn) struct AgentAnswer {
    pub(in crate::turn) answer: Answer,
    /// The new events of its conversation.
    pub(in crate::turn) events: Vec<AgentEvent>,
    pub(in crate::turn) state: Map<String, Value>,
}

pub(in crate::turn) enum Answer {
    Complete(Value),
    /// The agent waits for a person.
    Waiting(Box<Waiting>),
}

/// Calls the agent at `index`, or continues its conversation if a person has answered. Sets what the agent used, also if
/// it fails.
pub(in crate::turn) async fn call(
    ctx: Ctx<'_>,
    index: usize,
    pending: &PendingCall,
    spent: &mut Option<Usage>,
) -> Result<AgentAnswer, BoxError> {
    let agent = ctx.tree.agent(index);
    let branch = branch::of_call(ctx.conversation.branch.as_deref(), &agent.name);
    let caller = ctx.conversation;
    let before = waiting_of_call(caller, pending);
    let input = input_of_call(agent, pending, before);
    let known = input.events.len();
    let earlier = before.map_or_else(Usage::default, |before| before.spent);
    let limits = CallLimits {
        agent: Arc::clone(&agent.name),
        limits: agent.call_limits.clone(),
        earlier,
    };
    let share = spend::share_of_call(ctx, limits).await;
    let (meter, number) = (Arc::clone(share.meter()), share.number());
    let input = ConversationInput {
        branch: Some(branch),
        state: caller.state.clone(),
        spent: caller.spent,
        turn_spent: caller.turn_spent,
        ..input
    };
    let streams = ctx.tree.streams(index);
    let own_share = OwnShare(Some(share));
    let run = (ctx.run_agent)(ctx.tree, ctx.cx, &agent.name, input, own_share, streams);
    let ran = spans::called(agent, run).await;
    let used = match &ran {
        Ok(conversation) => conversation.turn_spent.since(&caller.turn_spent),
        Err(_) => meter.used(number),
    };
    *spent = Some(used);
    let conversation = ran.map_err(|error| match AgentError::limit_of_call(&*error) {
        // The model of the caller reads it without the steps that it came through.
        Some(limit) => AgentError::Limit(limit.clone()).into(),
        None => error,
    })?;
    answer_of(conversation, known, agent, &pending.call, earlier + used)
}

/// The conversation of the called agent, if a person has answered a question for which it waits.
fn waiting_of_call<'c>(caller: &'c Conversation, pending: &PendingCall) -> Option<&'c Waiting> {
    let mut waiting = caller.waiting.iter().flatten();
    let before = waiting.find(|waiting| waiting.call == pending.call);
    before.filter(|_| pending.answer.is_some())
}

/// The input of the called agent: the arguments of the call, or the answer of a person for which it waits.
fn input_of_call(
    agent: &Definition,
    pending: &PendingCall,
    before: Option<&Waiting>,
) -> ConversationInput {
    match (before, &pending.answer) {
        (Some(before), Some(answer)) => ConversationInput {
            events: before.events.clone(),
            speakers: before.speakers.clone(),
            waiting: before.nested.clone(),
            ..answer.clone().into()
        },
        _ => ConversationInput {
            speakers: vec![Speaker {
                agent: agent.name.to_string(),
                task: None,
            }],
            ..pending.call.arguments.to_string().into()
        },
    }
}

/// The answer to a call in this conversation of the called agent, and the events after the `known` ones. The call has used `spent`.
fn answer_of(
    conversation: Conversation,
    known: usize,
    agent: &Definition,
    call: &ToolCall,
    spent: Usage,
) -> Result<AgentAnswer, BoxError> {
    let new = conversation.events[known..].iter();
    let events: Vec<AgentEvent> = new.filter(|event| !event.is_from_user()).cloned().collect();
    let mut state = Map::new();
    for event in &events {
        state.extend(event.actions.state_delta.clone());
    }
    let answer = if waits(&conversation) {
        Answer::Waiting(Box::new(Waiting {
            call: call.clone(),
            events: conversation.events,
            speakers: conversation.speakers,
            nested: conversation.waiting,
            spent,
        }))
    } else {
        Answer::Complete(answer(&conversation, agent)?)
    };
    Ok(AgentAnswer {
        answer,
        events,
        state,
    })
}

/// Whether a conversation ended with a request to a person and not with an answer.
fn waits(conversation: &Conversation) -> bool {
    let has_request = conversation.events.last().is_some_and(|last| {
        let mut pending = conversation.pending().into_iter();
        pending.any(|pending| last.long_running.iter().any(|id| id == pending.id()))
    });
    // An agent that works on a task has asked the user a question.
    let has_task = conversation
        .speakers
        .last()
        .is_some_and(|last| last.task.is_some());
    has_request || has_task || conversation.waiting.iter().flatten().next().is_some()
}

fn answer(conversation: &Conversation, agent: &Definition) -> Result<Value, BoxError> {
    if let Some(error) = conversation.error() {
        return Err(format!("agent `{}` has no answer: {error}", agent.name).into());
    }
    let text = conversation.answer();
    let answer = match &agent.output {
        _ if conversation.answer_value().is_some() => {
            conversation.answer_value().cloned().unwrap_or_default()
        }
        Some(_) => output::parse(&text).map_err(AgentError::Output)?,
        None => Value::String(text),
    };
    Ok(json!({ "result": answer }))
}

/// Splits the user's message: the part for each waiting agent, and the rest for the current agent. Text is for an
/// agent that works on a task, if `reads_text` is true for it.
pub(in crate::turn) fn split_answers(
    waiting: &[Waiting],
    message: ChatMessage,
    reads_text: impl Fn(&Waiting) -> bool,
) -> (ChatMessage, Vec<(&Waiting, ChatMessage)>) {
    if waiting.is_empty() {
        return (message, Vec::new());
    }
    let mut rest = ChatMessage {
        parts: Vec::new(),
        ..message.clone()
    };
    let mut answers: Vec<(&Waiting, ChatMessage)> = Vec::new();
    for part in message.parts {
        let reader = waiting.iter().find(|waiting| match &part {
            Part::Result(result) => waiting.has_call(&result.call_id),
            _ => waiting.has_task() && reads_text(waiting),
        });
        let Some(reader) = reader else {
            rest.parts.push(part);
            continue;
        };
        match answers
            .iter_mut()
            .find(|(other, _)| std::ptr::eq(*other, reader))
        {
            Some((_, answer)) => answer.parts.push(part),
            None => answers.push((reader, ChatMessage::new(message.role, vec![part]))),
        }
    }
    (rest, answers)
}
