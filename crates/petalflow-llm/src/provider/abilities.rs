//! The refusal of requests that need other capabilities than the model has.

use super::catalog::Target;
use crate::message::Media;
use crate::request::Effort;
use crate::{LlmError, LlmRequest, Part};

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
        if !able.tool_search && !request.searchable_tools.is_empty() {
            return Err(self.lacks(
                "has no tool search",
                "the request has searchable tools",
                "tool_search",
            ));
        }
        let wants_reasoning = |effort| effort != Effort::None;
        if !able.reasoning && request.effort.is_some_and(wants_reasoning) {
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
