//! Model calls.

use std::sync::Arc;

use petalflow::Context;
use petalflow::event::CustomEvent;
use petalflow::tool::ToolCall;
use petalflow_llm::nodes::noted_call;
use petalflow_llm::stream::Delta;
use petalflow_llm::{
    ChatMessage, LlmClient as _, LlmError, LlmErrorKind, LlmRequest, LlmResponse, Part, Role,
    generated_call_id,
};

use super::step;
use crate::program::Program;
use crate::step::{Act, Moment, PendingCall};
use crate::{ConversationError, ConversationEvent, ConversationState, Position};

/// The model's answer and what follows.
pub(crate) struct Answer {
    pub(crate) message: Option<ChatMessage>,
    pub(crate) calls: Vec<PendingCall>,
    pub(crate) position: Option<Position>,
    /// The first action after the model's turn.
    pub(crate) act: Option<Act>,
}

/// Calls the model.
pub(crate) async fn ask(
    program: &Program,
    state: &ConversationState,
    cx: &Context,
) -> Result<Answer, ConversationError> {
    let position = &state.position;
    let node = position.node.as_deref().unwrap_or(&program.initial);
    if state.model_calls >= program.max_model_calls {
        return Err(ConversationError::TooManyModelCalls {
            calls: state.model_calls,
        });
    }
    let step = step(program, node)?;
    let request = LlmRequest {
        system: position.role.clone(),
        tools: Arc::clone(&step.specs),
        ..LlmRequest::new(state.view.messages(&state.messages, position.first_message))
    };
    // What was said before is received before the model answers.
    cx.events_received().await;
    let answer = noted_call(&request, cx, respond(program, &request, cx));
    let response = match answer.await {
        Ok(response) => response,
        Err(error) => match error.kind {
            // The function tells the model what is wrong with its arguments.
            LlmErrorKind::Arguments { response } => *response,
            _ => {
                return Err(ConversationError::Model {
                    node: node.into(),
                    error,
                });
            }
        },
    };
    let mut message = response.message.filter(|message| !message.parts.is_empty());
    let mut calls = Vec::new();
    if let Some(message) = &mut message {
        message.role = Role::Assistant;
        calls = name_calls(message, cx);
        let text = message.text();
        if !text.is_empty() {
            cx.emit(ConversationEvent::Answer { text });
        }
    }
    let acts = calls.is_empty() && position.actions_wait;
    Ok(Answer {
        message,
        calls,
        position: acts.then(|| Position {
            actions_wait: false,
            ..position.clone()
        }),
        act: acts.then(|| Act {
            node: node.into(),
            moment: Moment::After,
            index: 0,
        }),
    })
}

async fn respond(
    program: &Program,
    request: &LlmRequest,
    cx: &Context,
) -> Result<LlmResponse, LlmError> {
    if !program.streaming || !cx.has_listener() {
        // A client of the user may not check its answers.
        let answer = program.model.complete(request).await;
        return answer.and_then(|response| response.checked(request));
    }
    let mut chunks = program.model.stream(request).await?;
    while let Some(chunk) = chunks.next().await {
        cx.heartbeat();
        if chunk.done {
            return chunk
                .into_outcome()
                .unwrap_or_else(|| Ok(LlmResponse::default()));
        }
        if let Delta::Text(text) = chunk.delta {
            cx.emit_with(|| CustomEvent::new(ConversationEvent::Piece { text }).partial());
        }
    }
    Err(LlmError::new(
        LlmErrorKind::Connection,
        "the stream of the model's answer ended before the answer was complete",
    ))
}

/// The calls of an answer. Results name a call by its id, which some servers leave out or repeat.
fn name_calls(message: &mut ChatMessage, cx: &Context) -> Vec<PendingCall> {
    let mut calls: Vec<PendingCall> = Vec::new();
    for part in &mut message.parts {
        let Part::Call(call) = part else { continue };
        let index = calls.len();
        if call.id.is_empty() || calls.iter().any(|known| known.call.id == call.id) {
            call.id = generated_call_id(format_args!("{}-{index}", cx.task_id()));
        }
        let call: ToolCall = call.clone();
        cx.emit_with(|| ConversationEvent::Called {
            function: call.name.clone(),
            arguments: call.arguments.clone(),
        });
        calls.push(PendingCall { index, call });
    }
    calls
}
