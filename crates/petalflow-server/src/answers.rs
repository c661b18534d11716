//! Answers to the questions of threads.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::response::Response;
use petalflow::interrupt::InterruptId;

use crate::refusal::Refusal;
use crate::request;
use crate::served::AnswerBody;
use crate::server::Inner;
use crate::wait;

/// Answers one question. The store accepts one answer, also if two people answer in two processes at the same time.
pub(crate) async fn answer(
    State(server): State<Arc<Inner>>,
    Path((thread, question)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Refusal> {
    let flow = server.owner(&thread).await?;
    let headers = request.headers().clone();
    question.parse::<InterruptId>()?;
    let limit = server.settings.limits.max_answer_bytes;
    let body = AnswerBody::parse(&request::whole(request, limit, &server).await?)?;
    let (id, of_run) = (thread.clone(), Arc::clone(&flow));
    let answer = async move |token| of_run.answer(&id, &question, body, &token).await;
    server.begin_detached(&thread, answer).await?;
    wait::respond(&server, &*flow, &thread, &headers).await
}
