//! Counts what requests and tool calls use, and checks the limits before them.

use std::sync::Arc;

use super::ctx::Ctx;
use super::{answer_tool, delegation, transfer};
use crate::limits::{At, LimitExceeded, LimitScope, Limits, NextRequest, Usage};
use crate::{AgentError, AgentEvent, tokens};
use petalflow::tool::ToolCall;
use petalflow_llm::{LlmClient, LlmRequest, LlmResponse, TokenUsage};

/// Checks a request against the limits, and makes it ask for no more tokens than are left.
pub(super) fn before_request(
    ctx: Ctx<'_>,
    request: &mut LlmRequest,
    client: &Arc<dyn LlmClient>,
) -> Result<(), AgentError> {
    let conversation = ctx.conversation;
    let next = next_request(ctx, request, client);
    let mut left: Option<u64> = None;
    let mut check = |others: Usage| {
        for (at, limits, used) in limits(ctx) {
            let output = limits.check_request(at, &(used + others), &next)?;
            left = [left, output].into_iter().flatten().min();
        }
        Ok::<_, LimitExceeded>(())
    };
    match conversation.view.share() {
        None => check(Usage::default())?,
        Some(share) => {
            let reserved = Usage {
                requests: 1,
                tokens: TokenUsage {
                    input: next.input,
                    total: next.input,
                    ..TokenUsage::default()
                },
                ..Usage::default()
            };
            share.reserve(conversation.turn_spent, reserved, check)?;
        }
    }
    if let Some(left) = left {
        let left = u32::try_from(left).unwrap_or(u32::MAX);
        let asked = request.max_tokens.unwrap_or(u32::MAX);
        if left < asked {
            request.max_tokens = Some(left);
        }
    }
    Ok(())
}

/// What an answer used, its tool calls included. Sets the cost of its tokens.
pub(super) fn after_response(
    ctx: Ctx<'_>,
    requests: u64,
    request: &LlmRequest,
    response: &mut LlmResponse,
) -> Result<Usage, AgentError> {
    set_cost(ctx, request, response)?;
    let calls = response.calls().filter(|call| is_counted(call)).count();
    let spent = Usage {
        requests,
        tool_calls: u64::try_from(calls).unwrap_or(u64::MAX),
        tokens: response.usage,
    };
    if let Some(share) = ctx.conversation.view.share() {
        share.set(ctx.conversation.turn_spent, spent);
    }
    Ok(spent)
}

/// Checks the calls of the last answer. They are counted already, and none of them has been made.
pub(super) fn check_calls(ctx: Ctx<'_>) -> Result<(), AgentError> {
    let last = ctx.conversation.events.last();
    let calls = last.into_iter().flat_map(AgentEvent::calls);
    let calls = u64::try_from(calls.filter(|call| is_counted(call)).count()).unwrap_or(u64::MAX);
    let check = |others: Usage| {
        for (at, limits, used) in limits(ctx) {
            limits.check_calls(at, (used + others).tool_calls, calls)?;
        }
        Ok::<_, LimitExceeded>(())
    };
    match ctx.conversation.view.share() {
        None => check(Usage::default())?,
        Some(share) => share.reserve(ctx.conversation.turn_spent, Usage::default(), check)?,
    }
    Ok(())
}

/// The limits of the agent that is run, and what they count.
fn limits(ctx: Ctx<'_>) -> [(At<'_>, &Limits, Usage); 2] {
    let (root, conversation) = (ctx.root(), ctx.conversation);
    let at = |scope| At {
        agent: &ctx.agent().name,
        scope,
    };
    [
        (
            at(LimitScope::Turn),
            &root.turn_limits,
            conversation.turn_spent,
        ),
        (
            at(LimitScope::Thread),
            &root.thread_limits,
            conversation.spent,
        ),
    ]
}

fn next_request(ctx: Ctx<'_>, request: &LlmRequest, client: &Arc<dyn LlmClient>) -> NextRequest {
    let root = ctx.root();
    if !root.turn_limits.need_estimate() && !root.thread_limits.need_estimate() {
        return NextRequest::default();
    }
    let model = request.model.as_deref().or_else(|| client.model());
    let price = model
        .and_then(|model| root.prices.get(model))
        .unwrap_or_default();
    NextRequest {
        input: tokens::of_request(request),
        input_price: price.input,
        output_price: price.output,
    }
}

fn set_cost(
    ctx: Ctx<'_>,
    request: &LlmRequest,
    response: &mut LlmResponse,
) -> Result<(), AgentError> {
    let root = ctx.root();
    let usage = &mut response.usage;
    if *usage == TokenUsage::default() || usage.cost > 0.0 {
        return Ok(());
    }
    let client = ctx
        .roster
        .model(ctx.index)
        .ok()
        .and_then(|client| client.model());
    let names = [Some(&*response.model), request.model.as_deref(), client];
    let names = names.into_iter().flatten().filter(|name| !name.is_empty());
    let price = names.clone().find_map(|name| root.prices.get(name));
    if let Some(price) = price {
        usage.cost = price.cost(usage);
        return Ok(());
    }
    if root.turn_limits.need_price() || root.thread_limits.need_price() {
        return Err(AgentError::NoPrice {
            agent: ctx.agent().name.to_string(),
            model: names.map(String::from).next().unwrap_or_default(),
        });
    }
    Ok(())
}

/// Whether a call is one of a tool or of an agent, and not one that belongs to the loop itself.
fn is_counted(call: &ToolCall) -> bool {
    ![transfer::NAME, delegation::FINISH, answer_tool::NAME].contains(&&*call.name)
}
