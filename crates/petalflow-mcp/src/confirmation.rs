//! Asks the person behind a client to confirm a call, by elicitation.

use std::collections::BTreeMap;

use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequiredResult, InputResponses, ProtocolVersion,
    ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};

/// What became of a question.
pub(super) enum Decision {
    /// A person has confirmed the call.
    Confirmed,
    /// Nobody has. The reason, for the model.
    Refused(String),
    /// The client asks, and calls again with the answer.
    Ask(Box<InputRequiredResult>),
}

/// Asks a person whether the call may be made. The question has a name, by which the client answers it when it makes the call
/// again with `answers`.
pub(super) async fn ask(
    tool: &str,
    (name, question): (&str, &str),
    answers: Option<&InputResponses>,
    cx: &RequestContext<RoleServer>,
) -> Decision {
    if let Some(answer) = answers.and_then(|answers| answers.get(name)) {
        return match serde_json::from_value(answer.clone()) {
            Ok(answer) => decision(tool, &answer),
            Err(error) => Decision::Refused(format!(
                "the answer about the confirmation of tool `{tool}` cannot be read: {error}"
            )),
        };
    }
    if !can_ask(cx) {
        return Decision::Refused(format!(
            "tool `{tool}` needs a person's confirmation, and this client does not support elicitation, by which a server asks: {question}"
        ));
    }
    let question = match question {
        "" => format!("May tool `{tool}` be called?"),
        question => question.to_string(),
    };
    let request = ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question,
        // To accept is the answer.
        requested_schema: ElicitationSchema::new(BTreeMap::new()),
    });
    // Later versions of the protocol have no requests from a server to a client.
    if cx
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::NO_INITIALIZE)
    {
        let requests = BTreeMap::from([(name.to_string(), InputRequest::Elicitation(request))]);
        return Decision::Ask(Box::new(InputRequiredResult::from_input_requests(requests)));
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
