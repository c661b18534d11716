//! Answers to the questions of threads.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::response::Response;
use petalflow::interrupt::InterruptId;

#[cfg(feature = "agent")]
use crate::pending_call;
use crate::refusal::Refusal;
use crate::request;
use crate::served::AnswerBody;
use crate::server::Inner;
use crate::wait;

/// Answers one question, or decides about a call of an agent. The store accepts one answer, also if two people answer in two processes at the same time.
pub(crate) async fn answer(
    State(server): State<Arc<Inner>>,
    Path((thread, question)): Path<(String, String)>,
    request: Request,
) -> Result<Response, Refusal> {
    let flow = server.owner(&thread).await?;
    let headers = request.headers().clone();
    let limit = server.settings.limits.max_answer_bytes;
    #[cfg(feature = "agent")]
    if pending_call::is_pending(&*flow, &thread, &question).await? {
        let body = AnswerBody::parse(&request::whole(request, limit, &server).await?)?;
        let (of_task, of_flow, id) = (Arc::clone(&server), Arc::clone(&flow), thread.clone());
        let answer = pending_call::answer(of_task, of_flow, id, question, body.into_value());
        server.run_detached(answer).await?;
        return wait::respond(&server, &*flow, &thread, &headers).await;
    }
    question.parse::<InterruptId>()?;
    let body = AnswerBody::parse(&request::whole(request, limit, &server).await?)?;
    let (id, of_run) = (thread.clone(), Arc::clone(&flow));
    let answer = async move |token| of_run.answer(&id, &question, body, &token).await;
    server.begin_detached(&thread, answer).await?;
    wait::respond(&server, &*flow, &thread, &headers).await
}
