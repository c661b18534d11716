//! Answers to the questions of threads.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::response::Response;
use petalflow::interrupt::InterruptId;

#[cfg(feature = "agent")]
use crate::pending_call;
use crate::refusal::Refusal;
use crate::request;
use crate::served::{AnswerBody, ServedThreads};
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
    let body = AnswerBody::parse(&request::whole(request, limit, &server).await?)?;
    let of_answer = Arc::clone(&flow);
    give(&server, of_answer, thread.clone(), question, body).await?;
    wait::respond(&server, &*flow, &thread, &headers).await
}

/// Stores an answer, and runs the thread with it. It is stored when this returns, also if the client disconnects before.
pub(crate) async fn give(
    server: &Arc<Inner>,
    flow: Arc<dyn ServedThreads>,
    thread: String,
    question: String,
    body: AnswerBody,
) -> Result<(), Refusal> {
    #[cfg(feature = "agent")]
    if pending_call::is_pending(&*flow, &thread, &question).await? {
        let of_task = Arc::clone(server);
        let answer = pending_call::answer(of_task, flow, thread, question, body.into_value());
        return server.run_detached(answer).await;
    }
    question.parse::<InterruptId>()?;
    let id = thread.clone();
    let answer = async move |token| flow.answer(&id, &question, body, &token).await;
    server.begin_detached(&thread, answer).await
}
