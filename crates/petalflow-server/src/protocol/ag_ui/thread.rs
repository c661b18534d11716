//! What a thread has: its messages, its state, and what it waits for.

use std::collections::HashSet;

use petalflow_agent::AgentEvent;
use petalflow_agent::human::{CONFIRMATION, CREDENTIAL};
use petalflow_llm::{ChatMessage, Part, Role};
use serde_json::{Map, Value, json};

use crate::protocol::waits::{self, Wait};
use crate::refusal::Refusal;
use crate::served::ServedThreads;

/// The name of the data of a message with the ids that the client has given it.
pub(super) const IDS: &str = "ag_ui_ids";

/// A thread as it is now.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Its messages, in the form of the protocol.
    pub(super) messages: Vec<Value>,
    /// The ids of the client's messages.
    pub(super) ids: HashSet<String>,
    pub(super) state: Map<String, Value>,
    pub(super) waits: Vec<Wait>,
}

impl Known {
    /// Reads a thread. `None` if there is none.
    pub(super) async fn read(
        flow: &dyn ServedThreads,
        thread: &str,
    ) -> Result<Option<Self>, Refusal> {
        let Some(view) = flow.turn_view(thread, None).await? else {
            return Ok(None);
        };
        let mut known = Known {
            waits: waits::all(&view.turn.pending, &view.questions),
            state: view.turn.state,
            ..Known::default()
        };
        for event in view.turn.events {
            known.add(event);
        }
        Ok(Some(known))
    }

    fn add(&mut self, event: AgentEvent) {
        let Some(message) = &event.message else {
            return;
        };
        let ids = message.meta.get(IDS).and_then(Value::as_array);
        let ids = ids.into_iter().flatten().filter_map(Value::as_str);
        self.ids.extend(ids.map(String::from));
        if event.branch.is_none() && event.repair.is_none() {
            self.messages.extend(shown(&event.id, message));
        }
    }
}

/// The messages of the protocol for a message of the conversation.
fn shown(event: &str, message: &ChatMessage) -> Vec<Value> {
    let results = message.tool_results().filter(|it| !is_request(&it.name));
    let results = results.map(|result| {
        json!({
            "id": format!("{}-result", result.call_id),
            "role": "tool",
            "toolCallId": result.call_id,
            "content": text(&result.content),
        })
    });
    let mut shown: Vec<Value> = results.collect();
    let calls: Vec<Value> = message
        .calls()
        .filter(|call| !is_request(&call.name))
        .map(|call| {
            json!({
                "id": call.id,
                "type": "function",
                "function": { "name": call.name, "arguments": call.arguments.to_string() },
            })
        })
        .collect();
    let ids = message.meta.get(IDS).and_then(|ids| ids.as_array()?.last());
    let id = ids.and_then(Value::as_str).unwrap_or(event);
    let has_media = message.parts.iter().any(|it| matches!(it, Part::Media(_)));
    match message.role {
        Role::User if has_media => {
            let parts = message.parts.iter().filter_map(part);
            shown.push(json!({ "id": id, "role": "user", "content": parts.collect::<Value>() }));
        }
        Role::User => shown.push(json!({ "id": id, "role": "user", "content": message.text() })),
        Role::Assistant => {
            let content = message.text();
            if content.is_empty() && calls.is_empty() {
                return shown;
            }
            let mut answer = json!({ "id": id, "role": "assistant", "content": content });
            if !calls.is_empty() {
                answer["toolCalls"] = calls.into();
            }
            shown.push(answer);
        }
        _ => {}
    }
    shown
}

fn part(part: &Part) -> Option<Value> {
    use petalflow_llm::message::MediaSource;
    Some(match part {
        Part::Text(text) => json!({ "type": "text", "text": text.text }),
        Part::Media(media) => {
            let (kind, value) = match &media.source {
                MediaSource::Base64(data) => ("data", data),
                MediaSource::Url(url) => ("url", url),
                _ => return None,
            };
            let of = media.media_type.split('/').next().unwrap_or_default();
            let of = if ["image", "audio", "video"].contains(&of) {
                of
            } else {
                "document"
            };
            json!({
                "type": of,
                "source": { "type": kind, "value": value, "mimeType": media.media_type },
            })
        }
        _ => return None,
    })
}

/// Whether a call is a request to a person, which is an interrupt.
pub(super) fn is_request(tool: &str) -> bool {
    [CONFIRMATION, CREDENTIAL].contains(&tool)
}

/// The text of a result.
pub(super) fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
