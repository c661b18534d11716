//! One tool call, with the callbacks around it.

use serde_json::{Value, json};

use super::approval;
use super::sub_agent::{self, Answer};
use super::target::{self, Target};
use crate::conversation::{Outcome, PendingCall, Waiting};
use crate::definition::Mode;
use crate::error::shortened;
use crate::extension::ToolStep;
use crate::guardrail::GuardrailEvent;
use crate::human::{confirmation, credential};
use crate::limits::Usage;
use crate::output;
use crate::turn::ctx::Ctx;
use crate::turn::guard;
use crate::turn::model::guarded;
use crate::turn::model::validators;
use crate::turn::own_tools::answer_tool;
use crate::turn::own_tools::delegation;
use crate::turn::own_tools::tool_search;
use crate::turn::own_tools::transfer;
use crate::turn::spans;
use crate::{AgentError, AgentEvent};
use petalflow::BoxError;
use petalflow::error::catch_panic;
use petalflow::tool::{Actions, Tool, ToolCall, ToolContext, ToolError, ToolResult};
use petalflow_llm::ChatMessage;

/// What a call produces besides its result.
#[derive(Default)]
struct SideEffects {
    /// Whether the result may come later.
    later: bool,
    /// The events of the agent that was called.
    inner: Vec<AgentEvent>,
    /// That agent, if it waits for a person.
    waiting: Option<Waiting>,
    /// What that agent used.
    spent: Option<Usage>,
    /// What guardrails have done.
    guardrails: Vec<GuardrailEvent>,
    /// What replaces the answer that the call gives, if a guardrail or a callback has changed it.
    answer: Option<String>,
    /// Whether validators have passed the answer that the call gives.
    was_validated: bool,
}

/// Makes a call.
///
/// # Errors
///
/// An error that ends the run. Other errors are results, which the model reads.
pub(in crate::turn) async fn call(
    ctx: Ctx<'_>,
    pending: &PendingCall,
) -> Result<Outcome, BoxError> {
    let mut step = ToolStep::new(ctx.position(), &pending.call);
    let changed = pending
        .confirmation
        .as_ref()
        .filter(|decision| decision.confirmed);
    let changed = changed.and_then(|decision| decision.arguments.as_ref());
    if let Some(arguments) = changed {
        step.arguments.clone_from(arguments);
    }
    let mut effects = SideEffects::default();
    let result = with_callbacks(ctx, &mut step, pending, &mut effects).await;
    let result = match (result, changed) {
        (Err(error), _) if AgentError::ends_run(&*error) => return Err(error),
        // The model has to know what was done.
        (Ok(result), Some(arguments)) if !effects.later => {
            Ok(confirmation::with_changed(arguments, result))
        }
        (result, _) => result,
    };
    let call = &pending.call;
    if let Ok(result) = &result
        && let Some(text) = answer_in(ctx, &call.name, &step.arguments, result)
    {
        let answer = guarded::answer(ctx, &text, &mut effects.guardrails);
        let replaced = Box::pin(answer).await?;
        let is_function = ctx.agent().output_function(&call.name).is_some();
        let is_changed = !is_function && step.arguments != call.arguments;
        // A callback may have answered in place of the validators.
        let was_validated = effects.was_validated;
        effects.answer = replaced.or_else(|| (is_changed || was_validated).then_some(text));
    }
    Ok(outcome(ctx, pending, result, step.actions, effects))
}

/// The outcome of a call with this result. Without an event if the result comes later.
fn outcome(
    ctx: Ctx<'_>,
    pending: &PendingCall,
    result: Result<Value, BoxError>,
    mut actions: Actions,
    effects: SideEffects,
) -> Outcome {
    let spec = ctx
        .agent()
        .specs()
        .iter()
        .find(|spec| spec.name == pending.call.name);
    let waits = (effects.later || spec.is_some_and(|spec| spec.long_running || spec.deferred))
        // A call that asks a person needs an event.
        && actions.requested_confirmations.is_empty()
        && actions.requested_credentials.is_empty();
    let mut state = serde_json::Map::new();
    let event = if waits && matches!(&result, Ok(Value::Null)) {
        state = std::mem::take(&mut actions.state_delta);
        None
    } else {
        let guardrails = effects.guardrails;
        Some(AgentEvent {
            guardrails,
            ..result_event(ctx, &pending.call, result, actions)
        })
    };
    Outcome {
        index: pending.index,
        call_id: pending.call.id.clone(),
        // A callback may have answered instead of the agent.
        waiting: effects.waiting.filter(|_| event.is_none()),
        inner: effects.inner,
        event,
        state,
        spent: effects.spent,
        answer: effects.answer,
    }
}

/// The answer that a call of this tool gives, if it gives one.
fn answer_in(ctx: Ctx<'_>, tool: &str, arguments: &Value, result: &Value) -> Option<String> {
    if ctx.agent().output_function(tool).is_some() {
        return Some(output::text_of(result));
    }
    match tool {
        delegation::FINISH if ctx.agent().mode == Mode::Task => {
            Some(delegation::answer(ctx.agent(), arguments))
        }
        answer_tool::NAME if answer_tool::is_used(ctx) => Some(arguments.to_string()),
        _ => None,
    }
}

/// The event of a result.
fn result_event(
    ctx: Ctx<'_>,
    call: &ToolCall,
    result: Result<Value, BoxError>,
    actions: Actions,
) -> AgentEvent {
    let (content, is_error) = match result {
        Ok(content) => (content, false),
        Err(error) => (
            json!({ "error": petalflow::error::message_with_sources(&*error) }),
            true,
        ),
    };
    let result = ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content,
        is_error,
    };
    AgentEvent {
        message: Some(ChatMessage::results([result])),
        actions,
        ..ctx.event(0)
    }
}

/// Makes the call with its callbacks: the callbacks before the tool, the tool unless one of them returned a result,
/// the callbacks for an error, and the callbacks after the tool.
async fn with_callbacks(
    ctx: Ctx<'_>,
    step: &mut ToolStep<'_>,
    pending: &PendingCall,
    effects: &mut SideEffects,
) -> Result<Value, BoxError> {
    let mut result = match target::find(ctx, &step.call().name).await {
        Err(error) => Err(error),
        Ok(target) => match guard::tool_call(ctx, step, &mut effects.guardrails).await? {
            Some(message) => Err(message.into()),
            None => match before_tool(ctx, step).await {
                Ok(None) => run(ctx, step, &target, pending, effects).await,
                Ok(Some(value)) => Ok(value),
                Err(error) => Err(error),
            },
        },
    };
    if let Err(error) = &mut result {
        if AgentError::ends_run(&**error) {
            return result;
        }
        for callback in ctx.callbacks() {
            match callback.on_tool_error(step, error).await {
                Ok(None) => continue,
                Ok(Some(value)) => result = Ok(value),
                Err(other) => *error = other,
            }
            break;
        }
    }
    for callback in ctx.callbacks() {
        match callback.after_tool(step, &result).await {
            Ok(None) => continue,
            Ok(Some(value)) => result = Ok(value),
            Err(error) => result = Err(error),
        }
        break;
    }
    result
}

/// Runs the callbacks before the tool. Returns the result of the first one that has one.
async fn before_tool(ctx: Ctx<'_>, step: &mut ToolStep<'_>) -> Result<Option<Value>, BoxError> {
    for callback in ctx.callbacks() {
        if let Some(value) = callback.before_tool(step).await? {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// Runs the call itself.
async fn run(
    ctx: Ctx<'_>,
    step: &mut ToolStep<'_>,
    target: &Target,
    pending: &PendingCall,
    effects: &mut SideEffects,
) -> Result<Value, BoxError> {
    check_is_object(step)?;
    if !matches!(target, Target::Agent(_)) {
        // A replay enters the conversation of a called agent, and calls no tool.
        ctx.cx.leave_if_prepared().await?;
    }
    match target {
        Target::Tool(tool) => {
            answer_tool::check_is_first(ctx, step.call())?;
            run_tool(ctx, step, &spans::tool(tool), pending, effects).await
        }
        Target::Transfer => {
            let name = transfer::agent_name(&step.arguments)?;
            transfer::target(ctx.tree, ctx.index, name)?;
            step.actions.transfer_to_agent = Some(name.into());
            Ok(Value::Null)
        }
        Target::Output => {
            effects.was_validated = check_output(ctx, &step.arguments).await?;
            Ok(json!({ "result": answer_tool::RESULT }))
        }
        Target::Finish => {
            effects.was_validated = check_output(ctx, &step.arguments).await?;
            Ok(json!({ "result": "Task completed." }))
        }
        Target::Search => tool_search::search(ctx, &step.arguments).await,
        Target::Task | Target::Client => {
            approval::check_later(ctx, step)?;
            effects.later = true;
            Ok(Value::Null)
        }
        Target::Agent(index) => {
            // A call that waits for a person was approved when it began.
            if pending.answer.is_none() {
                approval::check(ctx, step, pending, |_| None)?;
            }
            // Boxed: it is larger than the other branches.
            Box::pin(run_agent(ctx, *index, step, pending, effects)).await
        }
    }
}

/// Checks that the arguments are a JSON object.
fn check_is_object(step: &ToolStep<'_>) -> Result<(), ToolError> {
    let text = match &step.arguments {
        Value::Object(_) => return Ok(()),
        _ if step.call().error.is_some() => {
            return Err(ToolError::Arguments(
                step.call().error.clone().unwrap_or_default(),
            ));
        }
        Value::String(text) => shortened(text).into_owned(),
        other => shortened(&other.to_string()).into_owned(),
    };
    Err(ToolError::Arguments(format!(
        "the arguments of tool `{}` are not a JSON object: {text}; call it again with an object that fits its schema",
        step.call().name
    )))
}

/// Calls the agent at `index`.
async fn run_agent(
    ctx: Ctx<'_>,
    index: usize,
    step: &mut ToolStep<'_>,
    pending: &PendingCall,
    effects: &mut SideEffects,
) -> Result<Value, BoxError> {
    let answer = sub_agent::call(ctx, index, pending, &mut effects.spent).await?;
    step.actions.state_delta.extend(answer.state);
    effects.inner = answer.events;
    match answer.answer {
        Answer::Complete(answer) => Ok(answer),
        Answer::Waiting(waiting) => {
            effects.later = true;
            effects.waiting = Some(*waiting);
            Ok(Value::Null)
        }
    }
}

/// Checks that the arguments match the agent's output schema, and that the validators pass them. Returns whether there are any.
async fn check_output(ctx: Ctx<'_>, arguments: &Value) -> Result<bool, BoxError> {
    let output = ctx.agent().output.as_ref();
    let checked = output.map_or(Ok(()), |output| output.check(arguments));
    checked.map_err(|problem| {
        ToolError::Arguments(format!(
            "the arguments do not fit the schema at {problem}; call it again with arguments that do"
        ))
    })?;
    match Box::pin(validators::problem(ctx, arguments)).await? {
        Some(problem) => Err(problem.into()),
        None => Ok(!ctx.agent().output_validators.is_empty()),
    }
}

async fn run_tool(
    ctx: Ctx<'_>,
    step: &mut ToolStep<'_>,
    tool: &dyn Tool,
    pending: &PendingCall,
    effects: &mut SideEffects,
) -> Result<Value, BoxError> {
    let call = step.call();
    let spec = tool.spec();
    effects.later = spec.long_running || spec.deferred;
    let tool_cx = tool_context(ctx, step, tool, pending)?;
    let _permit = ctx
        .conversation
        .resources
        .permit(ctx.root().parallel_tools)
        .await;
    let running = async {
        let called = tool.call(step.arguments.clone(), &tool_cx);
        let result = match ctx.agent().tool_timeout {
            None => called.await,
            Some(time) => tokio::time::timeout(time, called)
                .await
                .unwrap_or_else(|_| Err(ToolError::Timeout(call.name.clone(), time))),
        };
        result.map_err(BoxError::from)
    };
    // A panic of a tool must not end the conversation.
    let result = catch_panic(running).await;
    let more = tool_cx.take_actions();
    if !more.is_empty() {
        let before = std::mem::take(&mut step.actions);
        step.actions = petalflow::tool::merge([Some(before), Some(more)]).unwrap_or_default();
    }
    match result {
        Ok(result) => result,
        Err(panicked) => Err(format!("tool `{}` {panicked}", call.name).into()),
    }
}

/// The context of the tool: the decision and the credential of a person, and the state. Fails if a person must decide
/// first, or has refused.
fn tool_context(
    ctx: Ctx<'_>,
    step: &mut ToolStep<'_>,
    tool: &dyn Tool,
    pending: &PendingCall,
) -> Result<ToolContext, BoxError> {
    let call = step.call();
    let mut tool_cx = ToolContext::within(&*call.id, ctx.cx);
    let confirmation = approval::check(ctx, step, pending, |arguments| tool.confirm(arguments))?;
    if let Some(confirmation) = confirmation {
        tool_cx = tool_cx.with_confirmation(confirmation);
    }
    match &pending.credential {
        Some(Value::Null) => return Err(credential::DECLINED.into()),
        Some(credential) => tool_cx = tool_cx.with_credential(credential.clone()),
        None => {}
    }
    let state = &ctx.conversation.state;
    if !state.is_empty() || !step.actions.state_delta.is_empty() {
        let mut state = state.clone();
        state.extend(step.actions.state_delta.clone());
        tool_cx = tool_cx.with_state(state);
    }
    Ok(tool_cx)
}
