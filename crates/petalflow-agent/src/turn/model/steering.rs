//! Messages that were sent to the agent while it works.

use crate::turn::ctx::Ctx;
use crate::turn::guard;
use crate::{AgentError, AgentEvent};
use petalflow_llm::ChatMessage;

/// Reads the messages as events of the user. Returns whether a guardrail blocks one: then the answer of the guardrail is the last
/// event, and the turn ends.
pub(super) async fn read(ctx: Ctx<'_>) -> Result<(Vec<AgentEvent>, bool), AgentError> {
    let messages = ctx.conversation.steering.iter().enumerate();
    let mut events: Vec<AgentEvent> = messages
        .map(|(number, message)| of_user(ctx, number, message))
        .collect();
    let blocked = guard::steering(ctx, &mut events).await?;
    let own = events.iter().filter(|event| !event.is_from_user());
    own.for_each(|event| AgentEvent::emit(ctx.cx, || event.clone()));
    Ok((events, blocked))
}

fn of_user(ctx: Ctx<'_>, number: usize, message: &ChatMessage) -> AgentEvent {
    AgentEvent {
        author: AgentEvent::USER.into(),
        message: Some(message.clone()),
        ..ctx.event(number)
    }
}
