//! Answers that a provider pauses. It continues them when it is sent what it wrote.

use futures_core::Stream;
use futures_util::{StreamExt, stream};

use crate::request::OnPause;
use crate::response::FinishReason;
use crate::stream::{Delta, StreamAccumulator, StreamEvent, StreamSource};
use crate::{ChatMessage, LlmClient, LlmError, LlmRequest, LlmResponse, LlmStream, TokenUsage};

/// The maximum number of continuations of one answer. An answer that is still paused says so.
pub(super) const MAX_PAUSES: usize = 10;

/// What a paused answer has written. `None` if it is not paused, or has written nothing, so that it would pause again.
fn paused(response: &LlmResponse) -> Option<&ChatMessage> {
    let is_paused = response.finish == Some(FinishReason::Paused);
    response.message.as_ref().filter(|_| is_paused)
}

/// The complete answer.
pub(super) async fn complete(
    client: &impl LlmClient,
    request: &LlmRequest,
) -> Result<LlmResponse, LlmError> {
    let mut response = client.complete(request).await?;
    if request.on_pause == OnPause::Return {
        return Ok(response);
    }
    let mut written = paused(&response).cloned();
    let mut next: Option<LlmRequest> = None;
    for _ in 0..MAX_PAUSES {
        let Some(part) = written.take() else {
            return Ok(response);
        };
        let following = next.as_ref().unwrap_or(request).continued(part);
        let rest = client.complete(&following).await?;
        written = paused(&rest).cloned();
        response = response.joined(rest).checked(request)?;
        next = Some(following);
    }
    Ok(response)
}

/// The stream of an answer and of its continuations.
pub(super) fn stream(
    client: impl LlmClient + Clone,
    request: &LlmRequest,
    first: LlmStream,
) -> LlmStream {
    if request.on_pause == OnPause::Return {
        return first;
    }
    let events = events(client, request.clone(), first.into_source());
    LlmStream::new(request, events)
}

struct Continuing<C> {
    client: C,
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

fn events(
    client: impl LlmClient,
    request: LlmRequest,
    events: StreamSource,
) -> impl Stream<Item = Result<StreamEvent, LlmError>> + Send + 'static {
    let state = Continuing {
        client,
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
                Ok(StreamEvent::End(mut response)) => match state.resume(&response).await {
                    Ok(true) => continue,
                    Ok(false) => {
                        response.usage += state.usage;
                        Some((Ok(StreamEvent::End(response)), None))
                    }
                    Err(error) => Some((Err(error), None)),
                },
                Err(error) => Some((Err(error), None)),
            };
        }
    })
}

impl<C: LlmClient> Continuing<C> {
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

    /// Continues a part of the answer that ended as this response, if it is paused.
    async fn resume(&mut self, end: &LlmResponse) -> Result<bool, LlmError> {
        if self.pauses == MAX_PAUSES {
            return Ok(false);
        }
        let part = std::mem::take(&mut self.written).finish(LlmResponse {
            finish: end.finish.clone(),
            ..LlmResponse::default()
        });
        let Some(written) = paused(&part) else {
            return Ok(false);
        };
        self.pauses += 1;
        self.usage += end.usage;
        self.calls_before = self.calls;
        self.request = self.request.continued(written.clone());
        let stream = self.client.stream(&self.request).await?;
        self.events = stream.into_source();
        Ok(true)
    }
}
