//! The native tools of OpenAI's responses.

use serde_json::{Value, json};

use crate::LlmRequest;
use crate::native::NativeTool;
use crate::provider::wire::content::decimal;

/// The tools in OpenAI's form.
pub(crate) fn tools(request: &LlmRequest) -> impl Iterator<Item = Value> {
    request.native_tools.iter().map(tool)
}

fn tool(tool: &NativeTool) -> Value {
    match tool {
        NativeTool::WebSearch(search) => {
            let mut sent = json!({ "type": "web_search" });
            if !search.allowed_domains.is_empty() {
                sent["filters"] = json!({ "allowed_domains": search.allowed_domains });
            }
            if let Some(location) = &search.user_location {
                sent["user_location"] = json!(location);
                sent["user_location"]["type"] = "approximate".into();
            }
            if let Some(size) = search.context_size {
                sent["search_context_size"] = json!(size);
            }
            sent
        }
        NativeTool::CodeExecution(code) => {
            let mut container = json!({ "type": "auto" });
            if !code.files.is_empty() {
                container["file_ids"] = json!(code.files);
            }
            if let Some(memory) = code.memory {
                container["memory_limit"] = json!(memory);
            }
            json!({ "type": "code_interpreter", "container": container })
        }
        NativeTool::FileSearch(search) => {
            let mut sent = json!({ "type": "file_search", "vector_store_ids": search.stores });
            if let Some(results) = search.max_results {
                sent["max_num_results"] = results.into();
            }
            if let Some(score) = search.min_score {
                sent["ranking_options"] = json!({ "score_threshold": decimal(score) });
            }
            if !search.filter.is_null() {
                sent["filters"] = search.filter.clone();
            }
            sent
        }
        NativeTool::ImageGeneration(image) => {
            let mut sent = json!({ "type": "image_generation" });
            let fields = [
                ("size", json!(image.size)),
                ("quality", json!(image.quality)),
                ("background", json!(image.background)),
                ("output_format", json!(image.format)),
                ("model", json!(image.model)),
            ];
            for (name, value) in fields {
                if !value.is_null() {
                    sent[name] = value;
                }
            }
            sent
        }
        NativeTool::ComputerUse(_) => json!({ "type": "computer" }),
        // Refused before.
        NativeTool::XSearch(_) => Value::Null,
    }
}

/// What OpenAI sends of the outcomes only if it is asked for it.
pub(crate) fn include(request: &LlmRequest) -> impl Iterator<Item = &'static str> {
    request.native_tools.iter().filter_map(|tool| match tool {
        NativeTool::WebSearch(_) => Some("web_search_call.action.sources"),
        NativeTool::CodeExecution(_) => Some("code_interpreter_call.outputs"),
        NativeTool::FileSearch(_) => Some("file_search_call.results"),
        NativeTool::ImageGeneration(_) | NativeTool::ComputerUse(_) | NativeTool::XSearch(_) => {
            None
        }
    })
}
