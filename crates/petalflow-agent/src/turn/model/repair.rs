//! Answers that do not have the requested form. They go back to the model, with the problem.

use crate::definition::Mode;
use crate::event::Repair;
use crate::turn::ctx::Ctx;
use crate::turn::own_tools::answer_tool;
use crate::turn::own_tools::delegation;
use crate::{AgentError, AgentEvent, output};
use petalflow::tool::ToolResult;
use petalflow_llm::ChatMessage;
use petalflow_llm::response::FinishReason;
use serde_json::Value;

/// Checks an answer that would end the turn, or `None` for an empty one. If it does not have the requested form, marks it
/// and returns the event, with this number, that asks for another one.
///
/// # Errors
///
/// If too many answers of the turn did not have the form, or the model refused to give one.
pub(in crate::turn) fn request(
    ctx: Ctx<'_>,
    mut answer: Option<&mut AgentEvent>,
    number: usize,
) -> Result<Option<AgentEvent>, AgentError> {
    let agent = ctx.agent();
    let Some(output) = agent.output.as_ref().filter(|_| agent.mode != Mode::Task) else {
        return Ok(None);
    };
    let text = answer.as_deref().map(AgentEvent::text).unwrap_or_default();
    let problem = match answer.as_deref() {
        // The provider or the user stopped the model.
        Some(answer) if answer.error.is_some() || answer.interrupted => return Ok(None),
        Some(answer) if answer.finish == Some(FinishReason::Refusal) => {
            let reason = answer.finish_message.clone().unwrap_or(text);
            let agent = agent.name.to_string();
            return Err(AgentError::Refused { agent, reason });
        }
        Some(answer) if !text.trim().is_empty() => match output.check_text(&text) {
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
    let instruction = if answer_tool::is_used(ctx) {
        format!("Give the answer by calling `{}`.", answer_tool::NAME)
    } else {
        format!(
            "Answer again with JSON that fits this schema, and with nothing else: {}",
            output.schema
        )
    };
    let correction = output::correction(&repair.problem, &instruction);
    Ok(Some(AgentEvent {
        message: Some(ChatMessage::user(correction)),
        repair: Some(repair),
        ..ctx.event(number)
    }))
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
    let tool = match agent.mode {
        _ if agent.output.is_none() => return Ok(None),
        Mode::Task => delegation::FINISH,
        _ if answer_tool::is_used(ctx) => answer_tool::NAME,
        _ => return Ok(None),
    };
    let answers = || results.results().filter(|result| result.name == tool);
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
    let output = ctx.agent().output.as_ref();
    let call = ctx.call(&result.call_id);
    !result.is_error
        && output
            .zip(call)
            .is_none_or(|(output, call)| output.check(&call.arguments).is_ok())
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
