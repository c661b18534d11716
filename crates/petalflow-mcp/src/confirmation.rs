//! Asks the person behind a client to confirm a call, by elicitation.

use std::collections::BTreeMap;

use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequiredResult, InputResponses, ProtocolVersion,
    ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

/// What became of a question.
pub(super) enum Decision {
    /// A person has confirmed the call.
    Confirmed,
    /// Nobody has. The reason, for the model.
    Refused(String),
    /// The client asks, and calls again with the answer.
    Ask(Box<InputRequiredResult>),
}

/// The answers that a client sends when it makes a call again.
pub(super) struct Answers {
    pub(super) responses: Option<InputResponses>,
    /// What the earlier result told the client to send back: the call and the question.
    pub(super) state: Option<String>,
}

/// Asks a person whether the call, a tool with its arguments, may be made.
pub(super) async fn ask(
    (tool, arguments): (&str, &Value),
    question: &str,
    answers: &Answers,
    cx: &RequestContext<RoleServer>,
) -> Decision {
    if !can_ask(cx) {
        return Decision::Refused(format!(
            "tool `{tool}` needs a person's confirmation, and this client does not support elicitation, by which a server asks: {question}"
        ));
    }
    let request = ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: message(tool, arguments, question),
        // To accept is the answer.
        requested_schema: ElicitationSchema::new(BTreeMap::new()),
    });
    // Later versions of the protocol have no requests from a server to a client.
    if cx
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::NO_INITIALIZE)
    {
        let responses = answers.responses.as_ref();
        // An answer about another call is none: the arguments may be others now. The question may not show them in full.
        let state = format!("{tool} {arguments} {question}");
        let responses = responses.filter(|_| answers.state.as_ref() == Some(&state));
        if let Some(answer) = responses.and_then(|responses| responses.get(ANSWER)) {
            return match serde_json::from_value(answer.clone()) {
                Ok(answer) => decision(tool, &answer),
                Err(error) => Decision::Refused(format!(
                    "the answer about the confirmation of tool `{tool}` cannot be read: {error}"
                )),
            };
        }
        let requests = BTreeMap::from([(ANSWER.into(), InputRequest::Elicitation(request))]);
        let required = InputRequiredResult::new(Some(requests), Some(state));
        return Decision::Ask(Box::new(required));
    }
    match cx
        .peer
        .send_request(ServerRequest::ElicitRequest(request))
        .await
    {
        Ok(ClientResult::ElicitResult(answer)) => decision(tool, &answer),
        Ok(_) => Decision::Refused(format!(
            "the client has not answered whether tool `{tool}` may be called"
        )),
        Err(error) => Decision::Refused(format!(
            "the client cannot ask whether tool `{tool}` may be called: {error}"
        )),
    }
}

/// The name of the question and its answer.
const ANSWER: &str = "confirm";

/// The longest arguments in a question, in characters.
const MAX_SHOWN: usize = 2_000;

/// The text for the person: the question, and the call that it is about.
fn message(tool: &str, arguments: &Value, question: &str) -> String {
    let question = match question {
        "" => format!("May tool `{tool}` be called?"),
        question => question.to_string(),
    };
    let arguments = arguments.to_string();
    let shown = match arguments.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{} .. ({} bytes)", &arguments[..end], arguments.len()),
        None => arguments,
    };
    format!("{question}\n\nThe call: `{tool}` with {shown}")
}

/// Whether the client takes questions with a form.
fn can_ask(cx: &RequestContext<RoleServer>) -> bool {
    let capabilities = cx.client_capabilities();
    let elicitation = capabilities.and_then(|capabilities| capabilities.elicitation);
    // Without modes, it is a form.
    elicitation.is_some_and(|it| it.form.is_some() || it.url.is_none())
}

fn decision(tool: &str, answer: &ElicitResult) -> Decision {
    match answer.action {
        ElicitationAction::Accept => Decision::Confirmed,
        ElicitationAction::Decline => {
            Decision::Refused(format!("a person has refused the call of tool `{tool}`"))
        }
        _ => Decision::Refused(format!(
            "nobody has decided whether tool `{tool}` may be called, so it was not called"
        )),
    }
}
