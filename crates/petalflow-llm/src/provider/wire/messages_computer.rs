//! The computer use of Anthropic: a set of tools, whose calls become calls of one tool.
//!
//! `left_click` with an input becomes `computer` with `{"left_click": input}`. Older models have one tool, whose calls name the
//! action in their input: `{"action": "left_click"}`.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::messages_version::{ComputerTool, ModelVersion};
use crate::native::ComputerUse;
use crate::provider::catalog::Target;
use petalflow::tool::ToolCall;

/// The field of a call and of its result with the name of the set of tools.
const TOOLSET: &str = "toolset_name";

/// The tool in the form of the model. Without the actions that only some programs have: a part of the screen in detail, and, in
/// the set of tools, the place of the pointer.
pub(super) fn tool(target: &Target<'_>, computer: &ComputerUse) -> Value {
    match ModelVersion::computer_of(target.model) {
        Some(ComputerTool::Single { version, .. }) => json!({
            "type": version,
            "name": ComputerUse::NAME,
            "display_width_px": computer.display_width,
            "display_height_px": computer.display_height,
        }),
        // Models without one were refused before.
        Some(ComputerTool::Set) | None => {
            let off = json!({ "enabled": false });
            json!({ "type": "computer_toolset_20260801", "configs": { "zoom": off, "cursor_position": off } })
        }
    }
}

/// What the header `anthropic-beta` must have for the tools of a body.
pub(crate) fn beta(target: &Target<'_>, body: &Value) -> Option<&'static str> {
    let Some(ComputerTool::Single { version, beta }) = ModelVersion::computer_of(target.model)
    else {
        return None;
    };
    let mut tools = body["tools"].as_array().into_iter().flatten();
    tools.any(|tool| tool["type"] == version).then_some(beta)
}

/// The name of the action, if the block is one.
pub(super) fn action(block: &Value) -> Option<&str> {
    let is_action = block[TOOLSET] == ComputerUse::NAME;
    block["name"].as_str().filter(|_| is_action)
}

/// What comes before the input of an action in the arguments of the call.
pub(super) fn before_input(action: &str) -> String {
    format!("{{{}:", Value::from(action))
}

/// What comes after it.
pub(super) fn after_input(has_input: bool) -> String {
    if has_input { "}" } else { "{}}" }.to_string()
}

/// The block of a call that was an action, without what the provider needs back with it.
pub(super) fn block(call: &ToolCall, id: &str, fields: &Map<String, Value>) -> Option<Value> {
    fields.get(TOOLSET)?;
    let only = call.arguments.as_object().and_then(|all| all.iter().next());
    // A call that was cut was not made. Its block must still name an action.
    let (name, input) = match only {
        Some((name, input)) => (name.as_str(), input.clone()),
        None => ("screenshot", json!({})),
    };
    Some(json!({ "type": "tool_use", "id": id, "name": name, "input": input }))
}

/// Adds the name of the set to the results of its calls.
pub(super) fn mark_results(messages: &mut [Value]) {
    let of_set: HashSet<String> = blocks(messages)
        .filter(|block| block.get(TOOLSET).is_some())
        .filter_map(|block| block["id"].as_str().map(str::to_string))
        .collect();
    if of_set.is_empty() {
        return;
    }
    let contents = messages.iter_mut();
    let contents = contents.filter_map(|message| message["content"].as_array_mut());
    for block in contents.flatten() {
        let id = block["tool_use_id"].as_str();
        if id.is_some_and(|id| of_set.contains(id)) {
            block[TOOLSET] = ComputerUse::NAME.into();
        }
    }
}

fn blocks(messages: &[Value]) -> impl Iterator<Item = &Value> {
    let contents = messages.iter();
    contents
        .filter_map(|message| message["content"].as_array())
        .flatten()
}
