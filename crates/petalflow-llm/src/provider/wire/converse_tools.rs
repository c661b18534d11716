//! The tools of a request to Bedrock's `Converse`.

use serde_json::{Value, json};

use super::content::is_blank;
use super::native;
use super::schemas::SentSchema;
use crate::LlmRequest;
use crate::request::ToolChoice;

/// The tools. A conversation with calls must have them also if none may be called.
pub(super) fn config(
    request: &LlmRequest,
    schemas: impl IntoIterator<Item = SentSchema>,
) -> Option<Value> {
    let has_calls = || {
        request
            .messages
            .iter()
            .any(|message| message.calls().next().is_some())
    };
    let may_call = request.tool_choice != ToolChoice::None;
    let of_provider: Vec<Value> = native::of_converse(request).filter(|_| may_call).collect();
    let has_tools = !request.tools.is_empty() || !of_provider.is_empty();
    if !has_tools || !(may_call || has_calls()) {
        return None;
    }
    let tools = request.tools.iter().zip(schemas).map(|(tool, sent)| {
        let mut spec = json!({ "name": tool.name, "inputSchema": { "json": sent.schema } });
        if !is_blank(&tool.description) {
            spec["description"] = (&*tool.description).into();
        }
        if sent.strict {
            spec["strict"] = true.into();
        }
        json!({ "toolSpec": spec })
    });
    let mut config = json!({ "tools": tools.chain(of_provider).collect::<Value>() });
    match &request.tool_choice {
        ToolChoice::Auto | ToolChoice::None => {}
        ToolChoice::Required => config["toolChoice"] = json!({ "any": {} }),
        ToolChoice::Tool(name) => config["toolChoice"] = json!({ "tool": { "name": name } }),
    }
    Some(config)
}
