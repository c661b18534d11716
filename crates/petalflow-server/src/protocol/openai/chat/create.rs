//! The answer to `POST /v1/chat/completions`.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt, stream};

use super::chunk::Chunks;
use super::completion::Completion;
use super::request::ChatRequest;
use crate::access;
use crate::protocol::openai::error::ApiError;
use crate::protocol::openai::thread_header::with_thread;
use crate::protocol::openai::{models, start};
use crate::protocol::turn::{ItemKind, Turn};
use crate::request as body;
use crate::server::Inner;
use crate::threads::start::Starter;

/// Begins the turn of a request, and answers with it, whole or in chunks.
pub(crate) async fn create(
    State(server): State<Arc<Inner>>,
    request: Request,
) -> Result<Response, ApiError> {
    let (access, headers) = (access::of(&request), request.headers().clone());
    let bytes = body::whole(request, server.settings.limits.max_input_bytes, &server).await?;
    let chat: ChatRequest = body::parse(&bytes)?;
    let starter = Starter::of(&server, access, &headers, &bytes)?;
    let flow = Arc::clone(models::find(&server, &chat.model)?);
    let (model, shape) = (chat.model.clone(), chat.shape()?);
    let turn = start::begin(&server, &flow, chat.start(starter)?).await?;
    let completion = Completion::of(&turn.thread, model);
    let response = if shape.streams {
        streamed(&server, &turn, Chunks::new(completion, shape.with_usage))?
    } else {
        Json(whole(&server, &turn, completion).await?).into_response()
    };
    Ok(with_thread(response, &turn.thread))
}

/// The whole answer.
async fn whole(
    server: &Arc<Inner>,
    turn: &Turn,
    mut completion: Completion,
) -> Result<serde_json::Value, ApiError> {
    let mut items = turn.items(server);
    while let Some(item) = items.next().await {
        let item = item?;
        if let ItemKind::End(end) = &item.kind {
            return match ApiError::of_turn(&end.outcome) {
                Some(error) => Err(error),
                None => Ok(completion.value(&turn.thread, end)),
            };
        }
        completion.add(&item);
    }
    Err(ApiError::busy("the turn has no end yet"))
}

/// The answer in chunks.
fn streamed(server: &Arc<Inner>, turn: &Turn, mut chunks: Chunks) -> Result<Response, ApiError> {
    let permit = Arc::clone(&server.streams).try_acquire_owned();
    let permit = permit.map_err(|_| ApiError::busy("too many clients receive events"))?;
    let thread = turn.thread.clone();
    let items = turn.items(server).flat_map(move |item| {
        let _permit = &permit;
        let chunks = match item {
            Ok(item) => chunks.of(&thread, &item),
            Err(refusal) => vec![ApiError::from(refusal).body().to_string()],
        };
        stream::iter(chunks)
    });
    let events = items.map(|data| Ok::<_, Infallible>(Event::default().data(data)));
    let events = Sse::new(events).keep_alive(KeepAlive::default());
    Ok(events.into_response())
}
