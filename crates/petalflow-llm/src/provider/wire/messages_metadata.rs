//! What Anthropic's messages have beside their content: marks for the cache, and data about a response.

use serde_json::{Value, json};

use super::response_data::{ResponseData, named_reason, text};
use super::usage;
use crate::request::PromptCache;

/// Marks the ends of the parts of a request that later requests repeat: tools and system prompt, and the conversation.
pub(super) fn mark_for_cache(body: &mut Value, cache: PromptCache) {
    let mut mark = json!({ "type": "ephemeral" });
    if cache == PromptCache::Long {
        mark["ttl"] = "1h".into();
    }
    if let Some(text) = body["system"].as_str() {
        body["system"] = json!([{ "type": "text", "text": text, "cache_control": mark }]);
    } else if let Some(tool) = body["tools"]
        .as_array_mut()
        .and_then(|tools| tools.last_mut())
    {
        tool["cache_control"] = mark.clone();
    }
    let last = body["messages"]
        .as_array_mut()
        .and_then(|all| all.last_mut());
    let Some(content) = last.map(|message| &mut message["content"]) else {
        return;
    };
    if let Some(text) = content.as_str() {
        *content = json!([{ "type": "text", "text": text, "cache_control": mark }]);
    } else if let Some(block) = content.as_array_mut().and_then(|blocks| blocks.last_mut()) {
        block["cache_control"] = mark;
    }
}

pub(super) fn read_metadata(message: &Value, data: &mut ResponseData) {
    data.id = text(message, "/id").or_else(|| data.id.take());
    data.model = text(message, "/model").or_else(|| data.model.take());
    data.finish = text(message, "/stop_reason").or_else(|| data.finish.take());
    read_container(message, data);
    read_refusal(message, data);
    usage::anthropic(&message["usage"], &mut data.usage);
}

/// Reads why the model refused: the policy, and an explanation.
pub(super) fn read_refusal(message: &Value, data: &mut ResponseData) {
    let category = text(message, "/stop_details/category");
    let explanation = text(message, "/stop_details/explanation");
    data.finish_message =
        named_reason(category, explanation).or_else(|| data.finish_message.take());
}

pub(super) fn read_container(message: &Value, data: &mut ResponseData) {
    let container = message
        .get("container")
        .filter(|container| container.is_object());
    data.container = container.cloned().or_else(|| data.container.take());
}

/// The blocks of a content, which may be a text.
pub(super) fn as_blocks(content: Value) -> Vec<Value> {
    match content {
        Value::Array(blocks) => blocks,
        Value::String(text) => vec![json!({ "type": "text", "text": text })],
        _ => Vec::new(),
    }
}

/// The fields of the pieces of blocks that are read.
pub(super) const READ_OF_DELTAS: [&str; 6] = [
    "type",
    "text",
    "citation",
    "thinking",
    "signature",
    "partial_json",
];
