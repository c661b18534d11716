//! One model call of an agent and the reading of its answer.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::client;
use super::code;
use super::compact;
use super::guarded::{self, Guarded};
use super::repair;
use super::steering;
use super::steps;
use super::tools;
use crate::conversation::PendingCall;
use crate::definition::{MODEL_CALLS, Mode};
use crate::extension::{CallStage, ModelCall};
use crate::limits::Usage;
use crate::turn::ctx::Ctx;
use crate::turn::requirements;
use crate::turn::spend;
use crate::{AgentError, AgentEvent};
use petalflow::BoxError;
use petalflow::tool::ToolSpec;
use petalflow_llm::response::{FinishReason, Status};
use petalflow_llm::{ChatMessage, LlmResponse, Part, Role, TokenUsage, generated_call_id};

/// Result of a model call.
pub(in crate::turn) struct ModelStep {
    pub(in crate::turn) events: Vec<AgentEvent>,
    pub(in crate::turn) state: Map<String, Value>,
    /// The number of consecutive answers that contain only thoughts.
    pub(in crate::turn) thought_only_answers: u32,
    pub(in crate::turn) spent: Usage,
    /// Whether the step has read the messages that were sent to the agent while it works.
    pub(in crate::turn) has_steering: bool,
    pub(in crate::turn) next: Next,
}

/// What follows the model call.
pub(in crate::turn) enum Next {
    /// Another model call.
    Ask,
    /// A compaction of what the model reads, and then the model call.
    Compact,
    /// Tool calls.
    Call(Vec<PendingCall>),
    /// A run of the model's code.
    Run,
    /// The end of the turn.
    End,
}

impl ModelStep {
    /// A step that gets no answer from the model.
    fn without_answer(ctx: Ctx<'_>, next: Next) -> Self {
        ModelStep {
            events: Vec::new(),
            state: Map::new(),
            thought_only_answers: 0,
            spent: spend::with_unwritten(ctx, Usage::default()),
            has_steering: false,
            next,
        }
    }
}

/// Calls the model.
pub(in crate::turn) async fn ask(ctx: Ctx<'_>) -> Result<ModelStep, BoxError> {
    check_model_calls(ctx)?;
    // A turn may resume in a program with other values.
    requirements::check(ctx.tree, ctx.cx)?;
    spend::restore_unwritten(ctx);
    if !ctx.conversation.steering.is_empty() {
        // In a step of its own, so that the next one reads the messages as any other event.
        let (events, blocked) = steering::read(ctx).await?;
        let next = if blocked { Next::End } else { Next::Ask };
        return Ok(ModelStep {
            events,
            thought_only_answers: ctx.conversation.thought_only_answers,
            has_steering: true,
            ..ModelStep::without_answer(ctx, next)
        });
    }
    if compact::is_due(ctx)? {
        return Ok(ModelStep {
            thought_only_answers: ctx.conversation.thought_only_answers,
            ..ModelStep::without_answer(ctx, Next::Compact)
        });
    }
    let mut call = ModelCall::new(ctx.position());
    steps::build_request(ctx, &mut call).await?;
    client::settings(ctx, &mut call)?;
    let source_tools = tools::add(ctx, &mut call).await?;
    client::tools(ctx, &mut call, &source_tools)?;
    if call.stage == CallStage::Ended {
        return Ok(ModelStep {
            events: call.events,
            state: call.delta,
            ..ModelStep::without_answer(ctx, Next::End)
        });
    }
    if !call.events.is_empty() {
        ctx.cx.events_received().await;
    }
    let answered = guarded::respond(ctx, &mut call).await;
    let mut guarded = match answered {
        Ok(guarded) => guarded,
        Err(error) => {
            spend::failed(ctx, &call).await?;
            return Err(error);
        }
    };
    // A callback may have replaced the answer, which was paid for.
    if guarded.response.usage == TokenUsage::default() {
        guarded.response.usage = call.used.unwrap_or_default();
    }
    let ModelCall {
        request,
        events,
        delta,
        stage,
        requests,
        ..
    } = call;
    let response = &mut guarded.response;
    let spent = spend::after_response(ctx, requests, &request, response).await?;
    // The request shares the conversation's messages. They are appended to in place once there is no other owner.
    drop(request);
    match read(ctx, (events, delta, stage), guarded, &source_tools).await {
        Ok(step) => Ok(ModelStep {
            spent: spend::with_unwritten(ctx, spent),
            ..step
        }),
        Err(error) => {
            spend::add_unwritten(ctx, spent).await?;
            Err(error)
        }
    }
}

/// Fails if the model was called too often in the turn.
fn check_model_calls(ctx: Ctx<'_>) -> Result<(), AgentError> {
    let calls = ctx.conversation.calls;
    // Such an agent has a conversation of its own, with a count of its own.
    let counted = match ctx.agent().mode {
        Mode::SingleTurn => ctx.agent(),
        _ => ctx.root(),
    };
    let most = counted.max_model_calls.or(ctx.root().max_model_calls);
    if calls < most.unwrap_or(MODEL_CALLS) {
        return Ok(());
    }
    Err(AgentError::TooManyModelCalls {
        agent: counted.name.to_string(),
        calls,
    })
}

/// Reads an answer that was checked. The events and the changes of the state are those of processors and callbacks.
async fn read(
    ctx: Ctx<'_>,
    (mut events, delta, stage): (Vec<AgentEvent>, Map<String, Value>, CallStage),
    guarded: Guarded,
    source_tools: &[Arc<ToolSpec>],
) -> Result<ModelStep, BoxError> {
    let Guarded {
        response,
        guardrails,
        blocked,
    } = guarded;
    let mut answer = answer_event(ctx, response, events.len(), source_tools);
    let (mut thought_only_answers, mut then) = (0, Next::End);
    if let Some(answer) = &mut answer {
        answer.actions.state_delta.clone_from(&delta);
        answer.guardrails = guardrails;
        // A paused answer has not come to its words yet.
        if !answer.is_paused() {
            thought_only_answers = count_thought_only_answers(ctx, answer)?;
        }
        // The message of a guardrail ends the turn.
        if !blocked {
            then = next(ctx, answer);
        }
    }
    let mut request = None;
    let is_last = matches!(then, Next::End) && stage != CallStage::Replaced && !blocked;
    if is_last && repair::has_form(ctx) {
        // Boxed: few agents have a form for their answers.
        let repair = repair::request(ctx, answer.as_mut(), events.len() + 1);
        request = Box::pin(repair).await?;
        if request.is_some() {
            then = Next::Ask;
        }
    }
    let emitted = events.len();
    // Exact, because an event is large, and most steps have one.
    let new = answer.into_iter().chain(request);
    events.reserve_exact(new.size_hint().0);
    events.extend(new);
    AgentEvent::emit_all(ctx.cx, &events[emitted..]);
    Ok(ModelStep {
        events,
        state: delta,
        thought_only_answers,
        spent: Usage::default(),
        has_steering: false,
        next: then,
    })
}

/// The event for the answer, with this number; `None` if the answer is empty.
fn answer_event(
    ctx: Ctx<'_>,
    mut response: LlmResponse,
    number: usize,
    source_tools: &[Arc<ToolSpec>],
) -> Option<AgentEvent> {
    let message = response.message.take();
    let message = message.filter(|message| !message.parts.is_empty());
    let error = answer_error(&response, message.as_ref());
    if message.is_none() && error.is_none() && !response.interrupted {
        return None;
    }
    let mut event = AgentEvent {
        message,
        error,
        interrupted: response.interrupted,
        finish: response.finish,
        finish_message: response.finish_message,
        meta: response.meta,
        usage: (response.usage != TokenUsage::default()).then_some(response.usage),
        ..ctx.event(number)
    };
    let AgentEvent {
        message: Some(message),
        long_running,
        id,
        ..
    } = &mut event
    else {
        return Some(event);
    };
    message.role = Role::Assistant;
    let mut used: Vec<String> = Vec::new();
    let earlier = |id: &str| {
        let mut events = ctx.conversation.events.iter().rev();
        events.any(|event| event.has_call(id))
    };
    for part in &mut message.parts {
        let Part::Call(call) = part else { continue };
        // Results, tasks and a person's answers name a call by its id. Some servers leave it out or repeat it.
        if call.id.is_empty() || used.contains(&call.id) || earlier(&call.id) {
            call.id = generated_call_id(format_args!("{id}-{}", used.len()));
        }
        used.push(call.id.clone());
        let mut known = ctx.agent().specs().iter().chain(source_tools);
        // A call that is not made has its result at once.
        let comes_later = known.any(|spec| spec.name == call.name && spec.long_running)
            || ctx.conversation.client.has_tool(&call.name);
        if call.error.is_none() && comes_later {
            long_running.push(call.id.clone());
        }
    }
    Some(event)
}

/// The reason for a missing or incomplete answer.
fn answer_error(response: &LlmResponse, message: Option<&ChatMessage>) -> Option<String> {
    // If the provider stopped the model before it wrote anything, the answer is an error, and not only empty.
    let finish = response.finish.as_ref().filter(|_| message.is_none());
    let problem = match finish {
        _ if response.status == Status::Failed => "the provider failed".to_string(),
        Some(FinishReason::Blocked) => "the provider blocked the prompt".to_string(),
        Some(FinishReason::Refusal) => "the model refused to answer".to_string(),
        Some(FinishReason::Paused) => {
            "the provider paused the answer before it wrote anything".to_string()
        }
        Some(FinishReason::Other(reason)) => format!("the model stopped: {reason}"),
        Some(reason @ (FinishReason::ContentFilter | FinishReason::Length)) => {
            format!("the model stopped: {reason:?}")
        }
        _ => return None,
    };
    Some(match &response.finish_message {
        Some(reason) => format!("{problem}: {reason}"),
        None => problem,
    })
}

/// The number of consecutive answers that contain only thoughts, this one included.
fn count_thought_only_answers(ctx: Ctx<'_>, answer: &AgentEvent) -> Result<u32, AgentError> {
    if !answer.is_thought_only() {
        return Ok(0);
    }
    let times = ctx.conversation.thought_only_answers + 1;
    if times > ctx.root().max_thoughts {
        return Err(AgentError::OnlyThoughts {
            agent: ctx.agent().name.to_string(),
            times,
        });
    }
    Ok(times)
}

fn next(ctx: Ctx<'_>, answer: &AgentEvent) -> Next {
    let mut calls = Vec::with_capacity(answer.calls().count());
    let pending = answer.calls().enumerate();
    calls.extend(pending.map(|(index, call)| PendingCall::new(index, call.clone())));
    // The calls of a refusal are not made, and the model does not want to be asked again.
    let is_refused = answer.finish == Some(FinishReason::Refusal) || answer.error.is_some();
    if is_refused && calls.iter().all(|pending| pending.call.error.is_some()) {
        Next::End
    } else if !calls.is_empty() {
        Next::Call(calls)
    } else if let Some(executor) = &ctx.agent().code_executor
        && matches!(answer.parts().last(), Some(Part::Code { .. }))
        && code::may_run(ctx, &**executor)
    {
        Next::Run
    } else if answer.is_final() && !answer.is_thought_only() {
        Next::End
    } else {
        Next::Ask
    }
}
