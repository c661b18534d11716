//! Transfer of a conversation to another agent.

use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};

use crate::AgentError;
use crate::definition::AgentTree;
use crate::turn::ctx::Ctx;
use petalflow::tool::ToolSpec;

/// The tool by which a model transfers the conversation.
pub(crate) const NAME: &str = "transfer_to_agent";

static SPEC: LazyLock<Arc<ToolSpec>> = LazyLock::new(|| {
    Arc::new(ToolSpec::new(
        NAME,
        "Transfers the question to another agent. Call it when that agent is better suited to answer, by its description.",
        json!({
            "type": "object",
            "properties": {
                "agent_name": { "type": "string", "description": "The name of the agent to transfer to." }
            },
            "required": ["agent_name"],
            "additionalProperties": false
        }),
    ))
});

/// The tool, if there is an agent to transfer to.
pub(in crate::turn) fn tool(ctx: Ctx<'_>) -> Option<&'static Arc<ToolSpec>> {
    (!ctx.tree.transfer_targets(ctx.index).is_empty()).then(|| &*SPEC)
}

/// The instructions about the agents that the model may transfer to.
pub(in crate::turn) fn instruction(ctx: Ctx<'_>) -> Option<String> {
    let targets = ctx.tree.transfer_targets(ctx.index);
    if targets.is_empty() {
        return None;
    }
    let mut text = String::from("You have a list of other agents to transfer to:\n");
    for index in &targets {
        let agent = ctx.tree.agent(*index);
        let _ = write!(
            text,
            "\nAgent name: {}\nAgent description: {}\n",
            agent.name, agent.description
        );
    }
    let _ = write!(
        text,
        "\nIf you are the best to answer the question according to your description, answer it.\n\n\
         If another agent is better for answering the question according to its description, call `{NAME}` to transfer the \
         question to that agent. When transferring, do not generate any text other than the function call.\n"
    );
    if let Some(parent) = ctx.tree.entry(ctx.index).parent
        && targets.contains(&parent)
    {
        let _ = write!(
            text,
            "\nYour parent agent is {}. If neither the other agents nor you are best for answering the question according to \
             the descriptions, transfer to your parent agent.\n",
            ctx.tree.agent(parent).name
        );
    }
    Some(text)
}

/// The agent's name in the arguments of the call.
pub(in crate::turn) fn agent_name(arguments: &Value) -> Result<&str, String> {
    match arguments.get("agent_name") {
        None => Err(format!(
            "`{NAME}` needs the argument `agent_name`: the name of an agent"
        )),
        Some(Value::String(name)) if !name.is_empty() => Ok(name),
        Some(other) => Err(format!(
            "the argument `agent_name` of `{NAME}` is {other}: give the name of an agent"
        )),
    }
}

/// The agent with this name, if the one at `from` may transfer to it.
pub(in crate::turn) fn target(
    tree: &AgentTree,
    from: usize,
    name: &str,
) -> Result<usize, AgentError> {
    let mut targets = tree.transfer_targets(from).into_iter();
    let target = targets.find(|index| &*tree.agent(*index).name == name);
    target.ok_or_else(|| AgentError::UnknownAgent(name.into()))
}
