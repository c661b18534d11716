//! What a call calls: a tool, another agent, or a tool of the agent itself.

use std::sync::Arc;

use crate::definition::{Mode, SEARCH, Unavailable};
use crate::turn::ctx::Ctx;
use crate::turn::own_tools::{answer_tool, delegation, tool_search, transfer};
use petalflow::BoxError;
use petalflow::tool::Tool;

/// The target of a call.
pub(super) enum Target {
    Tool(Arc<dyn Tool>),
    /// Transfers the conversation.
    Transfer,
    /// Sets the answer.
    Output,
    /// Finishes the agent's task.
    Finish,
    /// Gives a task to an agent.
    Task,
    /// Calls the agent with this index.
    Agent(usize),
    /// Searches for tools.
    Search,
    /// Waits for the client, which runs the tool.
    Client,
}

/// Finds the tool of this name among all tools of the agent.
pub(super) async fn find(ctx: Ctx<'_>, name: &str) -> Result<Target, BoxError> {
    let agent = ctx.agent();
    if let Some(tool) = agent.tools.iter().find(|tool| tool.spec().name == name) {
        return Ok(Target::Tool(Arc::clone(tool)));
    }
    let mut known: Vec<String> = agent.specs().iter().map(|spec| spec.name.clone()).collect();
    let mut unavailable: Vec<Unavailable> = Vec::new();
    for source in agent.sources.iter().chain(&agent.searchable) {
        match source.tools().await {
            Ok(tools) => {
                if let Some(tool) = tools.get(name) {
                    return Ok(Target::Tool(Arc::clone(tool)));
                }
                known.extend(tools.names().map(Into::into));
            }
            Err(problem) => unavailable.push(problem),
        }
    }
    for (own, target) in own_targets(ctx) {
        if own == name {
            return Ok(target);
        }
        known.push(own.into());
    }
    let client = &ctx.conversation.client;
    if client.has_tool(name) {
        return Ok(Target::Client);
    }
    known.extend(client.tools.iter().map(|spec| spec.name.clone()));
    // The tool may be one of a source that has failed.
    match unavailable.pop() {
        Some(unavailable) => Err(format!(
            "tool `{name}` is not available now: {}; use another tool, or call it again later",
            unavailable.problem()
        )
        .into()),
        None => Err(not_found(name, &known).into()),
    }
}

/// The agent's tools for a transfer, an answer and a search, and the agents that are its tools, by their names.
fn own_targets(ctx: Ctx<'_>) -> Vec<(&str, Target)> {
    let mut targets: Vec<(&str, Target)> = Vec::new();
    if transfer::tool(ctx).is_some() {
        targets.push((transfer::NAME, Target::Transfer));
    }
    if ctx.agent().mode == Mode::Task {
        targets.push((delegation::FINISH, Target::Finish));
    } else if answer_tool::is_used(ctx) {
        targets.push((answer_tool::NAME, Target::Output));
    }
    if tool_search::is_used(ctx) {
        targets.push((SEARCH, Target::Search));
    }
    for index in ctx.tree.delegates(ctx.index) {
        let delegate = ctx.tree.agent(index);
        let target = match delegate.mode {
            Mode::Task => Target::Task,
            _ => Target::Agent(index),
        };
        targets.push((&delegate.name, target));
    }
    targets
}

fn not_found(name: &str, known: &[String]) -> String {
    format!(
        "tool '{name}' not found.\nAvailable tools: {}\n\nPossible causes:\n  1. The name is made up or misspelt: call one of \
         the tools above.\n  2. The tool was not added to the agent.\n  3. The tool belongs to another agent.",
        known.join(", ")
    )
}
