//! Answers to the questions of threads.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use petalflow::interrupt::InterruptId;
use serde_json::Value;

use crate::refusal::Refusal;
use crate::request;
use crate::served::AnswerBody;
use crate::server::Inner;

/// Answers one question. The store accepts one answer, also if two people answer in two processes at the same time.
pub(crate) async fn answer(
    State(server): State<Arc<Inner>>,
    Path((thread, question)): Path<(String, String)>,
    request: Request,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    let flow = server.owner(&thread).await?;
    question.parse::<InterruptId>()?;
    let limit = server.settings.limits.max_answer_bytes;
    let body = AnswerBody::parse(&request::whole(request, limit, &server).await?)?;
    let id = thread.clone();
    let answer = async move |token| flow.answer(&id, &question, body, &token).await;
    server.begin_detached(thread, answer).await
}
