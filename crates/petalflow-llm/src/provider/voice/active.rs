//! The request that the session answers now.

use serde_json::{Map, Value, json};

use super::BYTES_PER_MS;
use super::incoming::{Heard, Incoming};
use super::voice_model::{Reply, Request};
use crate::provider::connection::Connection;
use crate::provider::wire::realtime;
use crate::response::{FinishReason, Status};
use crate::stream::StreamEvent;
use crate::{ChatMessage, LlmClient, LlmError, LlmResponse, Part, Role};

/// The request that the session answers now.
pub(super) struct Active {
    pub(super) number: u64,
    reply: Reply,
    not_sent: Vec<&'static str>,
    /// The id of the response, once it is known.
    pub(super) response: Option<String>,
    pub(super) incoming: Incoming,
    pub(super) stage: Stage,
}

/// How far a response is.
pub(super) enum Stage {
    /// It arrives.
    Arriving,
    /// It has arrived, and is played.
    Playing(Box<LlmResponse>),
    /// The person has interrupted it, after this number of bytes. Its end has not arrived.
    Interrupted(usize),
    /// Nobody waits for it. Its end has not arrived.
    Abandoned,
}

/// An item of a response, as a request has it.
pub(super) type NamedItem = (String, Value);

impl Active {
    pub(super) fn new(number: u64, reply: Reply, not_sent: Vec<&'static str>) -> Self {
        Active {
            number,
            reply,
            not_sent,
            response: None,
            incoming: Incoming::default(),
            stage: Stage::Arriving,
        }
    }

    /// Whether an event of the response with this id is for this request and counts.
    pub(super) fn takes(&self, response: &str) -> bool {
        let is_same = self.response.as_deref().is_none_or(|id| id == response);
        is_same && matches!(self.stage, Stage::Arriving)
    }

    pub(super) fn reply(&self) -> Reply {
        self.reply.clone()
    }

    /// Sends an event to the reader of the response, who may be gone.
    pub(super) fn send(&self, event: Result<StreamEvent, LlmError>) {
        let _ = self.reply.send(event);
    }

    /// Ends the response.
    pub(super) fn end(&self, response: LlmResponse) {
        self.send(Ok(StreamEvent::End(Box::new(response))));
    }

    /// The response that has arrived, and its items.
    pub(super) fn whole(
        &self,
        connection: &Connection,
        arrived: &Value,
    ) -> (LlmResponse, Vec<NamedItem>) {
        let (mut parts, mut items) = (Vec::new(), Vec::new());
        for item in arrived["output"].as_array().into_iter().flatten() {
            let id = item["id"].as_str().unwrap_or_default();
            if let Some(call) = realtime::read_call(item) {
                items.push((id.to_string(), realtime::call_item(&call)));
                parts.push(Part::Call(call));
            } else if let Some(text) = realtime::read_text(item) {
                // Some servers leave the words out at the end.
                let known = self.incoming.text(id).unwrap_or_default();
                let text = if text.is_empty() { known } else { &text };
                if !text.is_empty() {
                    items.push((id.to_string(), realtime::assistant_text(text)));
                    parts.push(Part::text(text));
                }
            }
        }
        let finish = match reason(arrived) {
            Some("max_output_tokens") => FinishReason::Length,
            Some("content_filter") => FinishReason::ContentFilter,
            _ if parts.iter().any(|part| matches!(part, Part::Call(_))) => FinishReason::ToolCalls,
            _ => FinishReason::Stop,
        };
        let is_whole = !matches!(finish, FinishReason::Length | FinishReason::ContentFilter);
        let response = LlmResponse {
            message: message(parts),
            status: if is_whole {
                Status::Completed
            } else {
                Status::Incomplete
            },
            finish: Some(finish),
            ..self.outline(connection, Some(arrived))
        };
        (response, items)
    }

    /// The response as far as it was heard, and its items.
    pub(super) fn interrupted(
        &self,
        connection: &Connection,
        arrived: Option<&Value>,
        bytes: usize,
        heard: Heard,
    ) -> (LlmResponse, Vec<NamedItem>) {
        let messages = heard.messages.into_iter();
        let messages: Vec<_> = messages.filter(|(_, text)| !text.is_empty()).collect();
        let parts = messages.iter().map(|(_, text)| Part::text(&**text));
        let mut response = LlmResponse {
            // It replaces what has arrived, also if nothing of it was heard.
            message: Some(ChatMessage::new(Role::Assistant, parts.collect())),
            status: Status::Incomplete,
            interrupted: true,
            ..self.outline(connection, arrived)
        };
        let ms = bytes / BYTES_PER_MS;
        response.meta.insert("heard_ms".to_string(), ms.into());
        let items = messages.into_iter();
        let items = items.map(|(id, text)| (id, realtime::assistant_text(&text)));
        (response, items.collect())
    }

    /// A response without content.
    fn outline(&self, connection: &Connection, arrived: Option<&Value>) -> LlmResponse {
        let model = connection.model().unwrap_or_default();
        let usage = arrived.map(|arrived| &arrived["usage"]);
        let usage = usage.map(|usage| realtime::read_usage(usage, connection.price(model)));
        let mut notes = Map::new();
        if !self.not_sent.is_empty() {
            let why = "voice models do not take it";
            let not_sent = self.not_sent.iter();
            let not_sent: Map<_, _> = not_sent
                .map(|name| (name.to_string(), why.into()))
                .collect();
            notes.insert("not_sent".to_string(), not_sent.into());
        }
        let response = LlmResponse {
            id: self.response.clone().unwrap_or_default(),
            usage: usage.unwrap_or_default(),
            ..LlmResponse::default()
        };
        Connection::completed(
            &connection.name,
            model,
            &connection.prices,
            &notes,
            response,
        )
    }
}

/// The end of a request that the person has interrupted before it was answered.
pub(super) fn end_before_answer(connection: &Connection, request: Request) {
    let active = Active::new(0, request.reply, request.not_sent);
    let (response, _) = active.interrupted(connection, None, 0, Heard::default());
    active.end(response);
}

/// Why a response failed, as an error of the server.
pub(super) fn failure(arrived: &Value) -> Value {
    let error = &arrived["status_details"]["error"];
    let text = |field: &str| error[field].as_str();
    let message = text("message").or(text("code")).or(text("type"));
    let message = message.unwrap_or("the response failed without a reason");
    json!({ "error": { "code": error["code"], "type": error["type"], "message": message } })
}

fn reason(arrived: &Value) -> Option<&str> {
    arrived["status_details"]["reason"].as_str()
}

fn message(parts: Vec<Part>) -> Option<ChatMessage> {
    (!parts.is_empty()).then(|| ChatMessage::new(Role::Assistant, parts))
}
