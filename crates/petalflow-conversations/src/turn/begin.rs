//! The start of a turn.

use petalflow_llm::ChatMessage;

use super::{go, step};
use crate::program::Program;
use crate::step::Step;
use crate::{ConversationError, ConversationState};

/// The start of a turn.
pub(crate) struct Start {
    /// What the person says, if the conversation is at a node already.
    pub(crate) message: Option<ChatMessage>,
    pub(crate) step: Step,
}

/// Reads what the person says. Before the first node it is added when the node has been entered, so that it follows the
/// node's task.
pub(crate) fn begin(
    program: &Program,
    state: &ConversationState,
) -> Result<Start, ConversationError> {
    let position = &state.position;
    let Some(node) = &position.node else {
        return Ok(Start {
            message: None,
            step: go(program, &program.initial)?,
        });
    };
    if position.has_ended {
        return Err(ConversationError::Ended(node.clone()));
    }
    step(program, node)?;
    Ok(Start {
        message: state.user_message.as_deref().map(ChatMessage::user),
        step: Step::Ask,
    })
}
