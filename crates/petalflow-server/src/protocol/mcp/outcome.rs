//! The result of a call: what its thread has when no run has it.

use petalflow::checkpoint::ThreadStatus;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use serde_json::{Value, json};

use super::arguments::{put_definitions, take_definitions};
use super::caller::Waited;
use crate::openapi::STATUSES;
use crate::protocol::turn::{ItemKind, Turn, TurnItem};
use crate::refusal::Refusal;
use crate::served::{Facts, FlowKind};
use crate::server::Inner;
use crate::settings::ANSWER_TOOL;

/// A result with `isError`, for the model that called the tool.
pub(super) fn failed(text: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// The JSON Schema of results. Without a flow, that of the tool for answers.
pub(super) fn schema(flow: Option<&Facts>) -> Value {
    let mut state = flow
        .and_then(|flow| flow.state.clone())
        .unwrap_or_else(|| json!({}));
    let definitions = take_definitions(&mut state);
    for secret in flow.iter().flat_map(|flow| &flow.secrets) {
        // Nobody sees its value.
        if let Some(key) = state.pointer_mut(&format!("/properties/{secret}")) {
            *key = json!({ "type": "null" });
        }
    }
    let mut schema = json!({
        "type": "object",
        "properties": {
            "thread": { "type": "string", "description": "The id of the thread." },
            "status": { "type": "string", "enum": STATUSES },
            "state": state,
            "answer": { "type": "string", "description": "What an agent or a conversation says." },
            "waits": {
                "type": "array",
                "description": "What the thread waits for: each has an `id`, a `text`, and the `schema` of its answer.",
                "items": { "type": "object" },
            },
            "wakes_ms": { "type": "integer", "description": "When a thread that sleeps continues, in milliseconds since 1970." },
        },
        "required": ["thread", "status"],
    });
    put_definitions(&mut schema, definitions);
    schema
}

/// The result for the thread of a call, of which this is the view.
pub(super) async fn of(
    server: &Inner,
    waited: &Waited,
    mut view: Value,
) -> Result<CallToolResponse, Refusal> {
    let thread = &waited.thread;
    let status = view["status"].as_str().unwrap_or_default().to_string();
    let mut result = json!({ "thread": thread, "status": status });
    let mut texts = Vec::new();
    if is_talk(waited.flow.facts()) {
        let said = said(waited).await?;
        if !said.is_empty() {
            result["answer"] = said.clone().into();
            texts.push(said);
        }
    } else if status == ThreadStatus::Finished.as_str() {
        result["state"] = view["state"].take();
        texts.push(result.to_string());
    }
    match ThreadStatus::named(&status) {
        Some(ThreadStatus::Finished) => {}
        Some(ThreadStatus::Waiting) => {
            result["waits"] = view["waits"].take();
            texts.push(waiting_text(thread, &result["waits"]));
        }
        Some(ThreadStatus::Failed) => {
            texts.push(format!(
                "the run of thread `{thread}` has failed{}",
                reasons(&view)
            ));
        }
        _ => {
            let info = server.info(thread).await?;
            if let Some(due_ms) = info.and_then(|info| info.due_ms) {
                result["wakes_ms"] = due_ms.into();
            }
            texts.push(format!("thread `{thread}` is {status}"));
        }
    }
    let blocks = texts.into_iter().map(ContentBlock::text).collect();
    let mut response = if status == ThreadStatus::Failed.as_str() {
        CallToolResult::error(blocks)
    } else {
        CallToolResult::success(blocks)
    };
    response.structured_content = Some(result);
    Ok(response.into())
}

/// Whether what is said is the result, and not the state.
fn is_talk(facts: &Facts) -> bool {
    matches!(facts.kind, FlowKind::Agent | FlowKind::Conversation)
}

/// The last message of the turn.
async fn said(waited: &Waited) -> Result<String, Refusal> {
    let turn = Turn::attach(&waited.flow, waited.thread.clone(), waited.after);
    Ok(last_message(turn.so_far().await?))
}

fn last_message(items: Vec<TurnItem>) -> String {
    let (mut message, mut is_complete) = (String::new(), false);
    for item in items {
        match item.kind {
            ItemKind::Text(text) => {
                if std::mem::take(&mut is_complete) {
                    message.clear();
                }
                message.push_str(&text);
            }
            ItemKind::MessageEnd(end) if end.is_void => message.clear(),
            ItemKind::MessageEnd(end) => {
                is_complete = true;
                if let Some(refusal) = end.refusal {
                    message = refusal;
                }
            }
            _ => {}
        }
    }
    message
}

/// The words for a model that can ask its user.
fn waiting_text(thread: &str, waits: &Value) -> String {
    let waits = waits.as_array().into_iter().flatten();
    let waits: Vec<String> = waits
        .map(|wait| {
            let (text, id) = (&wait["text"], &wait["id"]);
            let text = text.as_str().unwrap_or_default();
            format!("- {text} (question {id}, answer schema {})", wait["schema"])
        })
        .collect();
    format!(
        "Thread `{thread}` waits for a person. Ask, then call the tool `{ANSWER_TOOL}` with the thread, the question and the answer.\n{}",
        waits.join("\n")
    )
}

fn reasons(view: &Value) -> String {
    let errors = view["errors"].as_array().into_iter().flatten();
    let errors: Vec<&str> = errors.filter_map(|error| error["error"].as_str()).collect();
    if errors.is_empty() {
        return String::new();
    }
    format!(": {}", errors.join("; "))
}
