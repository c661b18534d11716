//! The parts of messages, in the forms of both interfaces.

use petalflow::tool::ToolCall;
use petalflow_llm::Part;
use petalflow_llm::message::{Media, MediaSource};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::error::ApiError;

/// The content of a message: a text, or a list of parts.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Parts(Vec<Value>),
}

impl Content {
    /// The parts. `place` names the content in errors.
    pub(super) fn parts(self, place: &str) -> Result<Vec<Part>, ApiError> {
        let parts = match self {
            Content::Text(text) => return Ok(vec![Part::text(text)]),
            Content::Parts(parts) => parts.into_iter().enumerate(),
        };
        parts
            .map(|(index, value)| part(&value, &format!("{place}[{index}]")))
            .collect()
    }

    /// The text of content that has only text.
    pub(super) fn text(self, place: &str) -> Result<String, ApiError> {
        let parts = self.parts(place)?.into_iter();
        let texts = parts.map(|part| match part {
            Part::Text(text) => Ok(text.text),
            _ => Err(ApiError::param(place, format!("`{place}` takes text only"))),
        });
        texts.collect()
    }
}

/// A call with arguments as JSON in a text.
pub(super) fn call(id: String, name: String, arguments: String) -> Part {
    Part::Call(ToolCall {
        id,
        name,
        arguments: match arguments.trim() {
            "" => Value::Object(Map::new()),
            text => serde_json::from_str(text).unwrap_or_else(|_| arguments.clone().into()),
        },
        ..ToolCall::default()
    })
}

/// One part.
fn part(value: &Value, place: &str) -> Result<Part, ApiError> {
    let kind = value["type"].as_str().unwrap_or_default();
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str);
    let missing = || ApiError::param(place, format!("`{place}` of type `{kind}` has no data"));
    match kind {
        "text" | "input_text" | "output_text" => text("/text").map(Part::text).ok_or_else(missing),
        "refusal" => text("/refusal").map(Part::text).ok_or_else(missing),
        "image_url" => image(text("/image_url/url").ok_or_else(missing)?, place),
        "input_image" => match text("/image_url") {
            Some(url) => image(url, place),
            None => Err(stored_file(place)),
        },
        "input_audio" => {
            let data = text("/input_audio/data").ok_or_else(missing)?;
            let format = text("/input_audio/format").ok_or_else(missing)?;
            let media_type = match format {
                "mp3" => "audio/mpeg".to_string(),
                other => format!("audio/{other}"),
            };
            Ok(media(media_type, MediaSource::Base64(data.to_string())))
        }
        "file" => match text("/file/file_data") {
            Some(data) => file(data, text("/file/filename"), place),
            None => Err(stored_file(place)),
        },
        "input_file" => match (text("/file_data"), text("/file_url")) {
            (Some(data), _) => file(data, text("/filename"), place),
            (None, Some(url)) => {
                let source = MediaSource::Url(url.to_string());
                Ok(media(media_type_of(url, "application/pdf"), source))
            }
            (None, None) => Err(stored_file(place)),
        },
        other => Err(ApiError::param(
            place,
            format!("`{place}` has the type `{other}`, which is not supported"),
        )),
    }
}

fn stored_file(place: &str) -> ApiError {
    ApiError::param(
        place,
        format!(
            "`{place}` names a file by its id, and this server stores no files: send its data or its address"
        ),
    )
}

/// A medium of this type.
pub(super) fn media(media_type: String, source: MediaSource) -> Part {
    Part::Media(Media {
        media_type,
        source,
        origin: None,
    })
}

fn image(url: &str, place: &str) -> Result<Part, ApiError> {
    if url.starts_with("data:") {
        return data_url(url, place);
    }
    let source = MediaSource::Url(url.to_string());
    Ok(media(media_type_of(url, "image/png"), source))
}

/// A file: a data URL, or base64 whose type the name of the file tells.
fn file(data: &str, name: Option<&str>, place: &str) -> Result<Part, ApiError> {
    if data.starts_with("data:") {
        return data_url(data, place);
    }
    let media_type = media_type_of(name.unwrap_or_default(), "application/pdf");
    Ok(media(media_type, MediaSource::Base64(data.to_string())))
}

/// The medium in a URL such as `data:image/png;base64,..`.
fn data_url(url: &str, place: &str) -> Result<Part, ApiError> {
    let parts = url
        .strip_prefix("data:")
        .and_then(|url| url.split_once(";base64,"));
    let Some((media_type, data)) = parts.filter(|(media_type, _)| media_type.contains('/')) else {
        let text = format!("`{place}` is not a data URL of the form `data:image/png;base64,..`");
        return Err(ApiError::param(place, text));
    };
    let media_type = media_type.split(';').next().unwrap_or(media_type);
    let source = MediaSource::Base64(data.to_string());
    Ok(media(media_type.to_string(), source))
}

/// The media type that the end of a name tells.
fn media_type_of(name: &str, otherwise: &str) -> String {
    let name = name.split(['?', '#']).next().unwrap_or_default();
    let end = name.rsplit('.').next().unwrap_or_default();
    let known = match &*end.to_ascii_lowercase() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "pdf" => "application/pdf",
        "txt" | "md" => "text/plain",
        "csv" => "text/csv",
        "json" => "application/json",
        _ => otherwise,
    };
    known.to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> Result<Part, String> {
        part(&value, "content[0]").map_err(|error| error.message().to_string())
    }

    #[test]
    fn media_are_kept_and_others_are_refused() {
        let dot = read(
            json!({ "type": "image_url", "image_url": { "url": "data:image/gif;base64,R0lGOD" } }),
        );
        let Part::Media(dot) = dot.unwrap() else {
            panic!()
        };
        assert_eq!(dot.media_type, "image/gif");
        assert_eq!(dot.source, MediaSource::Base64("R0lGOD".into()));
        let map = read(
            json!({ "type": "input_image", "image_url": "https://example.com/map.JPG?size=2" }),
        );
        assert!(matches!(map, Ok(Part::Media(map)) if map.media_type == "image/jpeg"));
        let file = read(json!({ "type": "file", "file": { "file_id": "file-1" } }));
        assert!(file.unwrap_err().contains("stores no files"));
        let video = read(json!({ "type": "video" }));
        assert_eq!(
            video.unwrap_err(),
            "`content[0]` has the type `video`, which is not supported"
        );
    }
}
