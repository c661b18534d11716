//! The computer use of OpenAI: an item of its own, which becomes a call of the tool `computer`.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::content::arguments_object;
use super::origins;
use petalflow::tool::ToolCall;

/// The type of such an item.
pub(super) const KIND: &str = "computer_call";
const CHECKS: &str = "pending_safety_checks";

/// A picture of one transparent pixel: a result must have one, even if nothing was done.
const NOTHING: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/// The arguments of the call, and what the provider needs back with it.
pub(super) fn read(item: &Value) -> (Value, Map<String, Value>) {
    let actions = match (item.get("actions"), item.get("action")) {
        (Some(actions @ Value::Array(_)), _) => actions.clone(),
        // An older form.
        (_, Some(action)) => json!([action]),
        _ => json!([]),
    };
    let mut arguments = json!({ "actions": actions });
    if item[CHECKS].as_array().is_some_and(|all| !all.is_empty()) {
        arguments[CHECKS] = item[CHECKS].clone();
    }
    (arguments, origins::left_over(item, &["call_id", "actions"]))
}

/// The item of a call, if it came from one. A person may have changed the actions: what was done is what the model reads.
pub(super) fn item(call: &ToolCall, id: &str, fields: &Map<String, Value>) -> Option<Value> {
    if fields.get("type")? != KIND {
        return None;
    }
    let mut item = json!({ "type": KIND, "call_id": id });
    if !fields.contains_key("action") {
        item["actions"] = arguments_object(&call.arguments)["actions"].clone();
    }
    Some(item)
}

/// Makes screenshots of the results of such calls. The safety checks of a call are acknowledged: it was made after a person
/// has confirmed it, or it was not made, and the text says so.
pub(super) fn make_screenshots(items: &mut Vec<Value>) {
    let computer = items.iter().filter(|item| item["type"] == KIND);
    let checks: HashMap<String, Value> = computer
        .filter_map(|item| Some((item["call_id"].as_str()?.to_string(), item[CHECKS].clone())))
        .collect();
    if checks.is_empty() {
        return;
    }
    let mut all = Vec::with_capacity(items.len());
    for item in items.drain(..) {
        let id = item["call_id"].as_str();
        let known = id.filter(|_| item["type"] == "function_call_output");
        let Some(checks) = known.and_then(|id| checks.get(id)) else {
            all.push(item);
            continue;
        };
        let parts = item["output"].as_array().into_iter().flatten();
        let picture = parts.clone().find_map(|part| part["image_url"].as_str());
        let mut output = json!({
            "type": "computer_call_output",
            "call_id": id,
            "output": { "type": "computer_screenshot", "image_url": picture.unwrap_or(NOTHING) },
        });
        if checks.as_array().is_some_and(|checks| !checks.is_empty()) {
            output["acknowledged_safety_checks"] = checks.clone();
        }
        let words = item["output"].as_str().filter(|_| picture.is_none());
        let words = words.map(|words| {
            let text = format!(
                "The actions of the computer call `{}` gave no screenshot: {words}",
                id.unwrap_or_default()
            );
            json!({ "role": "user", "content": text })
        });
        all.push(output);
        all.extend(words);
    }
    *items = all;
}
