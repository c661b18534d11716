//! An editor: the client of the SDK, with answers that a test gives.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    CancelNotification, ClientCapabilities, CreateElicitationRequest, CreateElicitationResponse,
    ElicitationCapabilities, ElicitationFormCapabilities, InitializeRequest, InitializeResponse,
    NewSessionRequest, PromptRequest, RequestPermissionRequest, RequestPermissionResponse,
    SessionId, SessionNotification, StopReason,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{
    Agent, ByteStreams, Client, Error, on_receive_notification, on_receive_request,
};
use petalflow_acp::AcpServer;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::compat::{TokioAsyncReadCompatExt as _, TokioAsyncWriteCompatExt as _};

/// What a person answers.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Allow,
    AllowAlways,
    Reject,
    RejectAlways,
    /// Nothing, until the test cancels the turn.
    Nothing,
    /// The answer to a form, or `None` to decline it.
    Form(Option<Value>),
}

/// An editor, and what it has received.
#[derive(Clone, Default)]
pub(crate) struct Editor {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    updates: Arc<Mutex<Vec<Value>>>,
    /// The ids of the messages, one for each piece.
    pub(crate) messages: Arc<Mutex<Vec<Value>>>,
    asked: Arc<Mutex<Vec<Value>>>,
    open: Arc<Mutex<Vec<Responder<RequestPermissionResponse>>>>,
    /// Notified when a person is asked and does not answer.
    pub(crate) waits: Arc<Notify>,
}

/// The connection of an editor with a server.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) agent: ConnectionTo<Agent>,
}

impl Editor {
    pub(crate) fn answering(answers: impl IntoIterator<Item = Answer>) -> Self {
        let editor = Editor::default();
        editor.answers.lock().unwrap().extend(answers);
        editor
    }

    /// The updates since the last call, without the ids of messages.
    pub(crate) fn updates(&self) -> Vec<Value> {
        std::mem::take(&mut *self.updates.lock().unwrap())
    }

    /// What the person was asked since the last call.
    pub(crate) fn asked(&self) -> Vec<Value> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }

    fn answer(&self, asked: Value) -> Answer {
        self.asked.lock().unwrap().push(asked);
        let answer = self.answers.lock().unwrap().pop_front();
        answer.expect("the test has an answer")
    }

    /// Connects with a server, and does something. The server ends with it.
    pub(crate) async fn with<T>(
        &self,
        server: AcpServer,
        work: impl AsyncFnOnce(Connection) -> T,
    ) -> T {
        let (to_server, input) = tokio::io::duplex(1 << 16);
        let (output, from_server) = tokio::io::duplex(1 << 16);
        let serving = tokio::spawn(server.over(input, output));
        let pipes = ByteStreams::new(to_server.compat_write(), from_server.compat());
        let (updates, decides, fills) = (self.clone(), self.clone(), self.clone());
        let result = Client
            .v1()
            .on_receive_notification(
                async move |notification: SessionNotification, _| {
                    let mut update = serde_json::to_value(notification.update).unwrap();
                    let id = update.as_object_mut().unwrap().remove("messageId");
                    updates.messages.lock().unwrap().extend(id);
                    updates.updates.lock().unwrap().push(update);
                    Ok(())
                },
                on_receive_notification!(),
            )
            .on_receive_request(
                async move |request: RequestPermissionRequest, responder, _| {
                    let chosen = match decides.answer(serde_json::to_value(&request).unwrap()) {
                        Answer::Allow => "allow",
                        Answer::AllowAlways => "allow_always",
                        Answer::Reject => "reject",
                        Answer::RejectAlways => "reject_always",
                        Answer::Nothing => {
                            decides.open.lock().unwrap().push(responder);
                            decides.waits.notify_one();
                            return Ok(());
                        }
                        Answer::Form(_) => panic!("a person is asked for permission"),
                    };
                    let outcome = json!({ "outcome": "selected", "optionId": chosen });
                    let outcome = serde_json::from_value(outcome).unwrap();
                    responder.respond(RequestPermissionResponse::new(outcome))
                },
                on_receive_request!(),
            )
            .on_receive_request(
                async move |request: CreateElicitationRequest, responder, _| {
                    let Answer::Form(filled) =
                        fills.answer(serde_json::to_value(&request).unwrap())
                    else {
                        panic!("a person gets a form")
                    };
                    let action = match filled {
                        Some(content) => json!({ "action": "accept", "content": content }),
                        None => json!({ "action": "decline" }),
                    };
                    let response: CreateElicitationResponse =
                        serde_json::from_value(action).unwrap();
                    responder.respond(response)
                },
                on_receive_request!(),
            )
            .connect_with(pipes, async move |agent| {
                Ok(work(Connection { agent }).await)
            })
            .await;
        serving.abort();
        result.expect("the connection holds")
    }
}

impl Connection {
    pub(crate) async fn initialize(&self, forms: bool) -> InitializeResponse {
        let elicitation = ElicitationCapabilities::new().form(ElicitationFormCapabilities::new());
        let capabilities = ClientCapabilities::new().elicitation(forms.then_some(elicitation));
        let request = InitializeRequest::new(ProtocolVersion::V1).client_capabilities(capabilities);
        self.agent.send_request(request).block_task().await.unwrap()
    }

    /// A session over this folder.
    pub(crate) async fn session(&self, folder: &Path) -> SessionId {
        self.initialize(false).await;
        let request = NewSessionRequest::new(folder);
        let created = self.agent.send_request(request).block_task().await.unwrap();
        created.session_id
    }

    pub(crate) async fn prompt(
        &self,
        session: &SessionId,
        text: &str,
    ) -> Result<StopReason, Error> {
        let request = PromptRequest::new(session.clone(), vec![text.into()]);
        let ended = self.agent.send_request(request).block_task().await?;
        Ok(ended.stop_reason)
    }

    pub(crate) fn cancel(&self, session: &SessionId) {
        let cancel = CancelNotification::new(session.clone());
        self.agent.send_notification(cancel).unwrap();
    }
}

/// Waits for something that must happen.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    let ended = tokio::time::timeout(Duration::from_mins(1), future).await;
    ended.expect("it happens within a minute")
}

/// The texts of the agent in these updates.
pub(crate) fn text(updates: &[Value]) -> String {
    let chunks = updates
        .iter()
        .filter(|it| it["sessionUpdate"] == "agent_message_chunk");
    chunks
        .map(|it| it["content"]["text"].as_str().unwrap())
        .collect()
}

/// The updates of this kind.
pub(crate) fn of<'u>(updates: &'u [Value], kind: &str) -> Vec<&'u Value> {
    updates
        .iter()
        .filter(|it| it["sessionUpdate"] == kind)
        .collect()
}
