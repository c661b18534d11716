//! Answers to the questions of threads.

use std::fmt::Display;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use petalflow::interrupt::{Answer, Ask, Decision, InterruptId, InterruptKind, Resume};
use petalflow_documents::Envelope;
use petalflow_documents::kinds::{HumanQuestion, HumanResponse, RequestType};
use serde_json::{Map, Value, json};

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
    let body = body.await?;
    let response: HumanResponse =
        serde_json::from_slice(&body).map_err(|error| not_an_answer(&error))?;
    // A misspelt field would be a rejection, and the question takes no second answer.
    let fields: Map<String, Value> =
        serde_json::from_slice(&body).map_err(|error| not_an_answer(&error))?;
    if let Some(unknown) = fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        let fields = FIELDS.join("`, `");
        return Err(not_an_answer(&format_args!(
            "there is no field `{unknown}`; the fields are `{fields}`"
        )));
    }
    let decides = fields.contains_key("approved");
    let begun = begin(Arc::clone(&server), thread.clone(), id, response, decides);
    server.run_detached(begun).await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "thread": thread }))))
}

/// The fields of a [`HumanResponse`].
const FIELDS: [&str; 8] = [
    "approved",
    "choice",
    "data",
    "meta",
    "notes",
    "request_id",
    "responded_at",
    "responded_by",
];

fn not_an_answer(problem: &dyn Display) -> Refusal {
    let text = format!("the body is not an answer: {problem}");
    Refusal::new(StatusCode::BAD_REQUEST, text)
}

/// Stores the answer, and runs the thread. `decides`: the answer says whether it approves.
async fn begin(
    server: Arc<Inner>,
    thread: String,
    id: InterruptId,
    response: HumanResponse,
    decides: bool,
) -> Result<(), Refusal> {
    let threads = &server.owner(&thread)?.threads;
    let permit = server.acquire_run()?;
    let snapshot = threads.snapshot(&thread).await?;
    let snapshot = snapshot.ok_or_else(|| Refusal::not_found("there is no such thread"))?;
    let mut open = snapshot.interrupts.iter();
    let open = open.find(|open| open.id == id);
    let needs_decision = open.is_some_and(|open| match open.question::<HumanQuestion>() {
        Some(question) => question.0.kind == RequestType::Approval,
        None => !matches!(open.kind, InterruptKind::Ask { .. }),
    });
    if needs_decision && !decides {
        return Err(Refusal::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "`approved` is missing: an approval is answered with `true` or `false`".to_owned(),
        ));
    }
    let resume = match open.map(|open| &open.kind) {
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
