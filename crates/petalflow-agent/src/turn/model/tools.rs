//! The tools of a request: those of the agent, of its sources, and those for other agents.

use std::sync::Arc;

use crate::definition::{Mode, Source, Unavailable};
use crate::extension::ModelCall;
use crate::turn::ctx::Ctx;
use crate::turn::own_tools::answer_tool;
use crate::turn::own_tools::delegation;
use crate::turn::own_tools::tool_search;
use crate::turn::own_tools::transfer;
use crate::turn::requirements;
use crate::{AgentError, ToolsUnavailable};
use petalflow::BoxError;
use petalflow::tool::ToolSpec;

/// Adds the tools to the request. Returns those of the sources, with all that can be searched for.
pub(super) async fn add(
    ctx: Ctx<'_>,
    call: &mut ModelCall<'_>,
) -> Result<Vec<Arc<ToolSpec>>, BoxError> {
    let agent = ctx.agent();
    let own = agent.specs();
    let mut unavailable: Vec<Unavailable> = Vec::new();
    let listed = of_sources(ctx, &agent.sources, &mut unavailable).await?;
    let searchable = of_sources(ctx, &agent.searchable, &mut unavailable).await?;
    let mut more = listed.clone();
    for index in ctx.tree.delegates(ctx.index) {
        more.push(delegation::spec(ctx.tree.agent(index)));
    }
    more.extend(transfer::tool(ctx).cloned());
    let is_free = !searchable.is_empty() || !more.is_empty() || !own.is_empty();
    let has_others = is_free || !call.request.tools.is_empty();
    for unavailable in unavailable {
        if !has_others {
            // The policy of retries decides when the sources are asked again.
            let sources = agent.sources.iter().chain(&agent.searchable);
            sources.for_each(|source| source.forget());
            return Err(unavailable.into());
        }
        let problem = unavailable.problem();
        ToolsUnavailable::emit(ctx.cx, &agent.name, &problem);
        call.instruct(&format!(
            "Some of your tools are not available now: {problem}. Use your other tools, and say so if you need those."
        ));
    }
    if agent.mode == Mode::Task {
        more.push(delegation::finish(agent));
    } else if answer_tool::is_used(ctx) {
        more.extend(agent.output.as_ref().map(answer_tool::spec));
    }
    if tool_search::is_used(ctx) {
        more.push(Arc::clone(tool_search::spec()));
        // The last ones: what was cached of the tools before stays valid.
        more.extend(tool_search::found(ctx, &searchable).cloned());
    } else {
        call.request.searchable_tools = searchable.iter().cloned().collect();
    }
    let before = &call.request.tools;
    call.request.tools = if before.is_empty() && more.is_empty() {
        Arc::clone(own)
    } else {
        before
            .iter()
            .chain(own.iter())
            .chain(&more)
            .cloned()
            .collect()
    };
    Ok(listed.into_iter().chain(searchable).collect())
}

/// The tools of these sources. Adds the sources that have none now to `unavailable`.
async fn of_sources(
    ctx: Ctx<'_>,
    sources: &[Arc<Source>],
    unavailable: &mut Vec<Unavailable>,
) -> Result<Vec<Arc<ToolSpec>>, AgentError> {
    let mut found: Vec<Arc<ToolSpec>> = Vec::new();
    for source in sources {
        match source.tools().await {
            Ok(tools) => {
                for tool in tools.iter() {
                    requirements::check_tool(ctx.agent(), &**tool, ctx.cx)?;
                }
                found.extend(tools.iter().map(|tool| Arc::clone(tool.spec())));
            }
            Err(problem) => unavailable.push(problem),
        }
    }
    Ok(found)
}
