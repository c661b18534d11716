//! The tool by which a model finds other tools, if its provider has no such search.

mod rank;

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};

use crate::AgentEvent;
use crate::definition::SEARCH;
use crate::turn::ctx::Ctx;
use petalflow::BoxError;
use petalflow::tool::{ToolError, ToolSpec};

/// The maximum number of tools that a search finds.
const MAX_FOUND: usize = 5;

static SPEC: LazyLock<Arc<ToolSpec>> = LazyLock::new(|| {
    Arc::new(ToolSpec::new(
        SEARCH,
        "Finds tools that you have besides those in your list, by words for what they do. Call it before you say that you \
         cannot do something. You can call the tools that it finds in your next answer.",
        json!({
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "Words for what the tool does, in the language of the tools, such as `send email`."
                }
            },
            "required": ["query"],
            "additionalProperties": false
        }),
    ))
});

/// Whether the agent has this tool: there are tools to search for, and the provider does not search.
pub(in crate::turn) fn is_used(ctx: Ctx<'_>) -> bool {
    let model = ctx.tree.model(ctx.index);
    let provider_searches = model.is_ok_and(|model| model.capabilities().tool_search);
    !ctx.agent().searchable.is_empty() && !provider_searches
}

pub(in crate::turn) fn spec() -> &'static Arc<ToolSpec> {
    &SPEC
}

/// Those of the tools that the agent has found in this conversation, in the order in which it found them.
pub(in crate::turn) fn found<'t>(
    ctx: Ctx<'t>,
    tools: &'t [Arc<ToolSpec>],
) -> impl Iterator<Item = &'t Arc<ToolSpec>> {
    let agent = &*ctx.agent().name;
    let events = ctx.conversation.events.iter();
    let events = events.filter(move |event| event.author == agent);
    let searches = events.flat_map(AgentEvent::results);
    let searches = searches.filter(|result| result.name == SEARCH && !result.is_error);
    let mut names: Vec<&str> = Vec::new();
    for tool in searches.flat_map(|search| search.content["tools"].as_array().into_iter().flatten())
    {
        if let Some(name) = tool["name"].as_str()
            && !names.contains(&name)
        {
            names.push(name);
        }
    }
    let names = names.into_iter();
    names.filter_map(|name| tools.iter().find(|tool| tool.name == name))
}

/// Searches for tools: the result of the call.
pub(in crate::turn) async fn search(ctx: Ctx<'_>, arguments: &Value) -> Result<Value, BoxError> {
    let query = arguments["query"].as_str().unwrap_or_default().trim();
    if query.is_empty() {
        let problem =
            format!("`{SEARCH}` needs the argument `query`: words for what the tool does");
        return Err(ToolError::Arguments(problem).into());
    }
    let mut tools: Vec<Arc<ToolSpec>> = Vec::new();
    let mut unavailable: Vec<String> = Vec::new();
    for source in &ctx.agent().searchable {
        match source.tools().await {
            Ok(found) => tools.extend(found.iter().map(|tool| Arc::clone(tool.spec()))),
            Err(problem) => unavailable.push(problem.problem()),
        }
    }
    let best = rank::ranked(&tools, query).into_iter().take(MAX_FOUND);
    let best = best.map(|tool| json!({ "name": tool.name, "description": tool.description }));
    let best: Vec<Value> = best.collect();
    let mut result = Map::new();
    if best.is_empty() {
        let hint = "no tool has one of these words: search with other words";
        result.insert("hint".into(), hint.into());
    }
    result.insert("tools".into(), best.into());
    if !unavailable.is_empty() {
        result.insert("unavailable".into(), unavailable.into());
    }
    Ok(result.into())
}
