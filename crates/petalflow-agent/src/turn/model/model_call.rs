//! Model calls, with their callbacks and the streaming of pieces.

use super::growing_answer::GrowingAnswer;
use super::steps;
use crate::extension::{CallStage, ModelCall};
use crate::turn::ctx::Ctx;
use crate::turn::guard;
use crate::turn::spans;
use crate::turn::spend;
use crate::turn::streams::StreamsBelow;
use crate::{AgentError, AgentEvent};
use petalflow::BoxError;
use petalflow_llm::request::OnPause;
use petalflow_llm::response::Status;
use petalflow_llm::stream::Delta;
use petalflow_llm::{ChatMessage, LlmClient, LlmError, LlmErrorKind, LlmResponse, Part, Role};

/// Calls the model, or the callback that replaces it, and processes the answer.
pub(in crate::turn) async fn respond(
    ctx: Ctx<'_>,
    call: &mut ModelCall<'_>,
) -> Result<LlmResponse, BoxError> {
    let mut response = answer(ctx, call).await?;
    steps::process_response(ctx, call, &mut response).await?;
    Ok(response)
}

async fn answer(ctx: Ctx<'_>, call: &mut ModelCall<'_>) -> Result<LlmResponse, BoxError> {
    for callback in ctx.callbacks() {
        if let Some(response) = callback.before_model(call).await? {
            call.stage = CallStage::Replaced;
            return Ok(response);
        }
    }
    let client = ctx.tree.model(ctx.index)?;
    // The turn continues it, with a request that is counted and after what was written is stored.
    call.request.on_pause = OnPause::Return;
    // Before the limits, which depend on what other calls have used.
    ctx.cx.note_request(|| call.request.parts()).await?;
    spend::before_request(ctx, &mut call.request, client)?;
    call.requests += 1;
    let model = spans::model(client);
    let streams = ctx.tree.streams(ctx.index) || ctx.cx.managed::<StreamsBelow>().is_some();
    let answered = if streams {
        // Boxed: it is larger than the other branch.
        Box::pin(streamed(&model, ctx, call)).await?
    } else {
        // A client of the user may not check its answers.
        let answered = model.complete(&call.request).await;
        answered.and_then(|response| response.checked(&call.request))
    };
    let response = match answered {
        Ok(response) => response,
        Err(error) => recovered(ctx, call, error).await?,
    };
    call.used = Some(response.usage);
    after(ctx, call, response, CallStage::Complete).await
}

/// Passes a failure through the callbacks.
async fn recovered(
    ctx: Ctx<'_>,
    call: &mut ModelCall<'_>,
    error: LlmError,
) -> Result<LlmResponse, BoxError> {
    let error = match error.kind {
        // The model has to correct wrong arguments itself. The event of a blocked prompt has the reason.
        LlmErrorKind::Arguments { response } | LlmErrorKind::Blocked { response } => {
            return Ok(*response);
        }
        _ => error,
    };
    for callback in ctx.callbacks() {
        if let Some(response) = callback.on_model_error(call, &error).await? {
            return Ok(response);
        }
    }
    let agent = ctx.agent().name.to_string();
    Err(AgentError::Model { agent, error }.into())
}

/// Passes an answer, or a piece of one, through the callbacks.
async fn after(
    ctx: Ctx<'_>,
    call: &mut ModelCall<'_>,
    response: LlmResponse,
    stage: CallStage,
) -> Result<LlmResponse, BoxError> {
    call.stage = stage;
    for callback in ctx.callbacks() {
        if let Some(other) = callback.after_model(call, &response).await? {
            return Ok(other);
        }
    }
    Ok(response)
}

/// The answer of a streaming call. Its pieces are sent to listeners as they arrive.
async fn streamed(
    model: &dyn LlmClient,
    ctx: Ctx<'_>,
    call: &mut ModelCall<'_>,
) -> Result<Result<LlmResponse, LlmError>, BoxError> {
    let mut chunks = match model.stream(&call.request).await {
        Ok(chunks) => chunks,
        Err(error) => return Ok(Err(error)),
    };
    // Only listeners and callbacks need pieces. Without both, the pieces are only joined.
    let checked = guard::checks_pieces(ctx);
    let held = guard::holds_back_pieces(ctx);
    let needed = ctx.cx.has_listener() || ctx.callbacks().next().is_some() || checked;
    let mut answer = GrowingAnswer::of(ctx).filter(|_| !held);
    let mut pieces = 0;
    loop {
        let chunk = match &mut answer {
            Some(answer) => answer.next(ctx, &mut chunks).await,
            None => chunks.next().await,
        };
        let Some(chunk) = chunk else {
            return Err(AgentError::IncompleteStream(call.agent().into()).into());
        };
        ctx.cx.heartbeat();
        if chunk.done {
            let broken = chunk.error.is_none() && chunk.response.is_none() && pieces > 0;
            if broken {
                return Err(AgentError::IncompleteStream(call.agent().into()).into());
            }
            return Ok(chunk
                .into_outcome()
                .unwrap_or_else(|| Ok(LlmResponse::default())));
        }
        pieces += 1;
        // The guardrails that check pieces read the text alone.
        if let Some(answer) = answer.as_mut().filter(|_| !checked) {
            answer.call(ctx, &chunk.delta);
        }
        if needed && let Some(piece) = piece(chunk.delta) {
            let mut piece = after(ctx, call, piece, CallStage::Partial).await?;
            let text = piece.text();
            steps::process_response(ctx, call, &mut piece).await?;
            call.so_far.push_str(&text);
            if checked && !text.is_empty() {
                guard::piece(ctx, &call.so_far).await?;
            }
            let message = piece
                .message
                .filter(|message| !held && !message.parts.is_empty());
            if let Some(message) = message {
                if let Some(answer) = &mut answer {
                    answer.text(ctx, &message.text());
                }
                AgentEvent::emit(ctx.cx, || AgentEvent {
                    message: Some(message),
                    partial: true,
                    ..ctx.event(0)
                });
            }
        }
    }
}

/// A piece as a response of its own.
fn piece(delta: Delta) -> Option<LlmResponse> {
    let part = match delta {
        Delta::Text(text) => Part::Text(text.into()),
        Delta::Thought(text) => Part::Thought(text.into()),
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
            ..petalflow::tool::ToolCall::default()
        }),
        // Signatures and pieces of arguments contain no text for a listener.
        _ => return None,
    };
    Some(LlmResponse {
        message: Some(ChatMessage::new(Role::Assistant, vec![part])),
        status: Status::Incomplete,
        ..LlmResponse::default()
    })
}
