//! Messages that an agent reads while it works.

use axum::http::StatusCode;
use serde_json::Value;

use crate::message_queue::QueuedInput;
use crate::refusal::Refusal;

/// The key of an agent that takes messages.
pub(super) const KEY: &str = "steering";

/// The name of the data of a message with the id that it was sent with.
#[cfg(feature = "agent")]
const ID: &str = "petalflow_message";

/// The write to the key of the agent.
#[cfg(feature = "agent")]
pub(super) fn write(id: &str, input: &QueuedInput) -> Result<Value, Refusal> {
    use petalflow_llm::{ChatMessage, Role};

    let messages = match input {
        QueuedInput::Json(Value::String(text)) => vec![ChatMessage::user(text.as_str())],
        QueuedInput::Json(Value::Object(fields)) => match fields.get("text") {
            Some(Value::String(text)) if fields.len() == 1 => {
                vec![ChatMessage::user(text.as_str())]
            }
            _ => return Err(only_messages()),
        },
        QueuedInput::Json(_) => return Err(only_messages()),
        #[cfg(feature = "protocol")]
        QueuedInput::Turn { messages, .. } => {
            let of_user = messages.iter().filter(|message| message.role == Role::User);
            of_user.cloned().collect()
        }
    };
    if messages.is_empty() || messages.iter().any(|message| message.role != Role::User) {
        return Err(only_messages());
    }
    let marked = messages.into_iter().map(|mut message| {
        message.meta.insert(ID.to_string(), id.into());
        message
    });
    Ok(serde_json::json!(marked.collect::<Vec<_>>()))
}

#[cfg(not(feature = "agent"))]
pub(super) fn write(_: &str, _: &QueuedInput) -> Result<Value, Refusal> {
    Err(only_messages())
}

fn only_messages() -> Refusal {
    let text = "an agent reads only messages of the user while it works: send a text, or use another `multitask_strategy`";
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, text)
}

/// Whether the events of a conversation have the message with this id.
pub(super) fn was_read(view: &Value, id: &str) -> bool {
    has(&view["state"]["events"], id)
}

#[cfg(feature = "agent")]
fn has(value: &Value, id: &str) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| has(item, id)),
        Value::Object(fields) => {
            fields.get(ID).is_some_and(|found| *found == *id)
                || fields.values().any(|value| has(value, id))
        }
        _ => false,
    }
}

#[cfg(not(feature = "agent"))]
fn has(_: &Value, _: &str) -> bool {
    false
}
