//! The computer use of Anthropic: a set of tools, whose calls become calls of one tool.
//!
//! `left_click` with an input becomes `computer` with `{"left_click": input}`.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::native::ComputerUse;
use petalflow::tool::ToolCall;

/// The field of a call and of its result with the name of the set of tools.
const TOOLSET: &str = "toolset_name";

/// The tool in Anthropic's form. Without the actions that only some programs have: a part of the screen in detail, and the
/// place of the pointer.
pub(super) fn tool() -> Value {
    let off = json!({ "enabled": false });
    json!({ "type": "computer_toolset_20260801", "configs": { "zoom": off, "cursor_position": off } })
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
