//! Summaries of what was said, in place of the messages.

use std::sync::Arc;

use petalflow::Context;
use petalflow_llm::nodes::noted_call;
use petalflow_llm::{ChatMessage, LlmClient as _, LlmRequest, Part, Role};

use crate::ConversationState;
use crate::error::SummaryError;
use crate::program::Program;

/// Lets the model summarize what it reads now.
pub(super) async fn summarize(
    program: &Program,
    state: &ConversationState,
    prompt: &str,
    cx: &Context,
) -> Result<String, SummaryError> {
    let position = &state.position;
    let mut messages = state.view.messages(&state.messages, position.first_message);
    let said = Arc::make_mut(&mut messages);
    said.iter_mut().for_each(calls_to_text);
    said.push(ChatMessage::user(prompt));
    let request = LlmRequest::new(messages);
    let time = program.summary_timeout;
    let answer = noted_call(&request, cx, program.model.complete(&request));
    let response = tokio::time::timeout(time, answer)
        .await
        .map_err(|_| SummaryError::Timeout(time))??;
    let summary = response
        .message
        .map(|message| message.text())
        .unwrap_or_default();
    if summary.trim().is_empty() {
        return Err(SummaryError::Empty);
    }
    Ok(summary)
}

/// Replaces calls and results with text. The request has no tools, and some providers accept calls only together with
/// theirs.
fn calls_to_text(message: &mut ChatMessage) {
    let mut is_changed = false;
    for part in &mut message.parts {
        if let Some(text) = part.call_as_text() {
            *part = Part::text(text);
            is_changed = true;
        }
    }
    if is_changed {
        // Thoughts are signed together with their calls.
        message
            .parts
            .retain(|part| !matches!(part, Part::Thought(_)));
    }
    if message.role == Role::Tool {
        message.role = Role::User;
    }
}

/// The summary as the model reads it.
pub(super) fn message(summary: String) -> ChatMessage {
    ChatMessage::system(format!("Here's a summary of the conversation:\n{summary}"))
}
