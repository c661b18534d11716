//! The editor at the other end of a connection.

use std::collections::BTreeMap;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    ClientCapabilities, CreateElicitationRequest, ElicitationAction, ElicitationContentValue,
    ElicitationFormMode, ElicitationSchema, ElicitationSessionScope, PermissionOption,
    PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest, SessionId,
    SessionNotification, SessionUpdate, ToolCallUpdate,
};
use agent_client_protocol::{Client as ClientRole, Error};
use serde_json::Value;

const ALLOW: &str = "allow";
const ALLOW_ALWAYS: &str = "allow_always";
const REJECT: &str = "reject";
const REJECT_ALWAYS: &str = "reject_always";

/// The editor, for one session.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) connection: ConnectionTo<ClientRole>,
    pub(crate) session: SessionId,
    /// Whether it shows forms.
    pub(crate) has_forms: bool,
}

/// What a person has decided about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Allow,
    /// This call is made, and all later ones of the tool in this session.
    AllowAlways,
    Reject,
    /// This call is rejected, and all later ones of the tool in this session.
    RejectAlways,
    /// The turn was cancelled meanwhile.
    Cancelled,
}

/// Whether an editor with these capabilities shows forms.
pub(crate) fn has_forms(capabilities: &ClientCapabilities) -> bool {
    let elicitation = capabilities.elicitation.as_ref();
    elicitation.is_some_and(|it| it.form.is_some())
}

impl Client {
    pub(crate) fn update(&self, update: SessionUpdate) -> Result<(), Error> {
        let notification = SessionNotification::new(self.session.clone(), update);
        self.connection.send_notification(notification)
    }

    /// Asks the person whether a call may be made.
    ///
    /// Dropping the future leaves the question open in the editor.
    pub(crate) async fn decide(&self, call: ToolCallUpdate) -> Result<Decision, Error> {
        let option = |id: &'static str, name: &str, kind| PermissionOption::new(id, name, kind);
        let options = vec![
            option(ALLOW, "Allow", PermissionOptionKind::AllowOnce),
            option(
                ALLOW_ALWAYS,
                "Always allow this tool",
                PermissionOptionKind::AllowAlways,
            ),
            option(REJECT, "Reject", PermissionOptionKind::RejectOnce),
            option(
                REJECT_ALWAYS,
                "Always reject this tool",
                PermissionOptionKind::RejectAlways,
            ),
        ];
        let request = RequestPermissionRequest::new(self.session.clone(), call, options);
        let response = self.connection.send_request(request).block_task().await?;
        Ok(match response.outcome {
            RequestPermissionOutcome::Selected(selected) => match &*selected.option_id.0 {
                ALLOW => Decision::Allow,
                ALLOW_ALWAYS => Decision::AllowAlways,
                REJECT_ALWAYS => Decision::RejectAlways,
                // Whatever is not clearly allowed is not made.
                _ => Decision::Reject,
            },
            RequestPermissionOutcome::Cancelled => Decision::Cancelled,
            _ => Decision::Reject,
        })
    }

    /// Shows a form. `None` if the person does not fill it in.
    pub(crate) async fn form(
        &self,
        text: &str,
        schema: ElicitationSchema,
    ) -> Result<Option<BTreeMap<String, ElicitationContentValue>>, Error> {
        let scope = ElicitationSessionScope::new(self.session.clone());
        let form = ElicitationFormMode::new(scope, schema);
        let request = CreateElicitationRequest::new(form, text);
        let response = self.connection.send_request(request).block_task().await?;
        Ok(match response.action {
            ElicitationAction::Accept(accepted) => Some(accepted.content.unwrap_or_default()),
            _ => None,
        })
    }
}

/// A field of a form as JSON.
pub(crate) fn field(value: ElicitationContentValue) -> Option<Value> {
    serde_json::to_value(value).ok()
}
