//! Model calls, with their callbacks and the streaming of pieces.

use std::sync::Arc;

use futures_util::StreamExt as _;

use super::callbacks::Callbacks;
use super::roster::Roster;
use super::{AgentError, AgentEvent, ModelCall, observed, stream};
use petalflow::BoxError;
use petalflow_llm::response::Status;
use petalflow_llm::stream::Delta;
use petalflow_llm::{ChatMessage, LlmClient, LlmError, LlmErrorKind, LlmResponse, Part, Role};

/// The model of the agent, or of the nearest agent above it that has one.
pub(super) fn of(roster: &Roster, place: usize) -> Result<&Arc<dyn LlmClient>, AgentError> {
    let mut line = std::iter::once(place).chain(roster.above(place));
    line.find_map(|place| roster.at(place).agent.model.as_ref())
        .ok_or_else(|| AgentError::NoModel(roster.at(place).agent.name.to_string()))
}

/// The callbacks, with those of plugins first.
pub(super) fn callbacks<'a>(
    at: &super::at::At<'a>,
) -> impl Iterator<Item = &'a Arc<dyn Callbacks>> + use<'a> {
    at.root().plugins.iter().chain(&at.agent().callbacks)
}

/// Calls the model, or the callback that replaces it, and processes the answer.
pub(super) async fn respond(call: &mut ModelCall<'_>) -> Result<LlmResponse, BoxError> {
    let mut response = answer(call).await?;
    process(call, &mut response).await?;
    Ok(response)
}

async fn answer(call: &mut ModelCall<'_>) -> Result<LlmResponse, BoxError> {
    let at = call.at;
    for callback in callbacks(&at) {
        if let Some(response) = callback.before_model(call).await? {
            return Ok(response);
        }
    }
    let model = observed::model(of(at.roster, at.place)?);
    let answered = if at.agent().streaming {
        streamed(&model, call).await?
    } else {
        model.complete(&call.request).await
    };
    let response = match answered {
        Ok(response) => response,
        Err(error) => recovered(call, error).await?,
    };
    after(call, response, false).await
}

/// Passes a failure through the callbacks.
async fn recovered(call: &mut ModelCall<'_>, error: LlmError) -> Result<LlmResponse, BoxError> {
    let at = call.at;
    // The model has to correct wrong arguments itself.
    let error = match error.kind {
        LlmErrorKind::Arguments { response } => return Ok(*response),
        _ => error,
    };
    for callback in callbacks(&at) {
        if let Some(response) = callback.on_model_error(call, &error).await? {
            return Ok(response);
        }
    }
    let agent = at.agent().name.to_string();
    Err(AgentError::Model { agent, error }.into())
}

/// Passes an answer, or a piece of one, through the callbacks.
async fn after(
    call: &mut ModelCall<'_>,
    response: LlmResponse,
    partial: bool,
) -> Result<LlmResponse, BoxError> {
    let at = call.at;
    call.partial = partial;
    for callback in callbacks(&at) {
        if let Some(other) = callback.after_model(call, &response).await? {
            return Ok(other);
        }
    }
    Ok(response)
}

/// Passes an answer, or a piece of one, through the agent's processors.
async fn process(call: &mut ModelCall<'_>, response: &mut LlmResponse) -> Result<(), BoxError> {
    for processor in &call.at.agent().response_processors {
        processor.process(call, response).await?;
    }
    Ok(())
}

/// The answer of a streaming call. Its pieces are sent to listeners as they arrive.
async fn streamed(
    model: &dyn LlmClient,
    call: &mut ModelCall<'_>,
) -> Result<Result<LlmResponse, LlmError>, BoxError> {
    let mut chunks = match model.stream(&call.request).await {
        Ok(chunks) => chunks,
        Err(error) => return Ok(Err(error)),
    };
    // Only listeners and callbacks need pieces. Without both, the pieces are only joined.
    let wanted = call.at.cx.has_listener() || callbacks(&call.at).next().is_some();
    let mut pieces = 0;
    while let Some(chunk) = chunks.next().await {
        call.at.cx.heartbeat();
        if chunk.done {
            let broken = chunk.error.is_none() && chunk.response.is_none() && pieces > 0;
            if broken {
                return Err(AgentError::Partial(call.agent().into()).into());
            }
            return Ok(chunk
                .into_outcome()
                .unwrap_or_else(|| Ok(LlmResponse::default())));
        }
        pieces += 1;
        if wanted && let Some(piece) = piece(chunk.delta) {
            let mut piece = after(call, piece, true).await?;
            let words = piece.text();
            process(call, &mut piece).await?;
            call.so_far.push_str(&words);
            let message = piece.message.filter(|message| !message.parts.is_empty());
            if let Some(message) = message {
                stream::emit(call.at.cx, || AgentEvent {
                    message: Some(message),
                    partial: true,
                    ..call.at.event(0)
                });
            }
        }
    }
    Err(AgentError::Partial(call.agent().into()).into())
}

/// A piece as a response of its own.
fn piece(delta: Delta) -> Option<LlmResponse> {
    let part = match delta {
        Delta::Text(words) => Part::Text(words.into()),
        Delta::Thought(words) => Part::Thought(words.into()),
        Delta::Part(part) => part,
        Delta::Call {
            id,
            name: Some(name),
            arguments,
            ..
        } => Part::Call(petalflow::tool::ToolCall {
            id: id.unwrap_or_default(),
            name,
            arguments: arguments.into(),
            signature: None,
        }),
        // Signatures and pieces of arguments contain no text for people.
        _ => return None,
    };
    Some(LlmResponse {
        message: Some(ChatMessage::new(Role::Assistant, vec![part])),
        status: Status::Incomplete,
        ..LlmResponse::default()
    })
}
