//! The capabilities of the models of providers, and the refusal of requests that need others.

use super::catalog::{Family, Quirks, Target, openai_reasons};
use super::wire;
use crate::message::Media;
use crate::{Capabilities, LlmError, LlmRequest, Part};

/// What is known of a model. What is not known counts as present.
pub(super) fn of(family: Family, quirks: &Quirks, model: &str) -> Capabilities {
    let known = Capabilities {
        schema_with_tools: quirks.schema_with_tools,
        strict_schemas: quirks.strict,
        ..Capabilities::default()
    };
    match family {
        Family::Messages => Capabilities {
            audio: false,
            video: false,
            embeddings: false,
            reasoning: wire::claude_reasons(model),
            ..known
        },
        Family::Responses => Capabilities {
            audio: false,
            video: false,
            reasoning: openai_reasons(model),
            ..known
        },
        // OpenAI itself, and not a compatible server.
        Family::Chat if quirks.strict => Capabilities {
            audio: model.contains("audio"),
            video: false,
            images: !model.starts_with("gpt-3.5"),
            files: !model.starts_with("gpt-3.5"),
            reasoning: openai_reasons(model),
            ..known
        },
        Family::Chat | Family::Gemini => known,
    }
}

impl Target<'_> {
    /// Whether the model takes this medium.
    pub(super) fn takes(&self, media: &Media) -> bool {
        let able = &self.capabilities;
        match media.media_type.split('/').next() {
            Some("image") => able.images,
            Some("audio") => able.audio,
            Some("video") => able.video,
            _ => able.files,
        }
    }

    /// Refuses a request that needs what the model does not have.
    pub(super) fn check(&self, request: &LlmRequest) -> Result<(), LlmError> {
        let able = &self.capabilities;
        if !able.tools && !request.tools.is_empty() {
            return Err(self.lacks("calls no tools", "the request has some", "tools"));
        }
        if !able.reasoning && request.effort.is_some() {
            return Err(self.lacks("does not reason", "the request has an effort", "reasoning"));
        }
        let parts = request.messages.iter().flat_map(|message| &message.parts);
        let mut media = parts.filter_map(|part| match part {
            Part::Media(media) => Some(media),
            _ => None,
        });
        let Some(refused) = media.find(|media| !self.takes(media)) else {
            return Ok(());
        };
        let (kind, field) = match refused.media_type.split('/').next() {
            Some("image") => ("takes no pictures", "images"),
            Some("audio") => ("takes no audio", "audio"),
            Some("video") => ("takes no videos", "video"),
            _ => ("takes no documents", "files"),
        };
        let found = format!("the request has media of type `{}`", refused.media_type);
        Err(self.lacks(kind, &found, field))
    }

    fn lacks(&self, what: &str, found: &str, field: &str) -> LlmError {
        LlmError::request(format!(
            "model `{}` {what}: {found}; use another model, or set `Capabilities::{field}` with `with_capabilities` if this \
             is wrong",
            self.model
        ))
    }
}
