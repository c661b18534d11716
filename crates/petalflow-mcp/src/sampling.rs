//! Conversion of sampling requests and their results.

// Sampling is deprecated in the protocol, but servers still use it.
#![allow(deprecated)]

use rmcp::ErrorData;
use rmcp::model::{
    CreateMessageRequestParams, CreateMessageResult, Role as McpRole, SamplingMessage,
    SamplingMessageContentBlock,
};

use petalflow_llm::message::{Media, MediaSource};
use petalflow_llm::response::FinishReason;
use petalflow_llm::{ChatMessage, LlmRequest, LlmResponse, Part, Role};

/// Converts a sampling request to a request for a model.
pub(super) fn request(params: CreateMessageRequestParams) -> Result<LlmRequest, ErrorData> {
    let unsupported = |what: &str| {
        ErrorData::invalid_params(
            format!("{what} in a request to a model is not supported"),
            None,
        )
    };
    if params.tools.is_some_and(|tools| !tools.is_empty()) {
        return Err(unsupported("a tool"));
    }
    let mut messages = Vec::with_capacity(params.messages.len());
    for message in params.messages {
        let role = match message.role {
            McpRole::User => Role::User,
            McpRole::Assistant => Role::Assistant,
        };
        let mut parts = Vec::new();
        for block in message.content.into_vec() {
            parts.push(match block {
                SamplingMessageContentBlock::Text(text) => Part::text(text.text),
                SamplingMessageContentBlock::Image(image) => media(image.mime_type, image.data),
                SamplingMessageContentBlock::Audio(audio) => media(audio.mime_type, audio.data),
                _ => return Err(unsupported("a call of a tool")),
            });
        }
        messages.push(ChatMessage::new(role, parts));
    }
    Ok(LlmRequest {
        system: params.system_prompt,
        temperature: params.temperature,
        max_tokens: Some(params.max_tokens),
        stop: params.stop_sequences.unwrap_or_default(),
        ..LlmRequest::new(messages)
    })
}

fn media(media_type: String, data: String) -> Part {
    Part::Media(Media {
        media_type,
        source: MediaSource::Base64(data),
        origin: None,
    })
}

/// Converts a model's answer to a sampling result.
pub(super) fn result(answer: &LlmResponse) -> CreateMessageResult {
    let message = SamplingMessage::assistant_text(answer.text());
    let result = CreateMessageResult::new(message, answer.model.clone());
    let reason = match &answer.finish {
        Some(FinishReason::Length) => CreateMessageResult::STOP_REASON_END_MAX_TOKEN,
        Some(FinishReason::ContentFilter) => "contentFilter",
        Some(FinishReason::Other(reason)) => reason,
        _ => CreateMessageResult::STOP_REASON_END_TURN,
    };
    result.with_stop_reason(reason)
}
