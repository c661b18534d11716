//! Answers that do not have the requested form. They go back to the model, with the problem.

use super::validators;
use crate::definition::Mode;
use crate::event::Repair;
use crate::turn::ctx::Ctx;
use crate::turn::own_tools::answer_tool;
use crate::turn::own_tools::delegation;
use crate::{AgentError, AgentEvent, output};
use petalflow::BoxError;
use petalflow::tool::ToolResult;
use petalflow_llm::ChatMessage;
use petalflow_llm::response::FinishReason;
use serde_json::Value;

/// Whether the agent's answers have a form that [`request`] checks. That of a task is checked where it is finished.
pub(in crate::turn) fn has_form(ctx: Ctx<'_>) -> bool {
    let agent = ctx.agent();
    agent.has_output() && agent.mode != Mode::Task
}

/// Checks an answer that would end the turn, or `None` for an empty one. If it does not have the requested form, marks it
/// and returns the event, with this number, that asks for another one.
///
/// # Errors
///
/// If too many answers of the turn did not have the form, or the model refused to give one.
pub(in crate::turn) async fn request(
    ctx: Ctx<'_>,
    mut answer: Option<&mut AgentEvent>,
    number: usize,
) -> Result<Option<AgentEvent>, BoxError> {
    let agent = ctx.agent();
    let output = agent.output.as_ref();
    let text = answer.as_deref().map(AgentEvent::text).unwrap_or_default();
    let problem = match answer.as_deref() {
        // The provider or the user stopped the model.
        Some(answer) if answer.error.is_some() || answer.interrupted => return Ok(None),
        Some(answer) if answer.finish == Some(FinishReason::Refusal) => {
            let reason = answer.finish_message.clone().unwrap_or(text);
            let agent = agent.name.to_string();
            return Err(AgentError::Refused { agent, reason }.into());
        }
        Some(answer) if !text.trim().is_empty() => match check_text(ctx, &text).await? {
            Ok(()) => return Ok(None),
            Err(problem) if answer.finish == Some(FinishReason::Length) => {
                format!("it was cut off at the maximum number of tokens ({problem})")
            }
            Err(problem) => problem,
        },
        _ => "it is empty".into(),
    };
    let repair = next_repair(ctx, problem, &text)?;
    if let Some(answer) = &mut answer {
        answer.repair = Some(repair.clone());
    }
    let instruction = match output {
        Some(output) if !answer_tool::is_used(ctx) => format!(
            "Answer again with JSON that fits this schema, and with nothing else: {}",
            output.schema
        ),
        _ => format!("Give the answer by calling {}.", answer_tool::names(ctx)),
    };
    let correction = output::correction(&repair.problem, &instruction);
    Ok(Some(AgentEvent {
        message: Some(ChatMessage::user(correction)),
        repair: Some(repair),
        ..ctx.event(number)
    }))
}

/// Checks the text of an answer: its form, and what the validators say.
async fn check_text(ctx: Ctx<'_>, text: &str) -> Result<Result<(), String>, BoxError> {
    let Some(output) = &ctx.agent().output else {
        return Ok(Err("it is a text, and not a call".into()));
    };
    Ok(match output.check_text(text) {
        Ok(answer) => validators::problem(ctx, &answer).await?.map_or(Ok(()), Err),
        Err(problem) => Err(problem),
    })
}

/// The repair that these results ask for: of an answer that was given with a tool, and of the result of a task.
///
/// # Errors
///
/// If too many answers of the turn did not have the form.
pub(in crate::turn) fn of_results(
    ctx: Ctx<'_>,
    results: &AgentEvent,
) -> Result<Option<Repair>, AgentError> {
    let agent = ctx.agent();
    if !agent.has_output() {
        return Ok(None);
    }
    let gives_answer = |tool: &str| match agent.mode {
        Mode::Task => tool == delegation::FINISH,
        _ => answer_tool::gives_answer(ctx, tool),
    };
    let waits = |call: &str| {
        let actions = &results.actions;
        actions.requested_confirmations.contains_key(call)
            || actions.requested_credentials.contains_key(call)
    };
    let answers = || {
        let results = results.results();
        results.filter(|result| gives_answer(&result.name) && !waits(&result.call_id))
    };
    let Some(last) = answers().last() else {
        return Ok(None);
    };
    if answers().any(|result| fits(ctx, result)) {
        return Ok(None);
    }
    let problem = match &last.content["error"] {
        Value::String(problem) => problem.clone(),
        _ => "the arguments do not fit the schema".into(),
    };
    let call = ctx.call(&last.call_id);
    let text = call.map(|call| call.arguments.to_string());
    next_repair(ctx, problem, &text.unwrap_or_default()).map(Some)
}

/// Whether the call with this result gave an answer of the requested form. A callback may have replaced the error.
pub(in crate::turn) fn fits(ctx: Ctx<'_>, result: &ToolResult) -> bool {
    let agent = ctx.agent();
    if result.is_error || agent.output_function(&result.name).is_some() {
        return !result.is_error;
    }
    // The validators have passed the answers that are noted.
    if !agent.output_validators.is_empty() && !is_noted(ctx, &result.call_id) {
        return false;
    }
    let output = agent.output.as_ref();
    let call = ctx.call(&result.call_id);
    output
        .zip(call)
        .is_none_or(|(output, call)| output.check(&call.arguments).is_ok())
}

/// Whether the outcome of the call has an answer.
fn is_noted(ctx: Ctx<'_>, call_id: &str) -> bool {
    let mut outcomes = ctx.conversation.outcomes.iter();
    outcomes.any(|outcome| outcome.call_id == call_id && outcome.answer.is_some())
}

/// The next repair of the turn. The events of the turn count the earlier ones, so that a resumed turn continues the count.
fn next_repair(ctx: Ctx<'_>, problem: String, answer: &str) -> Result<Repair, AgentError> {
    let agent = ctx.agent();
    let conversation = ctx.conversation;
    let events = conversation.events.iter().rev();
    // Called agents have turns and branches of their own.
    let of_turn = events.take_while(|event| {
        event.invocation == conversation.turn_id || event.branch != conversation.branch
    });
    let earlier = of_turn.filter_map(|event| {
        let is_own = event.invocation == conversation.turn_id && event.author == *agent.name;
        event.repair.as_ref().filter(|_| is_own)
    });
    let number = earlier.map(|repair| repair.number).max().unwrap_or(0) + 1;
    if number > agent.max_repairs {
        return Err(AgentError::InvalidOutput {
            agent: agent.name.to_string(),
            answers: number,
            problem,
            answer: answer.into(),
        });
    }
    Ok(Repair { number, problem })
}
