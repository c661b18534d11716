//! Calls to the model of a node or of its run.

use std::sync::Arc;

use super::{Model, NodeOutput};
use crate::llm_error::RecordedError;
use crate::stream::Delta;
use crate::{LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse};
use petalflow::{BoxError, Context};

/// The model that a node asks: its own, or else the [`Model`] that the run manages.
///
/// For user-defined nodes that work like [`Llm`](super::Llm).
///
/// # Errors
///
/// If there is no such model.
pub fn model_of_node(
    own: Option<&Arc<dyn LlmClient>>,
    cx: &Context,
) -> Result<Arc<dyn LlmClient>, BoxError> {
    if let Some(client) = own {
        return Ok(Arc::clone(client));
    }
    let managed = cx.managed::<Model>();
    managed.map(|model| Arc::clone(model.client())).ok_or_else(|| {
        format!(
            "node `{}` has no model: give the launch one with `.manage(Model::new(..))`, or the node its own with `.model(..)`",
            cx.node()
        )
        .into()
    })
}

/// Calls a model from within a node, and emits the text as it arrives, as [`NodeOutput`] events. The events carry
/// `attempt`, the number of the attempt, from 1. Each chunk counts as a [heartbeat](Context::heartbeat).
///
/// For user-defined nodes that work like [`Llm`](super::Llm). The request is [recorded](Context::note_request) if the thread retains
/// results, so that a replay compares it.
///
/// # Errors
///
/// Those of the model, and [`LlmErrorKind::Malformed`] if the stream ends without a final chunk.
///
/// # Cancel safety
///
/// Dropping the future cancels the call.
pub async fn ask_model(
    client: &dyn LlmClient,
    request: &LlmRequest,
    cx: &Context,
    attempt: u32,
) -> Result<LlmResponse, LlmError> {
    noted_call(request, cx, stream_model(client, request, cx, attempt)).await
}

/// Makes a call to a model in another way than [`ask_model`], and [records](Context::note_call) the request if the thread retains results.
/// The answer is recorded too if the task makes another request, so that a replay compares that one as well.
///
/// For nodes that make the call themselves.
///
/// # Errors
///
/// Those of the call, and [`LlmErrorKind::Request`] if the run of the node has ended.
///
/// # Cancel safety
///
/// Dropping the future cancels the call.
pub async fn noted_call(
    request: &LlmRequest,
    cx: &Context,
    call: impl Future<Output = Result<LlmResponse, LlmError>> + Send,
) -> Result<LlmResponse, LlmError> {
    let mut failed = None;
    let call = async {
        call.await.map_err(|error| {
            let recorded = RecordedError::of(&error);
            failed = Some(error);
            recorded
        })
    };
    let answer = cx.note_call(|| request.parts(), call).await;
    let answer = answer.map_err(|error| LlmError::new(LlmErrorKind::Request, error.to_string()))?;
    answer.map_err(|recorded| failed.unwrap_or_else(|| recorded.into()))
}

/// Calls a model as [`ask_model`] does, and records no request. For nodes that record it themselves, such as one that calls a model again
/// after a failure: [`Context::note_call`] is around all of its calls.
///
/// # Errors
///
/// Those of the model, and [`LlmErrorKind::Malformed`] if the stream ends without a final chunk.
///
/// # Cancel safety
///
/// Dropping the future cancels the call.
pub async fn stream_model(
    client: &dyn LlmClient,
    request: &LlmRequest,
    cx: &Context,
    attempt: u32,
) -> Result<LlmResponse, LlmError> {
    let mut stream = client.stream(request).await?;
    let mut index = 0;
    while let Some(chunk) = stream.next().await {
        cx.heartbeat();
        if let Delta::Text(text) = &chunk.delta
            && !text.is_empty()
        {
            cx.emit_with(|| NodeOutput::Delta {
                delta: text.clone(),
                index,
                attempt,
            });
            index += 1;
        }
        if let Some(outcome) = chunk.into_outcome() {
            let response = outcome?;
            cx.emit_with(|| NodeOutput::Final {
                text: response.text(),
            });
            return Ok(response);
        }
    }
    Err(LlmError::new(
        LlmErrorKind::Malformed,
        format!(
            "the stream of `{}` ended without a last chunk",
            client.name()
        ),
    ))
}

/// Accepts a response whose calls have invalid arguments: the node that makes the calls reports the error to the model.
pub(super) fn accept_invalid_arguments(
    result: Result<LlmResponse, LlmError>,
) -> Result<LlmResponse, LlmError> {
    result.or_else(|error| match error.kind {
        LlmErrorKind::Arguments { response } => Ok(*response),
        _ => Err(error),
    })
}
