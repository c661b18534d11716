//! Messages that were sent to the agent while it works.

use super::ask::{ModelStep, Next};
use crate::turn::ctx::Ctx;
use crate::turn::guard;
use crate::{AgentError, AgentEvent};
use petalflow_llm::ChatMessage;

/// Reads the messages as events of the user, in a step of its own, so that the next model call reads them as any other event. The turn
/// ends if a guardrail blocks one.
pub(super) async fn read(ctx: Ctx<'_>) -> Result<ModelStep, AgentError> {
    let messages = ctx.conversation.steering.iter().enumerate();
    let mut events: Vec<AgentEvent> = messages
        .map(|(number, message)| of_user(ctx, number, message))
        .collect();
    let blocked = guard::steering(ctx, &mut events).await?;
    let own = events.iter().filter(|event| !event.is_from_user());
    own.for_each(|event| AgentEvent::emit(ctx.cx, || event.clone()));
    let next = if blocked { Next::End } else { Next::Ask };
    Ok(ModelStep {
        events,
        thought_only_answers: ctx.conversation.thought_only_answers,
        has_steering: true,
        ..ModelStep::without_answer(ctx, next)
    })
}

fn of_user(ctx: Ctx<'_>, number: usize, message: &ChatMessage) -> AgentEvent {
    AgentEvent {
        author: AgentEvent::USER.into(),
        message: Some(message.clone()),
        ..ctx.event(number)
    }
}
