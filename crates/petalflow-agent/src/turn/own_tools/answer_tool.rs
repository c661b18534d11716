//! The tool by which a model gives a structured answer, if it does not support a schema together with tools.

use std::sync::Arc;

use serde_json::Value;

use super::transfer;
use crate::AgentEvent;
use crate::definition::Mode;
use crate::output::Output;
use crate::turn::ctx::Ctx;
use petalflow::tool::{ToolCall, ToolError, ToolSpec};

/// The name of the tool.
pub(crate) const NAME: &str = "set_model_response";

/// The instructions for this tool.
pub(in crate::turn) const INSTRUCTION: &str = "You have other tools. When you have the final answer, give it by calling \
     `set_model_response` with it, in the form that it asks for. Do not write the answer as text.";

/// The result of this tool.
pub(in crate::turn) const RESULT: &str = "Response set.";

/// The tool for answers of this form.
pub(in crate::turn) fn spec(output: &Output) -> Arc<ToolSpec> {
    let description = "Sets the final answer, in the form that is asked for.";
    Arc::new(ToolSpec::new(
        NAME,
        description,
        Value::clone(&output.schema),
    ))
}

/// The instructions for output functions.
pub(in crate::turn) fn instruction_for_functions(ctx: Ctx<'_>) -> String {
    let otherwise = match ctx.agent().output {
        Some(_) => "",
        None => " Do not write the answer as text.",
    };
    let names = quoted(&ctx.agent().output_functions);
    format!("When you have the final answer, give it by calling {names}.{otherwise}")
}

/// The tools by which the agent can give its answer, in words.
pub(in crate::turn) fn names(ctx: Ctx<'_>) -> String {
    let mut names = ctx.agent().output_functions.clone();
    names.extend(is_used(ctx).then(|| NAME.into()));
    quoted(&names)
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(" or ")
}

/// Whether a call of this tool gives the answer of the agent, which does not work on a task.
pub(in crate::turn) fn gives_answer(ctx: Ctx<'_>, tool: &str) -> bool {
    let is_own = || tool == NAME && is_used(ctx);
    ctx.agent().output_function(tool).is_some() || is_own()
}

/// Fails if an earlier call of the same message is one of an output function too: a turn has one answer.
pub(in crate::turn) fn check_is_first(ctx: Ctx<'_>, call: &ToolCall) -> Result<(), ToolError> {
    let agent = ctx.agent();
    if agent.output_function(&call.name).is_none() {
        return Ok(());
    }
    let mut events = ctx.conversation.events.iter().rev();
    let event = events.find(|event| event.has_call(&call.id));
    let mut calls = event.into_iter().flat_map(AgentEvent::calls);
    let first = calls.find(|other| agent.output_function(&other.name).is_some());
    match first {
        Some(first) if first.id != call.id => Err(ToolError::Arguments(format!(
            "`{}` was not called: an earlier call of `{}` gives the answer, and there is one answer",
            call.name, first.name
        ))),
        _ => Ok(()),
    }
}

/// Whether the agent has this tool: there are other tools, and the model does not support a schema with tools.
pub(in crate::turn) fn is_used(ctx: Ctx<'_>) -> bool {
    let agent = ctx.agent();
    let has_tools = || {
        !agent.tools.is_empty()
            || !agent.sources.is_empty()
            || !agent.searchable.is_empty()
            || !ctx.conversation.client.tools.is_empty()
            || transfer::tool(ctx).is_some()
            || ctx.tree.delegates(ctx.index).next().is_some()
    };
    let supports_both = || {
        let model = ctx.tree.model(ctx.index);
        model.is_ok_and(|model| model.capabilities().schema_with_tools)
    };
    agent.output.is_some() && agent.mode != Mode::Task && has_tools() && !supports_both()
}
