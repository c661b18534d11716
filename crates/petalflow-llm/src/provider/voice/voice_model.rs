//! The model of a session.

use std::fmt;
use std::sync::{Arc, OnceLock};

use futures_util::stream;
use serde_json::Value;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::provider::connection::Connection;
use crate::provider::wire::realtime;
use crate::request::TypedOutput;
use crate::stream::StreamEvent;
use crate::usage::{Price, TokenCount};
use crate::{
    Allowed, Capabilities, LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, LlmStream,
    Retrying,
};
use petalflow::async_trait;

/// The model of a [`VoiceSession`](super::VoiceSession): it hears the person and speaks to it.
///
/// Each request has the whole conversation. The session is sent what it does not have: after its connection was lost, or in
/// another process, everything, as text. What a request does not have is removed from the session.
///
/// The response is complete when its audio was played, or when the person interrupted it: it then ends where the audio was
/// cut, is marked as interrupted, and has no calls. `meta["heard_ms"]` says how much of it was played. A response with calls
/// is complete when it has arrived, so that they are made while the model still speaks.
///
/// Clones are the same session. It answers one request after the other, so give an agent that others call a model of its
/// own.
#[derive(Clone)]
pub struct VoiceModel {
    client: Retrying<Requests>,
}

impl VoiceModel {
    pub(super) fn new(client: Retrying<Requests>) -> Self {
        VoiceModel { client }
    }
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl LlmClient for VoiceModel {
    fn name(&self) -> &str {
        self.client.name()
    }

    fn model(&self) -> Option<&str> {
        self.client.model()
    }

    fn capabilities(&self) -> Capabilities {
        self.client.capabilities()
    }

    fn price(&self, model: &str) -> Option<Price> {
        self.client.price(model)
    }

    async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        // As a stream, so that nothing is spoken twice: after its first words, a request is not sent again.
        self.client.stream(request).await?.into_response().await
    }

    async fn count_tokens(&self, request: &LlmRequest) -> Result<TokenCount, LlmError> {
        self.client.count_tokens(request).await
    }

    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        self.client.stream(request).await
    }
}

impl fmt::Debug for VoiceModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut this = f.debug_struct("VoiceModel");
        this.field("model", &self.model()).finish_non_exhaustive()
    }
}

/// Where the events of a response are sent.
pub(super) type Reply = UnboundedSender<Result<StreamEvent, LlmError>>;

/// A request to the session.
#[derive(Debug)]
pub(super) struct Request {
    /// The items of its conversation.
    pub(super) items: Vec<Value>,
    /// The event that asks for the response.
    pub(super) create: Value,
    /// The settings that are not sent.
    pub(super) not_sent: Vec<&'static str>,
    pub(super) reply: Reply,
}

/// Why a session has ended.
pub(super) type Ended = Arc<OnceLock<(LlmErrorKind, String)>>;

/// Sends requests to a session. It makes one attempt for each.
#[derive(Clone)]
pub(super) struct Requests {
    connection: Arc<Connection>,
    sender: UnboundedSender<Request>,
    ended: Ended,
}

impl Requests {
    pub(super) fn new(
        connection: Arc<Connection>,
        sender: UnboundedSender<Request>,
        ended: Ended,
    ) -> Self {
        Requests {
            connection,
            sender,
            ended,
        }
    }

    fn has_ended(&self) -> LlmError {
        match self.ended.get() {
            Some((kind, why)) => LlmError::new(kind.clone(), why.as_str()),
            // Not one that a retry may change.
            None => LlmError::request("the voice session has ended; open another one"),
        }
    }
}

#[async_trait]
impl LlmClient for Requests {
    fn name(&self) -> &str {
        self.connection.name()
    }

    fn model(&self) -> Option<&str> {
        self.connection.model()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            schema_with_tools: false,
            strict_schemas: false,
            typed_output: TypedOutput::Tool,
            json_mode: false,
            tool_search: false,
            audio: false,
            video: false,
            files: false,
            sampling: Allowed::Never,
            embeddings: false,
            prompt_cache: false,
            ..Capabilities::default()
        }
    }

    fn price(&self, model: &str) -> Option<Price> {
        self.connection.price(model)
    }

    async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        self.stream(request).await?.into_response().await
    }

    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        let own = self.connection.model();
        if let Some(other) = request.model.as_deref().filter(|name| Some(*name) != own) {
            return Err(LlmError::request(format!(
                "the request names the model `{other}`, and a voice session has one model, `{}`; name no model",
                own.unwrap_or_default()
            )));
        }
        let (reply, events) = unbounded_channel();
        let sent = self.sender.send(Request {
            items: realtime::items(request)?,
            create: realtime::create_response(request),
            not_sent: realtime::not_sent(request),
            reply,
        });
        sent.map_err(|_| self.has_ended())?;
        let this = self.clone();
        let events = stream::unfold(Some(events), move |events| {
            let this = this.clone();
            async move {
                let mut events = events?;
                let event = events.recv().await;
                // Otherwise a session that ended would look like an empty answer.
                Some(match event {
                    Some(event) => (event, Some(events)),
                    None => (Err(this.has_ended()), None),
                })
            }
        });
        Ok(LlmStream::new(request, events))
    }
}
