//! The media of a request to OpenAI.

use serde_json::{Value, json};

use super::content::{data_url, unsupported};
use crate::LlmError;
use crate::message::{Media, MediaSource};

pub(super) fn media_part(media: &Media) -> Result<Value, LlmError> {
    let (kind, format) = media.media_type.split_once('/').unwrap_or_default();
    match (kind, &media.source) {
        ("image", _) => {
            Ok(json!({ "type": "input_image", "detail": "auto", "image_url": data_url(media) }))
        }
        ("audio" | "video", _) => Err(unsupported(media, "use a model of another provider for it")),
        (_, MediaSource::Url(url)) => Ok(json!({ "type": "input_file", "file_url": url })),
        (_, MediaSource::Base64(_)) => Ok(json!({
            "type": "input_file",
            "filename": format!("file.{format}"),
            "file_data": data_url(media),
        })),
    }
}
