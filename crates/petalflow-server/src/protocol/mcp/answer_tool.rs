//! The tool that answers what a thread waits for.

use rmcp::model::CallToolResponse;
use serde::Deserialize;
use serde_json::{Value, json};

use super::caller::Caller;
use super::questions;
use crate::refusal::Refusal;
use crate::served::{no_thread, unfit};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    thread: String,
    question: String,
    #[serde(default)]
    answer: Value,
}

/// The JSON Schema of its arguments.
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "thread": { "type": "string", "description": "The id of the thread." },
            "question": { "type": "string", "description": "The `id` of what the thread waits for." },
            "answer": { "description": "The answer. It fits the `schema` of what the thread waits for." },
        },
        "required": ["thread", "question", "answer"],
        "additionalProperties": false,
    })
}

/// Answers, and waits for the run.
pub(super) async fn call(caller: &Caller, arguments: Value) -> Result<CallToolResponse, Refusal> {
    let arguments = serde_json::from_value(arguments);
    let Arguments {
        thread,
        question,
        answer,
    } = arguments.map_err(|error| unfit(format!("the arguments do not fit: {error}")))?;
    let mut waited = caller.thread(&thread).await?;
    let view = waited
        .flow
        .view(&thread, None)
        .await?
        .ok_or_else(no_thread)?;
    let body = questions::body(&view, &question, answer)?;
    caller.answer(&mut waited, &question, body).await?;
    caller.outcome(waited).await
}
