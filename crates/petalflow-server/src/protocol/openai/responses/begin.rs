//! The start of the turn of a response.

use std::sync::Arc;

use super::id::ResponseId;
use super::request::ReadRequest;
use crate::MultitaskStrategy;
use crate::access::Access;
use crate::protocol::openai::answers::{self, Continues};
use crate::protocol::openai::error::ApiError;
use crate::protocol::openai::start::{self, Start};
use crate::protocol::queued::{Begun, QueueState};
use crate::protocol::requests::{Begins, Request};
use crate::protocol::turn::{Turn, TurnInput};
use crate::refusal::Refusal;
use crate::served::ServedThreads;
use crate::server::{Inner, prefix};
use crate::threads::start::Starter;

/// Begins the turn of a response: the first one of a new thread, or the next one after an earlier response. It may be queued.
pub(super) async fn begin(
    server: &Arc<Inner>,
    flow: &Arc<dyn ServedThreads>,
    previous: Option<&str>,
    request: ReadRequest,
    starter: Starter,
) -> Result<Begun, ApiError> {
    let Some(previous) = previous else {
        let start = Start {
            messages: request.input.messages,
            settings: request.settings,
            labels: request.labels,
            results: request.input.results,
            starter,
        };
        let turn = start::begin(server, flow, start).await?;
        return Ok(Begun::Turn(turn));
    };
    let earlier = find(server, &starter.access, flow, previous).await?;
    let sent = continuing(flow, earlier.thread(), &starter);
    if let Some(sent) = &sent
        && let Some(begun) = sent.earlier(server, flow).await?
    {
        return Ok(begun);
    }
    let earlier = match earlier {
        Begun::Turn(turn) => turn,
        Begun::Queued(queued) => {
            if let Some(QueueState::Cancelled { .. }) = queued.state(server).await? {
                let text = format!(
                    "the response `{previous}` was cancelled before its turn: continue the one before it"
                );
                return Err(ApiError::conflict(text));
            }
            return while_working(server, flow, &queued.thread, previous, request, starter).await;
        }
    };
    let Some(extent) = earlier.extent().await? else {
        return Err(unknown(previous));
    };
    if extent.end.is_none() {
        return while_working(server, flow, &earlier.thread, previous, request, starter).await;
    }
    if extent.is_last {
        return next(server, flow, &starter.access, earlier.thread, sent, request).await;
    }
    let Some(checkpoint) = extent.checkpoint else {
        return Err(unknown(previous));
    };
    if !request.input.results.is_empty() {
        let text = format!("the response `{previous}` was continued: its calls have their results");
        return Err(ApiError::conflict(text).with_code("already_answered"));
    }
    // A repetition of the request finds the thread that it made.
    let other = format!("{}{}", prefix(flow.facts()), starter.id());
    let sent = continuing(flow, &other, &starter);
    if starter.key.is_none() || server.info(&other).await.map_err(Refusal::from)?.is_none() {
        flow.fork_to(&earlier.thread, checkpoint, &other)
            .await
            .map_err(Refusal::from)?;
    } else if let Some(sent) = &sent
        && let Some(begun) = sent.earlier(server, flow).await?
    {
        return Ok(begun);
    }
    next(server, flow, &starter.access, other, sent, request).await
}

/// The request with a key that continues a thread.
fn continuing(flow: &Arc<dyn ServedThreads>, thread: &str, starter: &Starter) -> Option<Request> {
    let key = starter.key.as_ref()?;
    Some(sent(flow, thread, key, starter))
}

/// The request with this key to a thread.
fn sent(flow: &Arc<dyn ServedThreads>, thread: &str, key: &str, starter: &Starter) -> Request {
    let prefix = prefix(flow.facts());
    Request {
        id: format!("openai {key}"),
        checksum: starter.checksum.clone(),
        own: thread.strip_prefix(&*prefix).unwrap_or(thread).to_string(),
        access: starter.access.clone(),
        strategy: None,
    }
}

/// Takes a request that continues a response in progress, as the flow says.
async fn while_working(
    server: &Arc<Inner>,
    flow: &Arc<dyn ServedThreads>,
    thread: &str,
    previous: &str,
    request: ReadRequest,
    starter: Starter,
) -> Result<Begun, ApiError> {
    let rejects = flow.facts().multitask == MultitaskStrategy::Reject;
    if rejects || !request.input.results.is_empty() {
        let text =
            format!("the response `{previous}` is in progress: continue it when it has ended");
        return Err(ApiError::conflict(text));
    }
    let random = || format!("{:032x}", fastrand::u128(..));
    let key = starter.key.clone().unwrap_or_else(random);
    let sent = sent(flow, thread, &key, &starter);
    let input = TurnInput {
        messages: request.input.messages,
        client: request.settings,
        ..TurnInput::default()
    };
    Ok(sent.begin(server, flow, Begins::Input(input)).await?)
}

/// Begins the next turn of a thread. `sent`: the request, if it has a key.
async fn next(
    server: &Arc<Inner>,
    flow: &Arc<dyn ServedThreads>,
    access: &Access,
    thread: String,
    sent: Option<Request>,
    request: ReadRequest,
) -> Result<Begun, ApiError> {
    let mut input = TurnInput {
        messages: request.input.messages,
        client: request.settings,
        ..TurnInput::default()
    };
    if !request.input.results.is_empty() {
        match answers::find(server, access, flow, &request.input.results).await? {
            Some(Continues::Answers {
                thread: waits,
                answers,
            }) if waits == thread => input.answers = answers,
            Some(question @ Continues::Question { .. }) if input.messages.is_empty() => {
                let turn = start::go_on(server, flow, question, input.client).await?;
                return Ok(Begun::Turn(turn));
            }
            _ => {
                let text = "nothing waits for these results: the calls were answered before, or are those of another response";
                return Err(ApiError::conflict(text).with_code("already_answered"));
            }
        }
    }
    if let Some(sent) = sent {
        return Ok(sent.begin(server, flow, Begins::Input(input)).await?);
    }
    let turn = Turn::begin_on(server, flow, thread, input).await?;
    Ok(Begun::Turn(turn))
}

/// The turn of an earlier response of this model.
async fn find(
    server: &Inner,
    access: &Access,
    flow: &Arc<dyn ServedThreads>,
    previous: &str,
) -> Result<Begun, ApiError> {
    let id = ResponseId::parse(previous).ok_or_else(|| unknown(previous))?;
    let thread = id.thread(&**flow);
    let is_visible = server.visible(access, &thread).await.is_ok();
    if is_visible && flow.view(&thread, None).await?.is_some() {
        let begun = id.begun(server, flow).await?;
        return begun.ok_or_else(|| unknown(previous));
    }
    Err(unknown(previous))
}

fn unknown(previous: &str) -> ApiError {
    let text = format!("this model has no response `{previous}`");
    ApiError::param("previous_response_id", text).with_code("previous_response_not_found")
}
