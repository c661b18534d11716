//! The media of a request to Anthropic.

use serde_json::{Value, json};

use super::content::unsupported;
use crate::LlmError;
use crate::message::{Media, MediaSource};

pub(super) fn media_block(media: &Media) -> Result<Value, LlmError> {
    let kind = match media.media_type.split('/').next() {
        Some("image") => "image",
        Some("audio" | "video") => {
            return Err(unsupported(media, "use a model of another provider for it"));
        }
        _ => "document",
    };
    let source = match &media.source {
        MediaSource::Url(url) => json!({ "type": "url", "url": url }),
        MediaSource::Base64(data) => {
            json!({ "type": "base64", "media_type": media.media_type, "data": data })
        }
    };
    Ok(json!({ "type": kind, "source": source }))
}
