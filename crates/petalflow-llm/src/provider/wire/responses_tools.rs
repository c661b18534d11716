//! The tools of a request to OpenAI.

use serde_json::{Value, json};

use super::native;
use super::schemas::SentSchema;
use crate::LlmRequest;
use crate::provider::catalog::Target;

/// The tools of the program, those that are searched for, and those of the provider, the one that searches among them.
pub(super) fn tools(
    target: &Target<'_>,
    request: &LlmRequest,
    schemas: Vec<SentSchema>,
    searchable: Vec<Value>,
) -> Value {
    let search = (!searchable.is_empty()).then(|| json!({ "type": "tool_search" }));
    let tools = request.tools.iter().zip(schemas).map(|(tool, sent)| {
        json!({
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": sent.schema,
            "strict": sent.strict,
        })
    });
    let searchable = request.searchable_tools.iter().zip(searchable);
    let searchable = searchable.map(|(tool, schema)| {
        json!({
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": schema,
            "strict": false,
            "defer_loading": true,
        })
    });
    let native = native::of_responses(target, request);
    tools
        .chain(searchable)
        .chain(search)
        .chain(native)
        .collect()
}

/// Asks for what OpenAI sends of the outcomes of its tools only then.
pub(super) fn include(body: &mut Value, target: &Target<'_>, request: &LlmRequest) {
    for field in native::include(target, request) {
        match &mut body["include"] {
            Value::Array(fields) => fields.push(field.into()),
            none => *none = json!([field]),
        }
    }
}
