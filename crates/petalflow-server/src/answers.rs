//! Answers to the questions of threads.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use petalflow::interrupt::{Answer, Ask, Decision, InterruptId, InterruptKind, Resume};
use petalflow_envelope::Envelope;
use petalflow_envelope::kinds::{HumanQuestion, HumanResponse};
use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::request;
use crate::server::Inner;

/// Answers one question. The store accepts one answer, also if two people answer in two processes at the same time.
pub(crate) async fn answer(
    State(server): State<Arc<Inner>>,
    Path((thread, question)): Path<(String, String)>,
    request: Request,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    let (parts, body) = request.into_parts();
    let limits = server.settings.limits;
    server.owner(&thread)?;
    let id: InterruptId = question.parse()?;
    let body = request::body(
        &parts.headers,
        body,
        limits.max_answer_bytes,
        limits.body_time,
    );
    let response: HumanResponse = serde_json::from_slice(&body.await?).map_err(|error| {
        let text = format!("the body is not an answer: {error}");
        Refusal::new(StatusCode::BAD_REQUEST, text)
    })?;
    let begun = begin(Arc::clone(&server), thread.clone(), id, response);
    server.run_detached(begun).await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "thread": thread }))))
}

/// Stores the answer, and runs the thread.
async fn begin(
    server: Arc<Inner>,
    thread: String,
    id: InterruptId,
    response: HumanResponse,
) -> Result<(), Refusal> {
    let threads = &server.owner(&thread)?.threads;
    let permit = server.acquire_run()?;
    let snapshot = threads.snapshot(&thread).await?;
    let snapshot = snapshot.ok_or_else(|| Refusal::not_found("there is no such thread"))?;
    let mut open = snapshot.interrupts.iter();
    let resume = match open.find(|open| open.id == id).map(|open| &open.kind) {
        Some(InterruptKind::Ask { name, .. }) if name != HumanQuestion::NAME => {
            return Err(Refusal::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                format!("the question `{name}` is not one of a human node: the program answers it"),
            ));
        }
        // The question is not open: another caller answered it, or it was never asked. The store decides which.
        Some(InterruptKind::Ask { .. }) | None => {
            Resume::from(Answer::new::<HumanQuestion>(id, &Some(response))?)
        }
        Some(_) => Resume::new().decide(id, decision(response)),
    };
    let run = threads.resume(&thread, resume).await?;
    server.drive(thread, run, permit);
    Ok(())
}

/// The decision of a person about a node that waits for an approval.
fn decision(response: HumanResponse) -> Decision<Envelope> {
    let decision = if response.approved {
        Decision::approve()
    } else {
        Decision::reject()
    };
    decision.by(response.responded_by).because(response.notes)
}
