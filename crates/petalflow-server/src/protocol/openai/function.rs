//! Tools that the client declares, and which of them the model calls.

use petalflow::tool::ToolSpec;
use petalflow_agent::ClientSettings;
use petalflow_llm::request::ToolChoice;
use serde_json::{Value, json};

use super::calls::RESERVED;
use super::error::ApiError;

/// Adds the tools of a request to the settings. The fields of a function are in `function` (Chat Completions), or beside
/// its type (Responses).
pub(super) fn add(
    mut settings: ClientSettings,
    tools: &[Value],
    choice: &Value,
) -> Result<ClientSettings, ApiError> {
    let choice = read_choice(choice)?;
    if choice == ToolChoice::None {
        return Ok(settings);
    }
    for (index, tool) in tools.iter().enumerate() {
        settings = settings.tool(spec(tool, &format!("tools[{index}]"))?);
    }
    if let ToolChoice::Tool(name) = &choice
        && !settings.tools.iter().any(|tool| tool.name == *name)
    {
        let text = format!("`tool_choice` names the tool `{name}`, which is not in `tools`");
        return Err(ApiError::param("tool_choice", text));
    }
    if choice == ToolChoice::Required && settings.tools.is_empty() {
        let text = "`tool_choice` is `required`, and there are no `tools`";
        return Err(ApiError::param("tool_choice", text));
    }
    settings.tool_choice = choice;
    Ok(settings)
}

fn spec(tool: &Value, place: &str) -> Result<ToolSpec, ApiError> {
    let kind = tool["type"].as_str().unwrap_or_default();
    if kind != "function" {
        let text = format!(
            "`{place}` has the type `{kind}`, which is not supported: declare tools of the type `function`, which the client runs"
        );
        return Err(ApiError::param(place, text));
    }
    let function = tool.get("function").unwrap_or(tool);
    let text = |field: &str| function[field].as_str().unwrap_or_default();
    let name = text("name");
    if RESERVED.contains(&name) {
        let text = format!("the tool `{name}` has the name of a request to a person: rename it");
        return Err(ApiError::param(place, text));
    }
    let parameters = match &function["parameters"] {
        Value::Null => json!({ "type": "object", "properties": {} }),
        parameters => parameters.clone(),
    };
    Ok(ToolSpec::new(name, text("description"), parameters))
}

fn read_choice(choice: &Value) -> Result<ToolChoice, ApiError> {
    let named = choice
        .pointer("/function/name")
        .or_else(|| choice.get("name"));
    match (choice.as_str(), named.and_then(Value::as_str)) {
        _ if choice.is_null() => Ok(ToolChoice::Auto),
        (Some("auto"), _) => Ok(ToolChoice::Auto),
        (Some("none"), _) => Ok(ToolChoice::None),
        (Some("required"), _) => Ok(ToolChoice::Required),
        (None, Some(name)) if choice["type"] == "function" => {
            Ok(ToolChoice::Tool(name.to_string()))
        }
        _ => Err(ApiError::param(
            "tool_choice",
            format!(
                "`tool_choice` cannot be {choice}: it is `auto`, `none`, `required`, or names a function"
            ),
        )),
    }
}
