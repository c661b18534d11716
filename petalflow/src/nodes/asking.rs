//! Asking the node's model, or the run's.

use std::sync::Arc;

use futures_util::StreamExt;

use super::{Model, Said};
use crate::llm::{Delta, LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse};
use crate::{BoxError, Context};

/// Whom a node asks.
#[derive(Clone, Default)]
pub(super) struct Asking {
    /// The node's own; the run's without one.
    pub(super) client: Option<Arc<dyn LlmClient>>,
}

impl Asking {
    /// The node's model, or the run's.
    pub(super) fn client(&self, cx: &Context) -> Result<Arc<dyn LlmClient>, BoxError> {
        if let Some(client) = &self.client {
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
}

/// The answer, with its words sent to who listens as they come.
pub(super) async fn ask(
    client: &dyn LlmClient,
    request: &LlmRequest,
    cx: &Context,
    attempt: u32,
) -> Result<LlmResponse, LlmError> {
    let mut stream = client.stream(request).await?;
    let mut index = 0;
    while let Some(chunk) = stream.next().await {
        cx.heartbeat();
        if let Delta::Text(words) = &chunk.delta
            && !words.is_empty()
        {
            say(
                cx,
                &Said::Delta {
                    delta: words.clone(),
                    index,
                    attempt,
                },
            );
            index += 1;
        }
        if let Some(outcome) = chunk.into_outcome() {
            let response = outcome?;
            say(
                cx,
                &Said::Final {
                    text: response.text(),
                },
            );
            return Ok(response);
        }
    }
    Err(LlmError::new(
        LlmErrorKind::Malformed,
        format!(
            "the stream of `{}` ended without a last piece",
            client.name()
        ),
    ))
}

/// An answer whose calls have arguments that are not JSON is an answer: whoever makes the calls tells the model so.
pub(super) fn with_wrong_arguments(
    answered: Result<LlmResponse, LlmError>,
) -> Result<LlmResponse, LlmError> {
    answered.or_else(|error| match error.kind {
        LlmErrorKind::Arguments { response } => Ok(*response),
        _ => Err(error),
    })
}

/// Sends it to who listens. It is plain data, which is always JSON.
pub(super) fn say(cx: &Context, said: &Said) {
    let sent = cx.emit(said);
    debug_assert!(sent.is_ok());
}
