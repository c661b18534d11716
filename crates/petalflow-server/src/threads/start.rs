//! Starts threads, and their further turns.

use std::sync::Arc;
use std::time::SystemTime;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{labels, when};
use crate::MultitaskStrategy;
use crate::Notice;
use crate::access::{self, Access};
use crate::digest::digest;
use crate::keyed_request::{Keyed, Of};
use crate::multitask::{self, Message, Taken};
use crate::refusal::Refusal;
use crate::request;
use crate::served::{Input, InputValue, Labels, ServedThreads};
use crate::server::{Inner, prefix};
use crate::start_lock::StartLock;
use crate::wait;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StartBody {
    id: Option<String>,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    labels: Labels,
    delay: Option<String>,
    at: Option<String>,
}

/// What starts a thread.
pub(crate) struct Start {
    /// The id of the thread, after the name of the flow, as [`Inner::own_id`] makes it. `None`: the server chooses one.
    pub(crate) id: Option<String>,
    pub(crate) input: InputValue,
    pub(crate) labels: Labels,
    /// Labels of the server, whose names are reserved.
    pub(crate) own_labels: Labels,
    /// When it begins. `None`: at once.
    pub(crate) at: Option<SystemTime>,
}

/// Who starts a thread, and with which request.
pub(crate) struct Starter {
    pub(crate) access: Access,
    /// The identifier of the request.
    pub(crate) key: Option<String>,
    /// The checksum of its body.
    pub(crate) checksum: String,
}

impl Starter {
    /// A caller that may see all threads, with a request that is not identified.
    #[cfg(all(test, feature = "protocol"))]
    pub(crate) fn anyone() -> Self {
        Starter {
            access: Access::All,
            key: None,
            checksum: String::new(),
        }
    }

    /// The caller of a request, which has these bytes.
    pub(crate) fn of(
        server: &Inner,
        access: Access,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<Self, Refusal> {
        Ok(Starter {
            access,
            key: request::identifier(headers, &server.settings.key_header)?,
            checksum: digest(body),
        })
    }

    /// The id of the thread, if the request does not choose one. Requests of two users with the same identifier start two
    /// threads.
    pub(crate) fn id(&self) -> String {
        match &self.key {
            None => format!("{:032x}", fastrand::u128(..)),
            Some(key) => self.access.key(key),
        }
    }
}

/// Starts a thread of a flow, and answers when its input is stored, or when its run has ended if the client waits for it.
pub(crate) async fn start(
    State(server): State<Arc<Inner>>,
    Path(flow): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let flow = Arc::clone(server.flow(&flow)?);
    let (access, headers) = (access::of(&request), request.headers().clone());
    let body = request::whole(request, server.settings.limits.max_input_bytes, &server).await?;
    let mut starter = Starter::of(&server, access, &headers, &body)?;
    let start: StartBody = request::parse(&body)?;
    let (delay, at) = (start.delay.as_deref(), start.at.as_deref());
    let at = when::time(&*server.settings.store, delay, at).await?;
    let mut keyed = None;
    let id = match &start.id {
        Some(id) => Some(server.own_id(&starter.access, flow.facts(), id).await?),
        None => None,
    };
    if let Some(id) = &id {
        let thread = format!("{}{id}", prefix(flow.facts()));
        let of = Of::Run { thread };
        keyed = Keyed::of(&server, &starter.access, &headers, ("start", &body), of)?;
        // It does not choose the thread.
        starter.key = None;
    }
    let start = Start {
        id,
        input: start.input.into(),
        labels: start.labels,
        own_labels: Labels::new(),
        at,
    };
    let begun = begin(Arc::clone(&server), Arc::clone(&flow), start, starter);
    let begun = Box::pin(async move { Ok(Value::String(begun.await?)) });
    let begun = server.once(keyed, begun).await?;
    let thread = begun.as_str().unwrap_or_default();
    wait::respond(&server, &*flow, thread, &headers).await
}

/// Begins a thread, and returns its id. A repeated request with an identifier gets the thread of the first one.
pub(crate) async fn begin(
    server: Arc<Inner>,
    flow: Arc<dyn ServedThreads>,
    start: Start,
    starter: Starter,
) -> Result<String, Refusal> {
    let own = start.id.unwrap_or_else(|| starter.id());
    let thread = format!("{}{own}", prefix(flow.facts()));
    let _lock = StartLock::take(&server, &thread).await?;
    if flow.view(&thread, None).await?.is_some() {
        return repeated(&server, thread, &starter).await;
    }
    let labels = labels::with_reserved(start.labels, &Labels::new())?;
    let mut labels = starter.access.with_required(labels)?;
    labels.extend(start.own_labels);
    if starter.key.is_some() {
        labels.insert(labels::REQUEST.to_string(), starter.checksum);
    }
    let input = Input {
        value: start.input,
        labels,
        discards: false,
        rolls_back: false,
        message: None,
    };
    match start.at {
        Some(at) => {
            server.must_accept()?;
            flow.begin_at(&thread, input, at).await?;
            server.notify(Notice::Accepted { thread: &thread });
        }
        None => store(&server, &*flow, &thread, input).await?,
    }
    Ok(thread)
}

/// Stores the input of a new thread, and runs it.
pub(crate) async fn store(
    server: &Arc<Inner>,
    flow: &dyn ServedThreads,
    thread: &str,
    input: Input,
) -> Result<(), Refusal> {
    let store = async |token| {
        let run = flow.begin(thread, input, &token).await?;
        server.notify(Notice::Accepted { thread });
        Ok(run)
    };
    server.begin(thread.to_string(), store).await
}

/// The thread of the first request with an identifier. A thread whose id a client has chosen is not started twice.
async fn repeated(server: &Inner, thread: String, starter: &Starter) -> Result<String, Refusal> {
    if starter.key.is_none() {
        return Err(Refusal::new(
            StatusCode::CONFLICT,
            format!("there is a thread `{thread}` already: a further input is another turn of it"),
        ));
    }
    let info = server.info(&thread).await?;
    let first = info
        .as_ref()
        .and_then(|info| info.labels.get(labels::REQUEST));
    if first.is_some_and(|first| *first != starter.checksum) {
        return Err(Refusal::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            format!("a request with this identifier had another body: it started `{thread}`"),
        ));
    }
    Ok(thread)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    #[serde(default)]
    input: Value,
    /// Whether the input discards open questions.
    #[serde(default)]
    discard_pending: bool,
    /// What happens if a run has the thread. `None`: what the flow says.
    multitask_strategy: Option<MultitaskStrategy>,
}

/// Begins another turn of a thread.
pub(crate) async fn turn(
    State(server): State<Arc<Inner>>,
    Path(thread): Path<String>,
    request: Request,
) -> Result<Response, Refusal> {
    let flow = server.owner(&thread).await?;
    let (access, headers) = (access::of(&request), request.headers().clone());
    let limit = server.settings.limits.max_input_bytes;
    let body = request::whole(request, limit, &server).await?;
    let turn: Turn = request::parse(&body)?;
    server.must_exist(&thread).await?;
    let strategy = turn.multitask_strategy.unwrap_or(flow.facts().multitask);
    let of = Of::turn(&thread, strategy);
    let keyed = Keyed::of(&server, &access, &headers, ("turn", &body), of)?;
    let message = Message {
        id: keyed.as_ref().map(|keyed| keyed.key().to_string()),
        value: turn.input.into(),
        discards: turn.discard_pending,
        strategy,
    };
    let (of_turn, flow_of_turn, id) = (Arc::clone(&server), Arc::clone(&flow), thread.clone());
    let taken = async move {
        let word = match multitask::take(&of_turn, &flow_of_turn, &id, message).await? {
            Taken::Begun => return Ok(json!({ "thread": id })),
            Taken::Enqueued => "enqueued",
            Taken::Steered => "steered",
        };
        Ok(json!({ "thread": id, "message": word }))
    };
    let taken = Box::pin(server.once(keyed, taken)).await?;
    if taken.get("message").is_none() {
        return wait::respond(&server, &*flow, &thread, &headers).await;
    }
    Ok((StatusCode::ACCEPTED, Json(taken)).into_response())
}
