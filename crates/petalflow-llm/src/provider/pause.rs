//! Answers that a provider pauses. It continues them when it is sent what it wrote.

use std::sync::Arc;

use futures_core::Stream;
use futures_util::{StreamExt, stream};

use crate::response::FinishReason;
use crate::stream::{Delta, StreamAccumulator, StreamEvent, StreamSource};
use crate::{ChatMessage, LlmError, LlmRequest, LlmResponse, TokenUsage};
use petalflow::async_trait;

/// Asks for one answer, which the provider may pause.
#[async_trait]
pub(super) trait Source: Send + Sync + 'static {
    /// The whole answer.
    async fn answer(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError>;

    /// The events of the answer.
    async fn events(&self, request: &LlmRequest) -> Result<StreamSource, LlmError>;
}

/// The maximum number of continuations of one answer. What was written until then is the answer.
const MAX_PAUSES: usize = 50;

fn is_paused(response: &LlmResponse) -> bool {
    matches!(&response.finish, Some(FinishReason::Other(reason)) if reason == "pause_turn")
}

/// The request that continues an answer: the conversation ends with what was written.
fn continued(request: &LlmRequest, written: Option<&ChatMessage>) -> LlmRequest {
    let mut messages = request.messages.as_ref().clone();
    messages.extend(request.input_text.as_deref().map(ChatMessage::user));
    messages.extend(written.cloned());
    LlmRequest {
        messages: Arc::new(messages),
        input_text: None,
        ..request.clone()
    }
}

/// The complete answer.
pub(super) async fn complete(
    source: &impl Source,
    request: &LlmRequest,
) -> Result<LlmResponse, LlmError> {
    let mut response = source.answer(request).await?;
    let mut next: Option<LlmRequest> = None;
    for _ in 0..MAX_PAUSES {
        if !is_paused(&response) {
            break;
        }
        let last = next.as_ref().unwrap_or(request);
        let following = continued(last, response.message.as_ref());
        let rest = source.answer(&following).await?;
        response = joined(response, rest);
        next = Some(following);
    }
    Ok(response)
}

/// One answer of two parts.
fn joined(first: LlmResponse, mut rest: LlmResponse) -> LlmResponse {
    rest.usage += first.usage;
    rest.message = match (first.message, rest.message) {
        (Some(mut first), Some(rest)) => {
            first.parts.extend(rest.parts);
            Some(first)
        }
        (first, rest) => first.or(rest),
    };
    rest
}

struct Continuing<S> {
    source: S,
    request: LlmRequest,
    events: StreamSource,
    /// What was written since the last pause.
    written: StreamAccumulator,
    /// The number of calls before the last pause, and in all.
    calls_before: usize,
    calls: usize,
    usage: TokenUsage,
    pauses: usize,
}

/// The events of an answer and of its continuations.
pub(super) fn events(
    source: impl Source,
    request: LlmRequest,
    events: StreamSource,
) -> impl Stream<Item = Result<StreamEvent, LlmError>> + Send + 'static {
    let state = Continuing {
        source,
        request,
        events,
        written: StreamAccumulator::new(),
        calls_before: 0,
        calls: 0,
        usage: TokenUsage::default(),
        pauses: 0,
    };
    stream::unfold(Some(state), |state| async {
        let mut state = state?;
        loop {
            return match state.events.next().await? {
                Ok(StreamEvent::Delta(mut delta)) => {
                    state.written.push(&delta);
                    state.number(&mut delta);
                    Some((Ok(StreamEvent::Delta(delta)), Some(state)))
                }
                Ok(StreamEvent::End(response))
                    if is_paused(&response) && state.pauses < MAX_PAUSES =>
                {
                    match state.resume(&response).await {
                        Ok(()) => continue,
                        Err(error) => Some((Err(error), None)),
                    }
                }
                Ok(StreamEvent::End(mut response)) => {
                    response.usage += state.usage;
                    Some((Ok(StreamEvent::End(response)), None))
                }
                Err(error) => Some((Err(error), None)),
            };
        }
    })
}

impl<S: Source> Continuing<S> {
    /// Numbers the calls of all parts of the answer.
    fn number(&mut self, delta: &mut Delta) {
        let (Delta::Call { index, .. }
        | Delta::Argument { index, .. }
        | Delta::Origin {
            index: Some(index), ..
        }) = delta
        else {
            return;
        };
        *index += self.calls_before;
        self.calls = self.calls.max(*index + 1);
    }

    async fn resume(&mut self, response: &LlmResponse) -> Result<(), LlmError> {
        self.pauses += 1;
        self.usage += response.usage;
        self.calls_before = self.calls;
        let written = std::mem::take(&mut self.written).finish(LlmResponse::default());
        self.request = continued(&self.request, written.message.as_ref());
        self.events = self.source.events(&self.request).await?;
        Ok(())
    }
}
