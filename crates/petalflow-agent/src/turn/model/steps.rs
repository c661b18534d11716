//! The built-in steps that build a request and process an answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::code;
use crate::artifacts::ArtifactFolder;
use crate::conversation::cut::MessageOrigin;
use crate::conversation::history::{self, ResultWithoutCall};
use crate::definition::{History, Instruction, Mode};
use crate::extension::{Artifacts, ModelCall, RequestStep, ResponseStep};
use crate::turn::ctx::Ctx;
use crate::turn::own_tools::answer_tool;
use crate::turn::own_tools::delegation;
use crate::turn::own_tools::transfer;
use crate::{AgentError, tokens};
use petalflow::BoxError;
use petalflow_llm::{ChatMessage, LlmResponse};

/// Runs the agent's steps that build the request.
pub(in crate::turn) async fn build_request(
    ctx: Ctx<'_>,
    call: &mut ModelCall<'_>,
) -> Result<(), BoxError> {
    for step in &ctx.agent().request_steps {
        match step {
            RequestStep::Settings => call.request = ctx.agent().request.clone(),
            RequestStep::Instructions => instructions(ctx, call).await?,
            RequestStep::Identity => identity(ctx, call),
            RequestStep::Conversation => conversation(ctx, call)?,
            RequestStep::Planner => {
                if let Some(planner) = &ctx.agent().planner {
                    planner.plan(call).await?;
                }
            }
            RequestStep::Code => {
                if let Some(executor) = &ctx.agent().code_executor {
                    call.instruct(&code::instruction(&**executor));
                }
            }
            RequestStep::Output => output(ctx, call),
            RequestStep::Transfers => {
                if let Some(text) = transfer::instruction(ctx) {
                    call.instruct(&text);
                }
            }
            RequestStep::Custom(processor) => processor.process(call).await?,
        }
    }
    Ok(())
}

/// Runs the agent's steps that process an answer, or a piece of one.
pub(in crate::turn) async fn process_response(
    ctx: Ctx<'_>,
    call: &mut ModelCall<'_>,
    response: &mut LlmResponse,
) -> Result<(), BoxError> {
    for step in &ctx.agent().response_steps {
        match step {
            ResponseStep::Planner => {
                if let (Some(planner), Some(message)) =
                    (&ctx.agent().planner, &mut response.message)
                {
                    let parts = std::mem::take(&mut message.parts);
                    message.parts = planner.read(call, parts).await?;
                }
            }
            ResponseStep::Code => {
                if let Some(executor) = &ctx.agent().code_executor
                    && !call.is_partial()
                    && let Some(message) = &mut response.message
                    && code::may_run(ctx, &**executor)
                    && let Some(parts) = code::up_to_code(&message.parts, executor.language())
                {
                    message.parts = parts;
                }
            }
            ResponseStep::Custom(processor) => processor.process(call, response).await?,
        }
    }
    Ok(())
}

async fn instructions(ctx: Ctx<'_>, call: &mut ModelCall<'_>) -> Result<(), BoxError> {
    for instruction in ctx.root().global.iter().chain(&ctx.agent().instructions) {
        let text = instruction_text(ctx, instruction, call).await?;
        call.instruct(&text);
    }
    Ok(())
}

/// The text of an instruction for this call.
async fn instruction_text(
    ctx: Ctx<'_>,
    instruction: &Instruction,
    call: &ModelCall<'_>,
) -> Result<String, BoxError> {
    let template = match instruction {
        Instruction::Written(write) => return write(call),
        Instruction::Text(template) => template,
    };
    let mut artifacts = BTreeMap::new();
    for name in template.artifacts() {
        let source = ctx.agent().artifacts.as_ref();
        let managed = || {
            ctx.cx
                .managed::<ArtifactFolder>()
                .map(|folder| folder as Arc<dyn Artifacts>)
        };
        let source = source.or(ctx.root().artifacts.as_ref()).cloned();
        let Some(source) = source.or_else(managed) else {
            return Err(AgentError::Request(format!(
                "the instructions of agent `{}` need the artifact `{name}`, but it has no artifacts: give it some with `.artifacts(..)`, or manage an `ArtifactFolder` in the launch",
                call.agent()
            ))
            .into());
        };
        if let Some(text) = source.text(name).await? {
            artifacts.insert(name.to_string(), text);
        }
    }
    let filled = template.fill(|key| call.state(key), &artifacts);
    Ok(filled.map_err(|missing| AgentError::Request(missing.to_string()))?)
}

fn identity(ctx: Ctx<'_>, call: &mut ModelCall<'_>) {
    let agent = ctx.agent();
    // A `SingleTurn` agent gets only its own instructions.
    if agent.named && agent.mode != Mode::SingleTurn {
        let mut text = format!(
            "You are an agent. Your internal name is \"{}\".",
            agent.name
        );
        if !agent.description.is_empty() {
            text.push_str(" The description about you is \"");
            text.push_str(&agent.description);
            text.push_str("\".");
        }
        call.instruct(&text);
    }
    if agent.mode == Mode::Task {
        call.instruct(delegation::INSTRUCTION);
    }
}

fn conversation(ctx: Ctx<'_>, call: &mut ModelCall<'_>) -> Result<(), AgentError> {
    let (reader, events) = (ctx.reader(), &*ctx.conversation.events);
    call.request.messages = match ctx.agent().history {
        History::All | History::WithCalled => {
            let cut = reader.cut(&ctx.conversation.cuts, events);
            let messages = ctx.conversation.view.messages(events, &reader, cut);
            messages.map_err(invalid)?
        }
        History::Turn => {
            let messages = messages(ctx)?.into_iter();
            Arc::new(messages.map(|(_, message)| message).collect())
        }
    };
    Ok(())
}

/// The messages that the model reads, with the index of their events.
pub(in crate::turn) fn messages(
    ctx: Ctx<'_>,
) -> Result<Vec<(MessageOrigin, ChatMessage)>, AgentError> {
    let (reader, events) = (ctx.reader(), &*ctx.conversation.events);
    let cut = reader.cut(&ctx.conversation.cuts, events);
    let turn = match ctx.agent().history {
        History::All | History::WithCalled => 0,
        History::Turn => history::turn_start(events, &reader),
    };
    let messages = match cut {
        Some(cut) if cut.from >= turn => history::messages(events, &reader, Some(cut)),
        _ => history::messages(&events[turn..], &reader, None).map(|mut messages| {
            let origins = messages
                .iter_mut()
                .filter_map(|(origin, _)| origin.as_mut());
            origins.for_each(|origin| *origin += turn);
            messages
        }),
    };
    messages.map_err(invalid)
}

/// The number of messages that the model reads, and an estimate of their tokens.
pub(in crate::turn) fn size(ctx: Ctx<'_>) -> Result<(usize, u64), AgentError> {
    let (reader, events) = (ctx.reader(), &*ctx.conversation.events);
    if ctx.agent().history == History::Turn {
        let messages = messages(ctx)?;
        let sizes = messages
            .iter()
            .map(|(_, message)| tokens::of_message(message));
        return Ok((messages.len(), sizes.sum()));
    }
    let cut = reader.cut(&ctx.conversation.cuts, events);
    let size = ctx.conversation.view.size(events, &reader, cut);
    size.map_err(invalid)
}

fn invalid(error: ResultWithoutCall) -> AgentError {
    AgentError::Request(error.to_string())
}

fn output(ctx: Ctx<'_>, call: &mut ModelCall<'_>) {
    let agent = ctx.agent();
    if let Some(output) = &agent.output
        && agent.mode != Mode::Task
    {
        if answer_tool::is_used(ctx) {
            call.instruct(answer_tool::INSTRUCTION);
        } else {
            call.request.json_schema = Some(Arc::clone(&output.schema));
        }
    }
    if !agent.output_functions.is_empty() {
        call.instruct(&answer_tool::instruction_for_functions(ctx));
    }
}
