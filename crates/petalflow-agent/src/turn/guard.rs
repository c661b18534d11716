//! Runs the guardrails of an agent.

use std::sync::Arc;

use super::ctx::Ctx;
use super::turn_start::TurnStart;
use crate::definition::AgentTree;
use crate::extension::{Position, ToolStep, event_id};
use crate::guardrail::{
    Guardrail, GuardrailAction, GuardrailContext, GuardrailEvent, GuardrailStage, Verdict,
};
use crate::{AgentError, AgentEvent, Conversation};
use petalflow::event::CustomEvent;
use petalflow::{BoxError, Context};
use petalflow_llm::{ChatMessage, Part};

/// A guardrail has stopped a stream.
#[derive(Debug, thiserror::Error)]
#[error("guardrail `{}` stopped the answer", .event.guardrail)]
pub(super) struct Tripped {
    pub(super) event: GuardrailEvent,
    pub(super) message: String,
}

/// The guardrails of the agent at `index`, after those of the agents above it.
pub(super) fn guardrails(
    tree: &AgentTree,
    index: usize,
) -> impl Iterator<Item = &Arc<dyn Guardrail>> {
    tree.agents_from_root(index)
        .flat_map(|agent| &agent.guardrails)
}

/// Checks the messages that begin a turn. Returns whether one was blocked.
pub(super) async fn begin(
    tree: &AgentTree,
    conversation: &Conversation,
    cx: &Context,
    start: &mut TurnStart,
) -> Result<bool, AgentError> {
    let agent = start.speakers.last().map_or("", |speaker| &*speaker.agent);
    let Some(index) = tree.index(agent) else {
        return Ok(false);
    };
    let agent = &*tree.agent(index).name;
    let before = || guardrails(tree, index).filter(|guardrail| !guardrail.runs_beside_model());
    if before().next().is_none() {
        return Ok(false);
    }
    let position = Position {
        agent,
        conversation,
        cx,
    };
    let is_alone = start.events.len() == 1;
    let number = start.events.len();
    let mut answer = None;
    for event in start
        .events
        .iter_mut()
        .filter(|event| says_something(event))
    {
        let blocked = check_message(before(), position, event).await?;
        if is_alone && !event.guardrails.is_empty() {
            start.message.clone_from(&event.message);
        }
        if let Some((text, done)) = blocked {
            answer = Some(AgentEvent {
                id: event_id(&start.turn_id, number),
                invocation: start.turn_id.clone(),
                branch: event.branch.clone(),
                scope: event.scope.clone(),
                guardrails: vec![done],
                ..AgentEvent::new(agent, ChatMessage::assistant(text))
            });
        }
    }
    let blocked = answer.is_some();
    start.events.extend(answer);
    Ok(blocked)
}

/// Checks messages that were sent to the agent while it works. Returns whether one was blocked; then the answer is the last event.
pub(super) async fn steering(
    ctx: Ctx<'_>,
    events: &mut Vec<AgentEvent>,
) -> Result<bool, AgentError> {
    let before = || guardrails(ctx.tree, ctx.index).filter(|it| !it.runs_beside_model());
    let number = events.len();
    let mut answer = None;
    for event in events.iter_mut().filter(|event| says_something(event)) {
        if let Some((text, done)) = check_message(before(), ctx.position(), event).await? {
            answer = Some(AgentEvent {
                message: Some(ChatMessage::assistant(text)),
                guardrails: vec![done],
                ..ctx.event(number)
            });
        }
    }
    let blocked = answer.is_some();
    events.extend(answer);
    Ok(blocked)
}

/// Checks the message of an event, and rewrites it. Returns the answer and the event of the guardrail that blocked it.
async fn check_message(
    guardrails: impl Iterator<Item = &Arc<dyn Guardrail>>,
    position: Position<'_>,
    event: &mut AgentEvent,
) -> Result<Option<(String, GuardrailEvent)>, AgentError> {
    let guardrail_call = GuardrailCall {
        position,
        stage: GuardrailStage::Input,
    };
    let context = GuardrailContext::complete(position);
    let Some(message) = &mut event.message else {
        return Ok(None);
    };
    for guardrail in guardrails {
        let verdict = guardrail.check_input(message, &context).await;
        match guardrail_call.record(&**guardrail, verdict)? {
            CheckResult::Pass => {}
            CheckResult::Rewritten(new, done) => {
                *message = new;
                event.guardrails.push(done);
            }
            CheckResult::Blocked(text, done) => return Ok(Some((text, done))),
        }
    }
    Ok(None)
}

/// Whether the event is a message of the user, and not only results.
pub(super) fn says_something(event: &AgentEvent) -> bool {
    let is_result = |part: &Part| matches!(part, Part::Result(_));
    event.is_from_user() && !event.parts().iter().all(is_result)
}

/// Whether listeners get no pieces of a streamed answer.
pub(super) fn holds_back_pieces(ctx: Ctx<'_>) -> bool {
    guardrails(ctx.tree, ctx.index).any(|guardrail| guardrail.holds_back_pieces())
}

/// Whether guardrails check the pieces of a streamed answer.
pub(super) fn checks_pieces(ctx: Ctx<'_>) -> bool {
    guardrails(ctx.tree, ctx.index).any(|guardrail| guardrail.runs_beside_model())
}

/// Checks the text so far of a streamed answer. An error ends the stream.
pub(super) async fn piece(ctx: Ctx<'_>, so_far: &str) -> Result<(), BoxError> {
    let guardrail_call = GuardrailCall {
        position: ctx.position(),
        stage: GuardrailStage::Output,
    };
    let context = GuardrailContext::partial(ctx.position());
    let message = ChatMessage::assistant(so_far);
    for guardrail in guardrails(ctx.tree, ctx.index) {
        if !guardrail.runs_beside_model() {
            continue;
        }
        let verdict = match guardrail.check_output(&message, &context).await {
            // The whole answer is checked again.
            Ok(Verdict::Rewrite(_)) => Ok(Verdict::Pass),
            verdict => verdict,
        };
        if let CheckResult::Blocked(message, event) =
            guardrail_call.record(&**guardrail, verdict)?
        {
            return Err(Tripped { event, message }.into());
        }
    }
    Ok(())
}

/// Checks a call, and rewrites its arguments. Returns what the model reads if the call is blocked.
pub(super) async fn tool_call(
    ctx: Ctx<'_>,
    step: &mut ToolStep<'_>,
    done: &mut Vec<GuardrailEvent>,
) -> Result<Option<String>, AgentError> {
    for guardrail in guardrails(ctx.tree, ctx.index) {
        let mut call = step.call().clone();
        call.arguments.clone_from(&step.arguments);
        let guardrail_call = GuardrailCall {
            position: ctx.position(),
            stage: GuardrailStage::ToolCall {
                id: call.id.clone(),
                tool: call.name.clone(),
            },
        };
        let context = GuardrailContext::complete(ctx.position());
        let verdict = guardrail.check_tool_call(&call, &context).await;
        match guardrail_call.record(&**guardrail, verdict)? {
            CheckResult::Pass => {}
            CheckResult::Rewritten(arguments, event) => {
                step.arguments = arguments;
                done.push(event);
            }
            CheckResult::Blocked(message, event) => {
                done.push(event);
                return Ok(Some(message));
            }
        }
    }
    Ok(None)
}

/// What is checked, for events and errors.
pub(super) struct GuardrailCall<'a> {
    pub(super) position: Position<'a>,
    pub(super) stage: GuardrailStage,
}

/// The result of a check that does not fail the run.
pub(super) enum CheckResult<T> {
    Pass,
    Rewritten(T, GuardrailEvent),
    Blocked(String, GuardrailEvent),
}

impl GuardrailCall<'_> {
    /// Emits the event of a verdict, and returns it as a result.
    pub(super) fn record<T>(
        &self,
        guardrail: &dyn Guardrail,
        verdict: Result<Verdict<T>, BoxError>,
    ) -> Result<CheckResult<T>, AgentError> {
        let event = |action: GuardrailAction| {
            let stage = self.stage.clone();
            let event = GuardrailEvent::new(guardrail.name(), self.position.agent, stage, action);
            let emitted = || CustomEvent::named("agent_guardrail", event.clone());
            self.position.cx.emit_with(emitted);
            event
        };
        Ok(match verdict {
            Ok(Verdict::Pass) => CheckResult::Pass,
            Ok(Verdict::Rewrite(new)) => {
                CheckResult::Rewritten(new, event(GuardrailAction::Rewritten))
            }
            Ok(Verdict::Block(message)) => {
                let done = event(GuardrailAction::Blocked(message.clone()));
                CheckResult::Blocked(message, done)
            }
            Ok(Verdict::Fail(reason)) => {
                event(GuardrailAction::Failed(reason.clone()));
                return Err(self.failed(guardrail, reason.into()));
            }
            Err(error) => return Err(self.failed(guardrail, error)),
        })
    }

    pub(super) fn failed(&self, guardrail: &dyn Guardrail, error: BoxError) -> AgentError {
        AgentError::Guardrail {
            guardrail: guardrail.name().to_string(),
            agent: self.position.agent.to_string(),
            stage: self.stage.clone(),
            error,
        }
    }
}
