//! The native tools of Anthropic's messages.

use serde_json::{Value, json};

use crate::LlmRequest;
use crate::native::{NativeTool, WebSearch};
use crate::provider::catalog::Target;
use crate::provider::wire::messages_computer;

/// The tools in Anthropic's form. The versions are those that all of its models take.
pub(crate) fn tools(target: &Target<'_>, request: &LlmRequest) -> impl Iterator<Item = Value> {
    request
        .native_tools
        .iter()
        .filter_map(move |tool| match tool {
            NativeTool::WebSearch(search) => Some(web_search(search)),
            NativeTool::CodeExecution(_) => {
                Some(json!({ "type": "code_execution_20250825", "name": "code_execution" }))
            }
            NativeTool::ComputerUse(computer) => Some(messages_computer::tool(target, computer)),
            // Refused before.
            NativeTool::FileSearch(_) | NativeTool::ImageGeneration(_) | NativeTool::XSearch(_) => {
                None
            }
        })
}

fn web_search(search: &WebSearch) -> Value {
    let mut sent = json!({ "type": "web_search_20250305", "name": "web_search" });
    if let Some(uses) = search.max_uses {
        sent["max_uses"] = uses.into();
    }
    for (name, domains) in [
        ("allowed_domains", &search.allowed_domains),
        ("blocked_domains", &search.blocked_domains),
    ] {
        if !domains.is_empty() {
            sent[name] = json!(domains);
        }
    }
    if let Some(location) = &search.user_location {
        sent["user_location"] = json!(location);
        sent["user_location"]["type"] = "approximate".into();
    }
    sent
}
