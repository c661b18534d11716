//! A file as a model gives it.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::Deserialize;
use serde_json::{Value, json};

use super::media_type;

/// Models leave the padding out at times.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The schema of a file in a form.
pub(super) fn schema() -> Value {
    let mut schema = content_schema();
    schema["properties"]["name"] = json!({
        "type": "string",
        "description": "The name of the file, such as `report.csv`.",
    });
    schema["required"] = json!(["name"]);
    schema
}

/// The schema of a file that is the whole body.
pub(super) fn content_schema() -> Value {
    json!({
        "type": "object",
        "description": "A file, with either `text` or `base64`.",
        "properties": {
            "text": { "type": "string", "description": "The content of a file of text." },
            "base64": { "type": "string", "description": "The content of any other file, in Base64." },
            "media_type": { "type": "string", "description": "The media type, such as `text/csv`." },
        },
        "additionalProperties": false,
    })
}

/// A file as the model gave it.
#[derive(Deserialize)]
struct Given {
    name: Option<String>,
    media_type: Option<String>,
    text: Option<String>,
    base64: Option<String>,
}

/// A file as it is sent.
#[derive(Debug)]
pub(super) struct FileArgument {
    pub(super) name: String,
    pub(super) media_type: String,
    pub(super) content: Vec<u8>,
}

impl FileArgument {
    /// Reads a file. `allowed` are the media types that it can have, and all without any. `place` names the argument in errors.
    pub(super) fn read(value: &Value, allowed: &[String], place: &str) -> Result<Self, String> {
        let given = Given::deserialize(value)
            .map_err(|error| format!("{place} is not as a file is given: {error}"))?;
        let is_text = given.text.is_some();
        let content = match (given.text, given.base64) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(base64)) => decode(&base64)
                .map_err(|error| format!("`base64` of {place} is no Base64: {error}"))?,
            _ => {
                return Err(format!(
                    "{place} is a file: give its content either as `text` or, in Base64, as `base64`"
                ));
            }
        };
        let name = given.name.unwrap_or_default();
        if name.contains(['/', '\\']) || name.chars().any(char::is_control) {
            return Err(format!(
                "`name` of {place} is no name of a file: leave out folders and control characters"
            ));
        }
        let media_type = media_type(given.media_type, allowed, is_text, place)?;
        Ok(FileArgument {
            name: match name.trim() {
                "" => "file".into(),
                name => name.into(),
            },
            media_type,
            content,
        })
    }
}

fn decode(text: &str) -> Result<Vec<u8>, base64::DecodeError> {
    let text: String = text.split_ascii_whitespace().collect();
    BASE64.decode(text)
}

/// What the model says, the only one that is allowed, or that of the kind of content.
fn media_type(
    given: Option<String>,
    allowed: &[String],
    is_text: bool,
    place: &str,
) -> Result<String, String> {
    let any = "application/octet-stream";
    let is_open = allowed.is_empty() || allowed.iter().all(|it| media_type::essence(it) == any);
    let ask = || {
        format!(
            "`media_type` of {place} must be one of `{}`",
            allowed.join("`, `")
        )
    };
    match given {
        Some(given) if !media_type::is_valid(&given) || !media_type::is_exact(&given) => {
            Err(format!(
                "`media_type` of {place} is no media type: give one such as `text/csv`, or leave it out"
            ))
        }
        Some(given) if is_open || media_type::is_in(&given, allowed) => Ok(given),
        Some(_) => Err(ask()),
        None if allowed.is_empty() && is_text => Ok("text/plain; charset=utf-8".into()),
        None if is_open => Ok(any.into()),
        None => match allowed {
            [only] if media_type::is_exact(only) => Ok(only.clone()),
            _ if is_text && media_type::is_in("text/plain", allowed) => {
                Ok("text/plain; charset=utf-8".into())
            }
            _ if media_type::is_in(any, allowed) => Ok(any.into()),
            _ => Err(ask()),
        },
    }
}
