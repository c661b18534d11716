//! Counts what requests and tool calls use, and checks the limits before them.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use super::ctx::Ctx;
use super::prices;
use crate::conversation::ConversationUnfinished;
use crate::extension::ModelCall;
use crate::limits::{At, CallLimits, LimitExceeded, LimitScope, Limits, NextRequest, Share, Usage};
use crate::turn::own_tools::answer_tool;
use crate::turn::own_tools::delegation;
use crate::turn::own_tools::transfer;
use crate::{AgentError, AgentEvent, tokens};
use petalflow::BoxError;
use petalflow::tool::ToolCall;
use petalflow_llm::usage::Price;
use petalflow_llm::{LlmClient, LlmRequest, LlmResponse, TokenUsage};

/// Checks a request against the limits, and makes it ask for no more tokens than are left.
pub(super) fn before_request(
    ctx: Ctx<'_>,
    request: &mut LlmRequest,
    client: &Arc<dyn LlmClient>,
) -> Result<(), AgentError> {
    let conversation = ctx.conversation;
    let next = next_request(ctx, request, client)?;
    let mut left: Option<u64> = None;
    let mut check = |others: Usage, calls: &[(&CallLimits, Usage)]| {
        for (at, limits, used) in all_limits(ctx, others, calls) {
            let output = limits.check_request(at, &used, &next)?;
            left = [left, output].into_iter().flatten().min();
        }
        Ok::<_, LimitExceeded>(())
    };
    match ctx.share {
        None => check(Usage::default(), &[])?,
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
            let finished = conversation.resources.take_finished_calls();
            share.reserve(used_in_turn(ctx), &finished, reserved, check)?;
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
pub(super) async fn after_response(
    ctx: Ctx<'_>,
    requests: u64,
    request: &LlmRequest,
    response: &mut LlmResponse,
) -> Result<Usage, BoxError> {
    let calls = response.calls().filter(|call| is_counted(call)).count();
    let mut spent = Usage {
        requests,
        tool_calls: u64::try_from(calls).unwrap_or(u64::MAX),
        tokens: response.usage,
    };
    if requests > 0 {
        estimate_missing(ctx, request, response);
        spent.tokens = response.usage;
    }
    let priced = set_cost(ctx, request, &response.model, &mut response.usage);
    spent.tokens = response.usage;
    if let Err(error) = priced {
        add_unwritten(ctx, spent).await?;
        return Err(error.into());
    }
    if let Some(share) = ctx.share {
        share.set(used_in_turn(ctx), spent);
        // With the checkpoint that has the answer.
        for (call, used) in share.recorded() {
            let write = ConversationUnfinished(used);
            ctx.cx.record_unfinished_of(call, write).await?;
        }
    }
    Ok(spent)
}

/// Counts the answer of a call that fails after it.
pub(super) async fn failed(ctx: Ctx<'_>, call: &ModelCall<'_>) -> Result<(), BoxError> {
    let Some(mut tokens) = call.used else {
        return Ok(());
    };
    // The call fails with its own error.
    let _ = set_cost(ctx, &call.request, "", &mut tokens);
    let spent = Usage {
        requests: call.requests,
        tokens,
        ..Usage::default()
    };
    add_unwritten(ctx, spent).await
}

/// Counts what a step has used before it has a result: for its next request and its next attempt, and in case that it never has
/// one.
pub(super) async fn add_unwritten(ctx: Ctx<'_>, spent: Usage) -> Result<(), BoxError> {
    let unwritten = {
        let mut unwritten = ctx.conversation.resources.unwritten();
        *unwritten += Usage {
            // Only the calls of a result are made.
            tool_calls: 0,
            ..spent
        };
        *unwritten
    };
    if let Some(share) = ctx.share {
        share.set(used_in_turn(ctx), Usage::default());
        // At once: the step that has failed writes no checkpoint.
        for (call, used) in share.recorded() {
            let write = ConversationUnfinished(used);
            call.record_unfinished(write).await?;
        }
    }
    let write = ConversationUnfinished(unwritten);
    ctx.cx.record_unfinished(write).await
}

/// Reads what earlier attempts of the step have used, if they were in a process that stopped.
pub(super) fn restore_unwritten(ctx: Ctx<'_>) {
    let mut unwritten = ctx.conversation.resources.unwritten();
    if *unwritten == Usage::default()
        && let Some(recorded) = ctx.cx.unfinished::<ConversationUnfinished>()
    {
        *unwritten = recorded;
    }
}

/// What a step writes: what it has used last, and before.
pub(super) fn with_unwritten(ctx: Ctx<'_>, spent: Usage) -> Usage {
    spent + std::mem::take(&mut *ctx.conversation.resources.unwritten())
}

/// The part of an agent that is called now, with the limits of the call. Agents whose calls resume know at once what the others had
/// used.
pub(super) async fn share_of_call(ctx: Ctx<'_>, limits: CallLimits) -> Share {
    let before = ctx.cx.unfinished::<ConversationUnfinished>();
    let conversation = ctx.conversation;
    let used = conversation.turn_spent;
    let resources = &conversation.resources;
    let had_used = before.unwrap_or_default();
    let share = resources.share_of_call(ctx.share, used, had_used, ctx.cx, limits);
    let mut waited = before.is_none();
    poll_fn(|cx| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
    share
}

/// What was used in the turn, with what the step has not written.
fn used_in_turn(ctx: Ctx<'_>) -> Usage {
    ctx.conversation.turn_spent + *ctx.conversation.resources.unwritten()
}

/// Checks the calls of the last answer. They are counted already, and none of them has been made.
pub(super) fn check_calls(ctx: Ctx<'_>) -> Result<(), AgentError> {
    let last = ctx.conversation.events.last();
    let calls = last.into_iter().flat_map(AgentEvent::calls);
    let calls = u64::try_from(calls.filter(|call| is_counted(call)).count()).unwrap_or(u64::MAX);
    let check = |others: Usage, of_calls: &[(&CallLimits, Usage)]| {
        for (at, limits, used) in all_limits(ctx, others, of_calls) {
            limits.check_calls(at, used.tool_calls, calls)?;
        }
        Ok::<_, LimitExceeded>(())
    };
    match ctx.share {
        None => check(Usage::default(), &[])?,
        Some(share) => {
            let used = ctx.conversation.turn_spent;
            share.reserve(used, &[], Usage::default(), check)?;
        }
    }
    Ok(())
}

/// The limits of the agent that is run and those of calls, and what they count. Other agents have used `others`.
fn all_limits<'a>(
    ctx: Ctx<'a>,
    others: Usage,
    calls: &'a [(&'a CallLimits, Usage)],
) -> impl Iterator<Item = (At<'a>, &'a Limits, Usage)> {
    let of_run = limits(ctx).into_iter();
    let of_run = of_run.map(move |(at, limits, used)| (at, limits, used + others));
    of_run.chain(calls.iter().map(|(call, used)| {
        let at = At {
            agent: &call.agent,
            scope: LimitScope::Call,
        };
        (at, &call.limits, *used)
    }))
}

/// The limits of the agent that is run, and what they count.
fn limits(ctx: Ctx<'_>) -> [(At<'_>, &Limits, Usage); 2] {
    let (root, conversation) = (ctx.root(), ctx.conversation);
    let unwritten = *conversation.resources.unwritten();
    let at = |scope| At {
        agent: &ctx.agent().name,
        scope,
    };
    [
        (
            at(LimitScope::Turn),
            &root.turn_limits,
            conversation.turn_spent + unwritten,
        ),
        (
            at(LimitScope::Thread),
            &root.thread_limits,
            conversation.spent + unwritten,
        ),
    ]
}

/// What is known about a request before it is made. If money is limited, its model must have a price.
fn next_request(
    ctx: Ctx<'_>,
    request: &LlmRequest,
    client: &Arc<dyn LlmClient>,
) -> Result<NextRequest, AgentError> {
    if !needs_estimate(ctx) {
        return Ok(NextRequest::default());
    }
    let input = tokens::of_request(request);
    let model = request.model.as_deref().or_else(|| client.model());
    let prices = prices::of_request(ctx.tree, ctx.index, client, model)?;
    let highest = |of: fn(&Price) -> f64| prices.iter().map(of).fold(0.0, f64::max);
    Ok(NextRequest {
        input,
        input_price: highest(Price::highest_input),
        output_price: highest(Price::highest_output),
    })
}

/// Sets the cost of an answer, unless its client has set it.
fn set_cost(
    ctx: Ctx<'_>,
    request: &LlmRequest,
    model: &str,
    usage: &mut TokenUsage,
) -> Result<(), AgentError> {
    if *usage == TokenUsage::default() || usage.cost > 0.0 {
        return Ok(());
    }
    let Ok(client) = ctx.tree.model(ctx.index) else {
        return Ok(());
    };
    let names = [Some(model), request.model.as_deref(), client.model()];
    let names = names.into_iter().flatten().filter(|name| !name.is_empty());
    let mut known = names
        .clone()
        .filter_map(|name| prices::of_model(ctx.tree, ctx.index, client, name));
    let cost = if names.clone().next().is_some() {
        known.next().map(|price| price.cost(usage))
    } else {
        // As before the request: it may be any of the models.
        let all = prices::all(ctx.tree, ctx.index);
        all.map(|price| price.cost(usage)).reduce(f64::max)
    };
    match cost {
        Some(cost) => usage.cost = cost,
        None if prices::are_needed(ctx.tree, ctx.index) => {
            let model = names.clone().next().unwrap_or_default();
            return Err(prices::missing(ctx.tree, ctx.index, model));
        }
        None => {}
    }
    Ok(())
}

/// Estimates the usage of an answer whose server reports none, so that limits hold. The answer says so.
fn estimate_missing(ctx: Ctx<'_>, request: &LlmRequest, response: &mut LlmResponse) {
    if response.usage != TokenUsage::default() || !needs_estimate(ctx) {
        return;
    }
    let output = response.message.as_ref().map_or(0, tokens::of_message);
    let input = tokens::of_request(request);
    response.usage = TokenUsage {
        input,
        output,
        total: input.saturating_add(output),
        ..TokenUsage::default()
    };
    let estimated = "estimated_usage".to_string();
    response.meta.insert(estimated, true.into());
}

fn needs_estimate(ctx: Ctx<'_>) -> bool {
    let root = ctx.root();
    root.turn_limits.need_estimate()
        || root.thread_limits.need_estimate()
        || ctx.share.is_some_and(Share::need_estimate)
}

/// Whether a call is one of a tool or of an agent, and not one that belongs to the loop itself.
fn is_counted(call: &ToolCall) -> bool {
    ![transfer::NAME, delegation::FINISH, answer_tool::NAME].contains(&&*call.name)
}
