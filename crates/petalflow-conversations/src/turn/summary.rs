//! Summaries of what was said, in place of the messages.

use petalflow_llm::{ChatMessage, LlmClient as _, LlmRequest};

use crate::ConversationState;
use crate::error::SummaryError;
use crate::program::Program;

/// Lets the model summarize what it reads now.
pub(super) async fn summarize(
    program: &Program,
    state: &ConversationState,
    prompt: &str,
) -> Result<String, SummaryError> {
    let position = &state.position;
    let mut messages = state.view.messages(&state.messages, position.first_message);
    std::sync::Arc::make_mut(&mut messages).push(ChatMessage::user(prompt));
    let request = LlmRequest::new(messages);
    let time = program.summary_timeout;
    let response = tokio::time::timeout(time, program.model.complete(&request))
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

/// The summary as the model reads it.
pub(super) fn message(summary: String) -> ChatMessage {
    ChatMessage::system(format!("Here's a summary of the conversation:\n{summary}"))
}
