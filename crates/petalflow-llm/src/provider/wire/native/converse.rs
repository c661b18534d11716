//! The native tools of Amazon Nova over Bedrock's `Converse`.

use serde_json::{Value, json};

use crate::LlmRequest;
use crate::native::NativeTool;

/// The tools in Bedrock's form. They have no settings.
pub(crate) fn tools(request: &LlmRequest) -> impl Iterator<Item = Value> {
    let names = request.native_tools.iter().filter_map(|tool| match tool {
        NativeTool::WebSearch(_) => Some("nova_grounding"),
        NativeTool::CodeExecution(_) => Some("nova_code_interpreter"),
        // Refused before.
        NativeTool::FileSearch(_)
        | NativeTool::ImageGeneration(_)
        | NativeTool::ComputerUse(_)
        | NativeTool::XSearch(_) => None,
    });
    names.map(|name| json!({ "systemTool": { "name": name } }))
}
