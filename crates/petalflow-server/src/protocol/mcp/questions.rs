//! What a thread waits for, asked through the client, by elicitation.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, InputRequest,
    InputRequiredResult, InputResponses, ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

use super::answer_form::AnswerForm;
use super::caller::Caller;
use super::calls::has_sessions;
use crate::refusal::Refusal;
use crate::served::{AnswerBody, unfit};

/// What became of the questions of a thread.
pub(super) enum Asked {
    /// There are none, or the client cannot ask them, or the person has not answered.
    Nobody,
    /// The client asks, and calls again with the answers.
    Client(Box<InputRequiredResult>),
    /// The person has answered one.
    Answered { question: String, body: AnswerBody },
}

/// A question that a client can ask.
struct Question<'a> {
    wait: &'a Value,
    id: &'a str,
    form: AnswerForm,
}

/// Asks what the thread with this view waits for.
pub(super) async fn ask(caller: &Caller, thread: &str, view: &Value) -> Asked {
    if !can_ask(&caller.cx) {
        return Asked::Nobody;
    }
    let mut questions = open(view);
    if !has_sessions(&caller.cx) {
        let requests: BTreeMap<_, _> = questions
            .map(|question| {
                let request = InputRequest::Elicitation(question.request());
                (question.id.to_string(), request)
            })
            .collect();
        if requests.is_empty() {
            return Asked::Nobody;
        }
        let required = InputRequiredResult::new(Some(requests), Some(thread.to_string()));
        return Asked::Client(Box::new(required));
    }
    let Some(question) = questions.next() else {
        return Asked::Nobody;
    };
    let request = ServerRequest::ElicitRequest(question.request());
    let answer = tokio::select! {
        answer = caller.cx.peer.send_request(request) => answer,
        // The thread waits on, also if nobody waits for it.
        () = caller.cancelled.cancelled() => return Asked::Nobody,
        () = caller.server.stopping.cancelled() => return Asked::Nobody,
    };
    match answer {
        Ok(ClientResult::ElicitResult(answer)) => match question.form.read(answer) {
            Some(body) => Asked::Answered {
                question: question.id.to_string(),
                body,
            },
            None => Asked::Nobody,
        },
        _ => Asked::Nobody,
    }
}

/// The answers that a client has sent, by the ids of the questions that are open still.
pub(super) fn given(
    view: &Value,
    responses: &InputResponses,
) -> Result<Vec<(String, AnswerBody)>, Refusal> {
    let mut given = Vec::new();
    for Question { id, form, .. } in open(view) {
        let Some(response) = responses.get(id) else {
            continue;
        };
        let answer: ElicitResult = serde_json::from_value(response.clone())
            .map_err(|error| unfit(format!("the answer to `{id}` cannot be read: {error}")))?;
        given.extend(form.read(answer).map(|body| (id.to_string(), body)));
    }
    Ok(given)
}

/// The answer in the argument of a tool.
pub(super) fn body(view: &Value, question: &str, answer: Value) -> Result<AnswerBody, Refusal> {
    let mut waits = view["waits"].as_array().into_iter().flatten();
    let Some(wait) = waits.find(|wait| wait["id"] == question) else {
        let text = format!("the thread does not wait for `{question}`: it may have been answered");
        return Err(Refusal::new(StatusCode::CONFLICT, text));
    };
    if wait["kind"] == "question" {
        return Ok(AnswerBody::of(answer));
    }
    match answer {
        Value::Object(fields) => Ok(AnswerBody::from(fields)),
        _ => Err(unfit(format!(
            "the answer to `{question}` is not an object that fits its schema"
        ))),
    }
}

/// What the thread waits for, as far as a client can ask it.
fn open(view: &Value) -> impl Iterator<Item = Question<'_>> {
    let waits = view["waits"].as_array().into_iter().flatten();
    waits.filter_map(|wait| {
        Some(Question {
            wait,
            id: wait["id"].as_str()?,
            form: AnswerForm::of(wait)?,
        })
    })
}

/// Whether the client takes questions with a form.
fn can_ask(cx: &RequestContext<RoleServer>) -> bool {
    let capabilities = cx.client_capabilities();
    let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
    // Without modes, it is a form.
    elicitation.is_some_and(|it| it.form.is_some() || it.url.is_none())
}

/// The longest values in a question, in characters.
const MAX_SHOWN: usize = 2_000;

impl Question<'_> {
    fn request(&self) -> ElicitRequest {
        ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: self.message(),
            requested_schema: self.form.schema.clone(),
        })
    }

    /// The text for the person: the question, and what it is about.
    fn message(&self) -> String {
        let text = self.wait["text"].as_str().unwrap_or_default();
        let about = &self.wait["arguments"];
        if about.is_null() {
            return text.to_string();
        }
        let shown = about.to_string();
        let shown = match shown.char_indices().nth(MAX_SHOWN) {
            Some((end, _)) => format!("{} .. ({} bytes)", &shown[..end], shown.len()),
            None => shown,
        };
        match self.wait["name"].as_str() {
            Some(name) => format!("{text}\n\n`{name}`: {shown}"),
            None => format!("{text}\n\n{shown}"),
        }
    }
}
