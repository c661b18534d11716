//! Answers to the questions of threads.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::response::Response;
use petalflow::interrupt::InterruptId;
use serde_json::json;

use crate::access;
use crate::keyed_request::{Keyed, Of};
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
    let (access, headers) = (access::of(&request), request.headers().clone());
    let limit = server.settings.limits.max_answer_bytes;
    let body = request::whole(request, limit, &server).await?;
    let of = Of::Answer {
        thread: thread.clone(),
        question: question.clone(),
    };
    let keyed = Keyed::of(&server, &access, &headers, ("answer", &body), of)?;
    let body = AnswerBody::parse(&body)?;
    let (of_task, of_flow, id) = (Arc::clone(&server), Arc::clone(&flow), thread.clone());
    let answer = async move {
        store(of_task, of_flow, id.clone(), question, body).await?;
        Ok(json!({ "thread": id }))
    };
    server.once(keyed, answer).await?;
    wait::respond(&server, &*flow, &thread, &headers).await
}

/// Stores an answer, and runs the thread with it. It is stored when this returns, also if the caller is dropped before.
#[cfg(feature = "mcp")]
pub(crate) async fn give(
    server: &Arc<Inner>,
    flow: Arc<dyn ServedThreads>,
    thread: String,
    question: String,
    body: AnswerBody,
) -> Result<(), Refusal> {
    let stored = store(Arc::clone(server), flow, thread, question, body);
    server.run_detached(stored).await
}

async fn store(
    server: Arc<Inner>,
    flow: Arc<dyn ServedThreads>,
    thread: String,
    question: String,
    body: AnswerBody,
) -> Result<(), Refusal> {
    #[cfg(feature = "agent")]
    if pending_call::is_pending(&*flow, &thread, &question).await? {
        return pending_call::answer(server, flow, thread, question, body.into_value()).await;
    }
    question.parse::<InterruptId>()?;
    let id = thread.clone();
    let answer = async move |token| flow.answer(&id, &question, body, &token).await;
    server.begin(thread, answer).await
}
