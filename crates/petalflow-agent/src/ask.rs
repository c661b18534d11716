//! One model call of an agent and the reading of its answer.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::at::At;
use super::conversation::PendingCall;
use super::{AgentError, AgentEvent, Mode, ModelCall, code, delegation, model, output, transfer};
use petalflow::BoxError;
use petalflow::tool::ToolSpec;
use petalflow_llm::response::{FinishReason, Status};
use petalflow_llm::{LlmResponse, Part, Role};

/// Result of a model call.
pub(super) struct Asked {
    pub(super) events: Vec<AgentEvent>,
    pub(super) state: Map<String, Value>,
    /// The number of consecutive answers that contain only thoughts.
    pub(super) thoughts: u32,
    pub(super) then: Next,
}

/// What follows the model call.
pub(super) enum Next {
    /// Another model call.
    Ask,
    /// Tool calls.
    Call(Vec<PendingCall>),
    /// A run of the model's code.
    Run,
    /// The end of the turn.
    End,
}

/// Calls the model.
pub(super) async fn ask(at: At<'_>) -> Result<Asked, BoxError> {
    let agent = at.agent();
    if at.conversation.calls >= at.root().max_model_calls {
        return Err(AgentError::TooManyTurns {
            agent: agent.name.to_string(),
            turns: at.conversation.calls,
        }
        .into());
    }
    let mut call = ModelCall::new(at);
    for processor in &agent.processors {
        processor.process(&mut call).await?;
    }
    let sources = tools(&mut call).await?;
    if call.ended {
        return Ok(Asked {
            events: call.events,
            state: call.delta,
            thoughts: 0,
            then: Next::End,
        });
    }
    if !call.events.is_empty() {
        super::turn::listened(at.cx).await;
    }
    let response = model::respond(&mut call).await?;
    let said = said(&call, response, &sources);
    // The request shares the conversation's messages. They are appended to in place once there is no other owner.
    let ModelCall {
        mut events, delta, ..
    } = call;
    let Some(mut said) = said else {
        return Ok(Asked {
            events,
            state: delta,
            thoughts: 0,
            then: Next::End,
        });
    };
    said.actions.state_delta.clone_from(&delta);
    let thoughts = thoughts(at, &said)?;
    let then = next(at, &said);
    events.push(said);
    Ok(Asked {
        events,
        state: delta,
        thoughts,
        then,
    })
}

/// Adds the tools to the request: the agent's own tools, the tools of its sources, and the tools for other agents.
/// Returns the tools of the sources.
async fn tools(call: &mut ModelCall<'_>) -> Result<Vec<Arc<ToolSpec>>, BoxError> {
    let at = call.at;
    let agent = at.agent();
    let own = agent.specs();
    let mut more: Vec<Arc<ToolSpec>> = Vec::new();
    let mut found: Vec<Arc<ToolSpec>> = Vec::new();
    for source in &agent.sources {
        let tools = source.tools().await?;
        found.extend(tools.iter().map(|tool| Arc::clone(tool.spec())));
    }
    more.extend(found.iter().cloned());
    for place in delegation::delegates(at.roster, at.place) {
        more.push(delegation::spec(at.roster, place));
    }
    more.extend(transfer::tool(at.roster, at.place).cloned());
    if agent.mode == Mode::Task {
        more.push(delegation::finish(at));
    } else if output::as_tool(at) {
        more.extend(agent.output.as_ref().map(output::Output::tool));
    }
    let before = &call.request.tools;
    call.request.tools = if before.is_empty() && more.is_empty() {
        Arc::clone(own)
    } else {
        before
            .iter()
            .chain(own.iter())
            .chain(&more)
            .cloned()
            .collect()
    };
    Ok(found)
}

/// The event for the answer; `None` if the answer is empty.
fn said(
    call: &ModelCall<'_>,
    response: LlmResponse,
    found: &[Arc<ToolSpec>],
) -> Option<AgentEvent> {
    let message = response.message.filter(|message| !message.parts.is_empty());
    let error = match (&response.finish, &message) {
        _ if response.status == Status::Failed => Some("the provider failed".to_string()),
        // A model that the provider stopped has an error, not only an empty answer.
        (Some(FinishReason::Other(reason)), None) => Some(format!("the model stopped: {reason}")),
        (Some(reason @ (FinishReason::ContentFilter | FinishReason::Length)), None) => {
            Some(format!("the model stopped: {reason:?}"))
        }
        _ => None,
    };
    if message.is_none() && error.is_none() && !response.interrupted {
        return None;
    }
    let filled = call.at.event(call.events.len());
    let mut event = AgentEvent {
        message,
        error,
        interrupted: response.interrupted,
        finish: response.finish,
        meta: response.meta,
        usage: (response.usage != petalflow_llm::TokenUsage::default()).then_some(response.usage),
        ..filled
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
    let agent = call.at.agent();
    let mut place = 0;
    for part in &mut message.parts {
        let Part::Call(call) = part else { continue };
        if call.id.is_empty() {
            call.id = format!("call-{id}-{place}");
        }
        place += 1;
        let mut known = agent.specs().iter().chain(found);
        if known.any(|spec| spec.name == call.name && spec.long_running) {
            long_running.push(call.id.clone());
        }
    }
    Some(event)
}

/// The number of consecutive answers that contain only thoughts, this one included.
fn thoughts(at: At<'_>, said: &AgentEvent) -> Result<u32, AgentError> {
    if !said.is_thought_only() {
        return Ok(0);
    }
    let times = at.conversation.thoughts + 1;
    if times > at.root().max_thoughts {
        return Err(AgentError::OnlyThinks {
            agent: at.agent().name.to_string(),
            times,
        });
    }
    Ok(times)
}

fn next(at: At<'_>, said: &AgentEvent) -> Next {
    let calls = said
        .message
        .iter()
        .flat_map(petalflow_llm::ChatMessage::calls);
    let calls: Vec<PendingCall> = calls
        .enumerate()
        .map(|(place, call)| PendingCall::new(place, call.clone()))
        .collect();
    if !calls.is_empty() {
        Next::Call(calls)
    } else if let Some(executor) = &at.agent().code_executor
        && matches!(said.parts().last(), Some(Part::Code { .. }))
        && code::is_run(at, &**executor)
    {
        Next::Run
    } else if said.is_final() && !said.is_thought_only() {
        Next::End
    } else {
        Next::Ask
    }
}
