//! What the client of a turn adds to a request.

use std::sync::Arc;

use crate::AgentError;
use crate::extension::ModelCall;
use crate::turn::ctx::Ctx;
use petalflow::tool::ToolSpec;
use petalflow_llm::request::ToolChoice;

/// Adds the settings of the client to the request.
pub(in crate::turn) fn settings(ctx: Ctx<'_>, call: &mut ModelCall<'_>) -> Result<(), AgentError> {
    let client = &ctx.conversation.client;
    call.instruct(client.instructions.as_deref().unwrap_or_default());
    let request = &mut call.request;
    request.temperature = client.temperature.or(request.temperature);
    request.top_p = client.top_p.or(request.top_p);
    request.seed = client.seed.or(request.seed);
    request.parallel_calls = client.parallel_calls.or(request.parallel_calls);
    request.stop.extend(client.stop.iter().cloned());
    let limits = [request.max_tokens, client.max_tokens];
    request.max_tokens = limits.into_iter().flatten().min();
    if let Some(schema) = &client.json_schema {
        if ctx.agent().has_output() {
            return Err(AgentError::ClientSettings(format!(
                "agent `{}` has a form for its answers: send no other one",
                ctx.agent().name
            )));
        }
        request.json_schema = Some(Arc::clone(schema));
    }
    Ok(())
}

/// Adds the tools of the client, after those of the agent. Their names must differ from those of the agent's sources too,
/// which the model may find later.
pub(in crate::turn) fn tools(
    ctx: Ctx<'_>,
    call: &mut ModelCall<'_>,
    source_tools: &[Arc<ToolSpec>],
) -> Result<(), AgentError> {
    let client = &ctx.conversation.client;
    if client.tools.is_empty() {
        return Ok(());
    }
    let own = &call.request.tools;
    for tool in &client.tools {
        let mut taken = own.iter().chain(source_tools);
        if taken.any(|own| own.name == tool.name) {
            return Err(AgentError::ClientTool {
                agent: ctx.agent().name.to_string(),
                tool: tool.name.clone(),
            });
        }
    }
    call.request.tools = own.iter().chain(&client.tools).cloned().collect();
    if ctx.conversation.calls == 0 && client.tool_choice != ToolChoice::Auto {
        call.request.tool_choice = client.tool_choice.clone();
    }
    Ok(())
}
