//! The managed values that tools take.

use crate::AgentError;
use crate::definition::{AgentTree, Definition};
use petalflow::Context;
use petalflow::node::Requirements;
use petalflow::tool::Tool;

/// Fails if the run has not all managed values that the tools of these agents take.
pub(super) fn check(tree: &AgentTree, cx: &Context) -> Result<(), AgentError> {
    for agent in tree.agents() {
        for tool in agent.tools.iter().chain(&agent.output_validators) {
            check_tool(agent, &**tool, cx)?;
        }
    }
    Ok(())
}

/// Fails if the run has not all managed values that this tool of the agent takes.
pub(super) fn check_tool(
    agent: &Definition,
    tool: &dyn Tool,
    cx: &Context,
) -> Result<(), AgentError> {
    let mut requirements = Requirements::of(cx);
    tool.require(&mut requirements);
    if requirements.missing().is_empty() {
        return Ok(());
    }
    Err(AgentError::MissingManaged {
        agent: agent.name.to_string(),
        tool: tool.spec().name.clone(),
        types: requirements.missing().to_vec(),
    })
}
