//! Answers to the calls of an agent that wait: an answer begins the next turn.

use std::sync::Arc;

use axum::http::StatusCode;
use serde_json::Value;

use crate::refusal::Refusal;
use crate::served::{FlowKind, Input, Labels, ReadThreads, ServedThreads, WaitKind, no_thread};
use crate::server::Inner;
use crate::start_lock::StartLock;

/// Whether the id is that of a call that waits, and not that of a question of the flow.
pub(crate) async fn is_pending(
    flow: &dyn ReadThreads,
    thread: &str,
    id: &str,
) -> Result<bool, Refusal> {
    if flow.facts().kind != FlowKind::Agent {
        return Ok(false);
    }
    let view = flow.view(thread, None).await?.ok_or_else(no_thread)?;
    Ok(waiting_kind(&view, id).is_some())
}

/// Begins the next turn with the answer. Of several answers to one call, the first begins it.
pub(crate) async fn answer(
    server: Arc<Inner>,
    flow: Arc<dyn ServedThreads>,
    thread: String,
    id: String,
    answer: Value,
) -> Result<(), Refusal> {
    let _lock = StartLock::take(&server, &thread).await?;
    let view = flow.view(&thread, None).await?.ok_or_else(no_thread)?;
    let Some(kind) = waiting_kind(&view, &id) else {
        let text = format!("the call `{id}` does not wait: it has been answered");
        return Err(Refusal::new(StatusCode::CONFLICT, text));
    };
    let input = Input {
        value: kind.input(&id, answer).into(),
        labels: Labels::new(),
        discards: false,
        rolls_back: false,
        message: None,
    };
    let (of_run, of_thread) = (Arc::clone(&flow), thread.clone());
    let begin = async move |token| of_run.begin(&of_thread, input, &token).await;
    server.begin(thread, begin).await
}

/// The kind of the call with this id that waits.
fn waiting_kind(view: &Value, id: &str) -> Option<WaitKind> {
    let mut waits = view["waits"].as_array()?.iter();
    let wait = waits.find(|wait| wait["id"] == id)?;
    WaitKind::of_call(wait["kind"].as_str()?)
}
