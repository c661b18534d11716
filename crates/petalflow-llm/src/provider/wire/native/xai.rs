//! The native tools of xAI's responses. They are named as those of OpenAI, and their settings are others.

use serde_json::{Value, json};

use crate::LlmRequest;
use crate::native::NativeTool;

/// The tools in xAI's form.
pub(crate) fn tools(request: &LlmRequest) -> impl Iterator<Item = Value> {
    request.native_tools.iter().filter_map(tool)
}

fn tool(tool: &NativeTool) -> Option<Value> {
    let (kind, fields) = match tool {
        NativeTool::WebSearch(search) => (
            "web_search",
            vec![
                ("allowed_domains", json!(search.allowed_domains)),
                ("excluded_domains", json!(search.blocked_domains)),
            ],
        ),
        NativeTool::XSearch(search) => (
            "x_search",
            vec![
                ("allowed_x_handles", json!(search.allowed_handles)),
                ("excluded_x_handles", json!(search.blocked_handles)),
                ("from_date", json!(search.from_date)),
                ("to_date", json!(search.to_date)),
            ],
        ),
        NativeTool::CodeExecution(_) => ("code_interpreter", Vec::new()),
        NativeTool::FileSearch(search) => (
            "file_search",
            vec![
                ("vector_store_ids", json!(search.stores)),
                ("max_num_results", json!(search.max_results)),
            ],
        ),
        // Refused before.
        NativeTool::ImageGeneration(_) | NativeTool::ComputerUse(_) => return None,
    };
    let mut sent = json!({ "type": kind });
    for (name, value) in fields {
        if !value.is_null() && value != json!([]) {
            sent[name] = value;
        }
    }
    Some(sent)
}

/// What xAI sends of the outcomes only if it is asked for it.
pub(crate) fn include(request: &LlmRequest) -> impl Iterator<Item = &'static str> {
    let searches = |tool: &NativeTool| matches!(tool, NativeTool::FileSearch(_));
    let searches = request.native_tools.iter().any(searches);
    searches.then_some("file_search_call.results").into_iter()
}
