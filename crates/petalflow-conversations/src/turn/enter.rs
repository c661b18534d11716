//! The entry of a node: what the model reads from now on.

use petalflow::Context;
use petalflow_document_model::conversations::{ContextStrategy, Template};
use petalflow_llm::ChatMessage;

use super::{step, summary};
use crate::program::Program;
use crate::{ConversationError, ConversationEvent, ConversationState, Position};

/// What the entry of a node leaves.
pub(crate) struct Entry {
    pub(crate) position: Position,
    pub(crate) messages: Vec<ChatMessage>,
    /// Whether the model responds at once.
    pub(crate) responds: bool,
}

/// Enters a node.
pub(crate) async fn enter(
    program: &Program,
    state: &ConversationState,
    name: &str,
    cx: &Context,
) -> Result<Entry, ConversationError> {
    let node = step(program, name)?;
    let fill = |template: &Template| {
        let filled = template.fill(&state.values);
        filled.map_err(|error| ConversationError::Placeholder {
            node: name.into(),
            error,
        })
    };
    let before = &state.position;
    let role = match &node.role {
        Some(template) => Some(fill(template)?),
        None => before.role.clone(),
    };
    let is_first = before.node.is_none();
    let strategy = node.strategy.as_ref().unwrap_or(&program.strategy);
    let (keeps, summary) = match strategy {
        _ if is_first => (false, None),
        ContextStrategy::Append => (true, None),
        ContextStrategy::Reset => (false, None),
        ContextStrategy::ResetWithSummary { prompt } => {
            let summary = summarize(program, state, prompt, name, cx).await;
            (summary.is_none(), summary)
        }
    };
    let mut messages = Vec::new();
    for (role, content) in &node.role_messages {
        messages.push(message(role, fill(content)?));
    }
    messages.extend(summary.map(summary::message));
    for (role, content) in &node.task_messages {
        messages.push(message(role, fill(content)?));
    }
    if is_first {
        messages.extend(state.user_message.as_deref().map(ChatMessage::user));
    }
    cx.emit(ConversationEvent::Entered { node: name.into() });
    Ok(Entry {
        position: Position {
            node: Some(name.into()),
            role,
            first_message: if keeps {
                before.first_message
            } else {
                state.messages.len()
            },
            actions_wait: !node.post_actions.is_empty(),
            has_ended: false,
            document_version: Some(program.version.to_string()),
        },
        messages,
        // A person who speaks first is answered in any case.
        responds: node.responds || (is_first && state.user_message.is_some()),
    })
}

/// A summary of the messages before the node. `None` if there is none: the node then keeps these messages.
async fn summarize(
    program: &Program,
    state: &ConversationState,
    prompt: &str,
    name: &str,
    cx: &Context,
) -> Option<String> {
    match summary::summarize(program, state, prompt, cx).await {
        Ok(summary) => Some(summary),
        Err(error) => {
            // For this entry only: the strategy of the node does not change.
            cx.emit(ConversationEvent::NoSummary {
                node: name.into(),
                reason: error.to_string(),
            });
            None
        }
    }
}

/// A message of the document. Its author is the program, unless it says otherwise.
fn message(role: &str, content: String) -> ChatMessage {
    match role {
        "user" => ChatMessage::user(content),
        "assistant" => ChatMessage::assistant(content),
        _ => ChatMessage::system(content),
    }
}
