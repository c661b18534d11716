//! The computer use of Gemini: functions of its own, whose calls become one call of the tool `computer`.
//!
//! An answer with the calls `click_at` and `navigate` becomes `computer` with
//! `{"calls": [{"name": "click_at", "args": ..}, {"name": "navigate", "args": ..}]}`: Gemini cannot be asked for one call at a time,
//! and actions have an order. A result has `results`, one for each of these calls, with the address of the page and a screenshot.

use serde_json::{Map, Value, json};

use super::content::split_result;
use crate::message::Media;
use crate::native::{ComputerEnvironment, ComputerUse};
use petalflow::tool::{ToolCall, ToolResult};

/// The functions of all models and environments. `list_apps` is none of them, because a computer does not answer in words.
const FUNCTIONS: [&str; 31] = [
    // Gemini 2.5 and 3.
    "open_web_browser",
    "wait_5_seconds",
    "search",
    "click_at",
    "hover_at",
    "type_text_at",
    "key_combination",
    "scroll_document",
    "scroll_at",
    // All.
    "go_back",
    "go_forward",
    "navigate",
    "drag_and_drop",
    // From Gemini 3.5 on.
    "click",
    "double_click",
    "triple_click",
    "middle_click",
    "right_click",
    "mouse_down",
    "mouse_up",
    "move",
    "type",
    "wait",
    "press_key",
    "key_down",
    "key_up",
    "hotkey",
    "take_screenshot",
    "scroll",
    // Phones.
    "open_app",
    "long_press",
];

/// The function of a phone that a computer of a program does not have.
const LIST_APPS: &str = "list_apps";

/// The field of a declaration with the functions that the model does not get.
const EXCLUDED: &str = "excludedPredefinedFunctions";

/// The tool.
pub(super) fn tool(computer: &ComputerUse) -> Value {
    let environment = match computer.environment {
        None | Some(ComputerEnvironment::Browser) => "ENVIRONMENT_BROWSER",
        Some(ComputerEnvironment::Desktop) => "ENVIRONMENT_DESKTOP",
        Some(ComputerEnvironment::Mobile) => "ENVIRONMENT_MOBILE",
    };
    let mut fields = json!({ "environment": environment });
    let mut excluded: Vec<&str> = computer.excluded_actions.iter().map(|it| &**it).collect();
    if computer.environment == Some(ComputerEnvironment::Mobile) && !excluded.contains(&LIST_APPS) {
        excluded.push(LIST_APPS);
    }
    if !excluded.is_empty() {
        fields[EXCLUDED] = excluded.into();
    }
    if computer.injection_detection {
        fields["enablePromptInjectionDetection"] = true.into();
    }
    json!({ "computerUse": fields })
}

/// Whether the model has a function of this name, if it uses this computer.
pub(super) fn has_function(computer: &ComputerUse, name: &str) -> bool {
    FUNCTIONS.contains(&name) && !computer.excluded_actions.iter().any(|it| it == name)
}

/// The functions that a request with this body gives to the model.
pub(super) fn functions_of(body: &Value) -> Vec<&'static str> {
    let mut tools = body["tools"].as_array().into_iter().flatten();
    let Some(computer) = tools.find_map(|tool| tool.get("computerUse")) else {
        return Vec::new();
    };
    let excluded = computer[EXCLUDED].as_array();
    let is_excluded = |name: &str| excluded.is_some_and(|all| all.iter().any(|it| it == name));
    let functions = FUNCTIONS.into_iter();
    functions.filter(|name| !is_excluded(name)).collect()
}

/// The path of the call with this number in the arguments of the tool.
pub(super) fn path(number: usize) -> String {
    format!("$.calls[{number}]")
}

/// The calls of functions of which a call was made. `None` for a call of another provider or tool.
pub(super) fn function_calls(call: &ToolCall) -> Option<&[Value]> {
    let calls = call.arguments.get("calls")?.as_array()?;
    let is_function = |call: &Value| {
        call["name"]
            .as_str()
            .is_some_and(|it| FUNCTIONS.contains(&it))
    };
    let is_own = call.name == ComputerUse::NAME && !calls.is_empty();
    (is_own && calls.iter().all(is_function)).then_some(calls)
}

/// The parts of such a call. The first function has the id of the call, if the model gave it one.
pub(super) fn call_parts(calls: &[Value], id: Option<&str>) -> Vec<Value> {
    let parts = calls.iter().enumerate().map(|(number, call)| {
        let mut sent = json!({ "name": call["name"], "args": call.get("args").cloned().unwrap_or_else(|| json!({})) });
        if let Some(id) = id_of(call, number, id) {
            sent["id"] = id.into();
        }
        json!({ "functionCall": sent })
    });
    parts.collect()
}

/// The parts with the result of such a call: one for each function. Each has an address, without which the provider refuses it:
/// `address` is the last one that is known.
pub(super) fn result_parts(
    calls: &[Value],
    result: &ToolResult,
    id: Option<&str>,
    takes: impl Fn(&Media) -> bool,
    media: impl Fn(&Media) -> Value,
    address: &mut String,
) -> Vec<Value> {
    // A call that was made with the arguments of a person says so beside its result.
    let inner = result.content.get("result").unwrap_or(&result.content);
    let results = inner["results"].as_array().filter(|_| !result.is_error);
    let parts = calls.iter().enumerate().map(|(number, call)| {
        let own = results.map(|results| results.get(number).cloned().unwrap_or_else(|| json!({})));
        let mut content = own.unwrap_or_else(|| without_results(result));
        if number == 0
            && results.is_some()
            && let (Some(around), Some(content)) =
                (result.content.as_object(), content.as_object_mut())
        {
            let around = around
                .iter()
                .filter(|(name, _)| !["result", "results"].contains(&&***name));
            content.extend(around.map(|(name, value)| (name.clone(), value.clone())));
        }
        let sent = split_result(
            &ToolResult {
                content,
                ..result.clone()
            },
            &takes,
        );
        let mut response = sent.content.as_object().cloned().unwrap_or_else(Map::new);
        if !sent.media.is_empty() {
            response.remove("screenshot");
        }
        match response.get("url").and_then(Value::as_str) {
            Some(url) => *address = url.to_string(),
            None => drop(response.insert("url".into(), address.as_str().into())),
        }
        // It was made after a person has confirmed it.
        if results.is_some() && ComputerUse::warning_of(call).is_some() {
            response.insert("safety_acknowledgement".into(), "true".into());
        }
        let mut sent_response = json!({ "name": call["name"], "response": response });
        if !sent.media.is_empty() {
            sent_response["parts"] = sent.media.iter().map(&media).collect();
        }
        if let Some(id) = id_of(call, number, id) {
            sent_response["id"] = id.into();
        }
        json!({ "functionResponse": sent_response })
    });
    parts.collect()
}

/// The response of a call that was not made, or whose result a callback has replaced.
fn without_results(result: &ToolResult) -> Value {
    match &result.content {
        Value::Object(fields) if !result.is_error || fields.contains_key("error") => {
            fields.clone().into()
        }
        content if result.is_error => json!({ "error": content }),
        content => json!({ "result": content }),
    }
}

fn id_of<'v>(call: &'v Value, number: usize, first: Option<&'v str>) -> Option<&'v str> {
    if number == 0 {
        first
    } else {
        call["id"].as_str()
    }
}
