//! The tools of a request that the provider runs itself, in the forms of the providers.

#[cfg(feature = "bedrock")]
mod converse;
mod gemini;
mod messages;
mod responses;
mod xai;

use serde_json::{Map, Value};

use super::gemini_computer;
use super::messages_version::{ComputerTool, ModelVersion};
use crate::native::NativeTool;
use crate::provider::catalog::{Family, Platform, Target, XAI};
use crate::{LlmError, LlmRequest};
#[cfg(feature = "bedrock")]
pub(super) use converse::tools as of_converse;
pub(super) use gemini::{GROUNDING, add as add_to_gemini, grounding_part, image_config};
pub(super) use messages::tools as of_messages;

/// The tools in the form of the provider's responses.
pub(super) fn of_responses(target: &Target<'_>, request: &LlmRequest) -> Vec<Value> {
    if target.provider == XAI {
        xai::tools(request).collect()
    } else {
        responses::tools(request).collect()
    }
}

/// What the provider of responses sends of the outcomes only if it is asked for it.
pub(super) fn include(target: &Target<'_>, request: &LlmRequest) -> Vec<&'static str> {
    if target.provider == XAI {
        xai::include(request).collect()
    } else {
        responses::include(request).collect()
    }
}

/// The settings that a tool has at a provider. `None` if the provider does not have the tool.
///
/// The guide has the same table.
fn settings(target: &Target<'_>, tool: &str) -> Option<&'static [&'static str]> {
    let at_vertex = target.platform == Platform::Vertex;
    if target.family == Family::Responses && target.provider == XAI {
        return match tool {
            "web_search" => Some(&["allowed_domains", "blocked_domains"]),
            "x_search" => Some(&["allowed_handles", "blocked_handles", "from_date", "to_date"]),
            "code_execution" => Some(&[]),
            "file_search" => Some(&["stores", "max_results"]),
            _ => None,
        };
    }
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
        (Family::Messages, "computer_use") if ModelVersion::computer_of(target.model).is_none() => {
            None
        }
        // What a computer is, is no wish: models that read it from the screenshots need not be told.
        (Family::Responses | Family::Messages, "computer_use") => {
            Some(&["display_width", "display_height", "environment"])
        }
        (Family::Gemini, "computer_use") => Some(&[
            "display_width",
            "display_height",
            "environment",
            "excluded_actions",
            "injection_detection",
        ]),
        (Family::Messages, "code_execution") if at_vertex => None,
        (Family::Gemini, "web_search") if at_vertex => Some(&["blocked_domains"]),
        (Family::Messages | Family::Gemini, "code_execution") | (Family::Gemini, "web_search") => {
            Some(&[])
        }
        #[cfg(feature = "bedrock")]
        (Family::Converse, "web_search")
            if ["nova-premier", "nova-2"]
                .iter()
                .any(|it| target.model.contains(it)) =>
        {
            Some(&[])
        }
        #[cfg(feature = "bedrock")]
        (Family::Converse, "code_execution") if target.model.contains("nova-2") => Some(&[]),
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
                Family::Chat if provider == XAI => format!(
                    "xAI has its tools over the Responses interface: name the model `xai_resp::{}`",
                    target.model
                ),
                Family::Messages if name == "computer_use" => {
                    "Claude 3.7 and later models have one".to_string()
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
        check_names(target, tool, request)?;
    }
    Ok(())
}

/// Refuses a tool of the program whose calls would be read as an action at a computer.
fn check_names(
    target: &Target<'_>,
    tool: &NativeTool,
    request: &LlmRequest,
) -> Result<(), LlmError> {
    let NativeTool::ComputerUse(computer) = tool else {
        return Ok(());
    };
    let is_action = |name: &str| {
        target.family == Family::Gemini && gemini_computer::has_function(computer, name)
    };
    match request.tools.iter().find(|tool| is_action(&tool.name)) {
        None => Ok(()),
        Some(tool) => Err(LlmError::request(format!(
            "the tool `{0}` has the name of an action of Gemini's computer use: rename it, or name it in `ComputerUse::excluded_actions`",
            tool.name
        ))),
    }
}

/// Refuses values that no provider, or not this one, takes.
fn check_values(target: &Target<'_>, tool: &NativeTool) -> Result<(), LlmError> {
    let is_single = matches!(
        ModelVersion::computer_of(target.model),
        Some(ComputerTool::Single { .. })
    );
    let wrong = match tool {
        NativeTool::ComputerUse(computer)
            if (target.family == Family::Gemini
                || target.family == Family::Messages && is_single)
                && (computer.display_width.is_none() || computer.display_height.is_none()) =>
        {
            "the model must know the size of the screenshots: give it with `ComputerUse::display`, or with `Computer::display` of an agent"
        }
        NativeTool::WebSearch(search)
            if !search.allowed_domains.is_empty() && !search.blocked_domains.is_empty() =>
        {
            "the web search has both `allowed_domains` and `blocked_domains`: remove one of them"
        }
        NativeTool::XSearch(search)
            if !search.allowed_handles.is_empty() && !search.blocked_handles.is_empty() =>
        {
            "the search of X has both `allowed_handles` and `blocked_handles`: remove one of them"
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
