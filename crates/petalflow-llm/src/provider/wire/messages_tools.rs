//! The tools of a request to Anthropic.

use serde_json::{Value, json};

use super::native;
use super::schemas::SentSchema;
use crate::LlmRequest;
use crate::provider::catalog::Target;
use crate::request::ToolChoice;

/// The tools of the provider, those of the program, those that are searched for, and the provider's tool that searches. The
/// last one can be marked for the cache, which a tool that is searched for cannot.
pub(super) fn tools(
    target: &Target<'_>,
    request: &LlmRequest,
    schemas: Vec<SentSchema>,
    searchable: Vec<Value>,
) -> Value {
    let searches = !searchable.is_empty();
    let search =
        json!({ "type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25" });
    let tools = request.tools.iter().zip(schemas).map(|(tool, sent)| {
        let mut tool = json!({
            "name": tool.name,
            "description": tool.description,
            "input_schema": sent.schema,
        });
        if sent.strict {
            tool["strict"] = true.into();
        }
        tool
    });
    let searchable = request.searchable_tools.iter().zip(searchable);
    let searchable = searchable.map(|(tool, schema)| {
        json!({
            "name": tool.name,
            "description": tool.description,
            "input_schema": schema,
            "defer_loading": true,
        })
    });
    native::of_messages(target, request)
        .chain(tools)
        .chain(searchable)
        .chain(searches.then_some(search))
        .collect()
}

pub(super) fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({ "type": "auto" }),
        ToolChoice::None => json!({ "type": "none" }),
        ToolChoice::Required => json!({ "type": "any" }),
        ToolChoice::Tool(name) => json!({ "type": "tool", "name": name }),
    }
}
