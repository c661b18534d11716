//! The start of a turn.

use petalflow_llm::ChatMessage;

use super::{go, step};
use crate::program::Program;
use crate::step::Step;
use crate::{ConversationError, ConversationState, Position};

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
    check_node(program, position, node)?;
    Ok(Start {
        message: state.user_message.as_deref().map(ChatMessage::user),
        step: Step::Ask,
    })
}

/// Fails if the document has changed and does not have the node where the conversation is.
fn check_node(program: &Program, position: &Position, node: &str) -> Result<(), ConversationError> {
    let now = program.version.to_string();
    match (step(program, node), &position.document_version) {
        (Err(_), Some(entered)) if *entered != now => Err(ConversationError::Changed {
            document: program.version.document().into(),
            node: node.into(),
            entered: entered.clone(),
            now,
        }),
        (found, _) => found.map(drop),
    }
}
