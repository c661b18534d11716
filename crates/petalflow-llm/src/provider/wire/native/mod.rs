//! The tools of a request that the provider runs itself, in the forms of the providers.

mod gemini;
mod messages;
mod responses;

use serde_json::{Map, Value};

use super::messages_version::ModelVersion;
use crate::native::NativeTool;
use crate::provider::catalog::{Family, Platform, Target};
use crate::{LlmError, LlmRequest};
pub(super) use gemini::{GROUNDING, add as add_to_gemini, grounding_part, image_config};
pub(super) use messages::tools as of_messages;
pub(super) use responses::{include, tools as of_responses};

/// The settings that a tool has at a provider. `None` if the provider does not have the tool.
///
/// The guide has the same table.
fn settings(target: &Target<'_>, tool: &str) -> Option<&'static [&'static str]> {
    let at_vertex = target.platform == Platform::Vertex;
    match (target.family, tool) {
        (Family::Responses, "web_search") => {
            Some(&["allowed_domains", "user_location", "context_size"])
        }
        (Family::Responses, "code_execution") => Some(&["files", "memory"]),
        (Family::Responses, "file_search") => {
            Some(&["stores", "max_results", "min_score", "filter"])
        }
        (Family::Responses, "image_generation") => {
            Some(&["size", "quality", "background", "format", "model"])
        }
        (Family::Messages, "web_search") => Some(&[
            "max_uses",
            "allowed_domains",
            "blocked_domains",
            "user_location",
        ]),
        (Family::Messages, "computer_use") if !ModelVersion::of(target.model).has_computer() => {
            None
        }
        (Family::Messages, "code_execution") if at_vertex => None,
        (Family::Gemini, "web_search") if at_vertex => Some(&["blocked_domains"]),
        (Family::Responses | Family::Messages, "computer_use")
        | (Family::Messages | Family::Gemini, "code_execution")
        | (Family::Gemini, "web_search") => Some(&[]),
        (Family::Gemini, "file_search") if !at_vertex => Some(&["stores", "max_results", "filter"]),
        (Family::Gemini, "image_generation") => Some(&["size", "aspect_ratio"]),
        _ => None,
    }
}

/// Refuses a tool that the provider does not have, and a setting that its tool does not have.
///
/// # Errors
///
/// With the names of the provider, the tool and the setting.
pub(super) fn check(target: &Target<'_>, request: &LlmRequest) -> Result<(), LlmError> {
    for tool in request.native_tools.iter() {
        let (name, set) = named(tool);
        let words = name.replace('_', " ");
        let provider = target.provider;
        let Some(known) = settings(target, &name) else {
            let hint = match target.family {
                Family::Chat if provider == "openai" => format!(
                    "OpenAI has its tools over the Responses interface: name the model `openai_resp::{}`",
                    target.model
                ),
                Family::Messages if name == "computer_use" => {
                    "`claude-opus-4-8` and later models have one".to_string()
                }
                _ => "use a model of a provider that has it, or a tool of your own".to_string(),
            };
            return Err(LlmError::request(format!(
                "provider `{provider}` has no {words} for model `{}`: {hint}",
                target.model
            )));
        };
        if let Some(setting) = set
            .keys()
            .find(|setting| !known.contains(&setting.as_str()))
        {
            return Err(LlmError::request(format!(
                "the {words} of provider `{provider}` has no setting `{setting}`: remove it, or use a model of a provider \
                 that has it"
            )));
        }
        check_values(target, tool)?;
    }
    Ok(())
}

/// Refuses values that no provider, or not this one, takes.
fn check_values(target: &Target<'_>, tool: &NativeTool) -> Result<(), LlmError> {
    let wrong = match tool {
        NativeTool::WebSearch(search)
            if !search.allowed_domains.is_empty() && !search.blocked_domains.is_empty() =>
        {
            "the web search has both `allowed_domains` and `blocked_domains`: remove one of them"
        }
        NativeTool::FileSearch(search) if search.stores.is_empty() => {
            "the file search has no `stores`: name those that it searches in"
        }
        NativeTool::FileSearch(search)
            if target.family == Family::Gemini
                && !matches!(search.filter, Value::Null | Value::String(_)) =>
        {
            "the `filter` of a file search of Gemini is a text, such as `author = \"Ann\"`"
        }
        NativeTool::FileSearch(search)
            if target.family == Family::Responses
                && !matches!(search.filter, Value::Null | Value::Object(_)) =>
        {
            "the `filter` of a file search of OpenAI is an object with `type`, `key` and `value`"
        }
        _ => return Ok(()),
    };
    Err(LlmError::request(wrong.to_string()))
}

/// The name of a tool, and the settings that have a value.
fn named(tool: &NativeTool) -> (String, Map<String, Value>) {
    // They are structs with plain fields, whose serialization does not fail.
    let value = serde_json::to_value(tool).unwrap_or_default();
    let fields = value.as_object().into_iter().flatten().next();
    fields.map_or_else(Default::default, |(name, fields)| {
        (
            name.clone(),
            fields.as_object().cloned().unwrap_or_default(),
        )
    })
}
