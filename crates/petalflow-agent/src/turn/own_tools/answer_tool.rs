//! The tool by which a model gives a structured answer, if it does not support a schema together with tools.

use std::sync::Arc;

use serde_json::Value;

use super::transfer;
use crate::definition::Mode;
use crate::output::Output;
use crate::turn::ctx::Ctx;
use petalflow::tool::ToolSpec;

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
