//! Conversion of tool results between MCP and petalflow.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Map, Value, json};

use super::media::{self, ATTACHED};
use petalflow_llm::Part;
use petalflow_llm::message::{Media, MediaSource};

/// Converts a server's result to `{"output": ..}`: the structured content if there is any, else the text, or a list
/// of parts if there is more than text. A result with `isError` becomes an error with its text and its structured content.
pub(super) fn from_mcp(result: CallToolResult) -> Result<Value, String> {
    let CallToolResult {
        content,
        mut structured_content,
        is_error,
        ..
    } = result;
    if is_error == Some(true) {
        return Err(error_text(&content, structured_content.as_ref()));
    }
    let text_only = content
        .iter()
        .all(|block| matches!(block, ContentBlock::Text(_)));
    if let Some(structured) = &mut structured_content {
        media::convert(structured, &content);
    }
    let output = match (structured_content, text_only) {
        (Some(structured), true) => structured,
        (Some(structured), false) => {
            let media = content
                .iter()
                .filter(|block| !matches!(block, ContentBlock::Text(_)));
            let media: Value = media.map(part).collect();
            return Ok(json!({ "output": structured, "content": media }));
        }
        (None, true) => text(&content).into(),
        (None, false) => content.iter().map(part).collect(),
    };
    Ok(json!({ "output": output }))
}

/// Converts the result of a petalflow tool for a client. Only an object can be structured content. Media are content of
/// their own: in the text and in the structured content, a note stands for their data.
pub(super) fn to_mcp(mut value: Value) -> CallToolResult {
    let had_data = value.get("data").is_some();
    let media = Media::take_from(&mut value, ATTACHED);
    if !media.is_empty() {
        // A result that is one medium needs no words.
        let is_medium = had_data && value.get("data").is_none();
        let text = (!is_medium).then(|| ContentBlock::text(value.to_string()));
        let media = media.into_iter().filter_map(block);
        let mut result = CallToolResult::success(text.into_iter().chain(media).collect());
        if value.is_object() && !is_medium {
            result.structured_content = Some(value);
        }
        return result;
    }
    match value {
        Value::Null => CallToolResult::success(Vec::new()),
        Value::String(text) => CallToolResult::success(vec![ContentBlock::text(text)]),
        value @ Value::Object(_) => CallToolResult::structured(value),
        value => CallToolResult::success(vec![ContentBlock::text(value.to_string())]),
    }
}

/// The content for a medium.
pub(super) fn block(
    Media {
        media_type, source, ..
    }: Media,
) -> Option<ContentBlock> {
    let MediaSource::Base64(data) = source else {
        return None;
    };
    Some(match media_type.split('/').next() {
        Some("image") => ContentBlock::image(data, media_type),
        Some("audio") => ContentBlock::audio(data, media_type),
        _ => {
            let blob = ResourceContents::blob(data, "petalflow:result").with_mime_type(media_type);
            ContentBlock::resource(blob)
        }
    })
}

/// A result with `isError`, for the model that called the tool.
pub(super) fn failed(message: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(message)])
}

fn error_text(content: &[ContentBlock], structured: Option<&Value>) -> String {
    let text = text(content);
    let fields = structured.filter(|fields| !fields.is_null());
    // Servers repeat the fields as text.
    let repeats =
        |fields: &Value| serde_json::from_str::<Value>(&text).is_ok_and(|text| text == *fields);
    match fields {
        None if text.is_empty() => "the tool failed without a message".into(),
        None => text,
        Some(fields) if text.is_empty() || repeats(fields) => fields.to_string(),
        Some(fields) => format!("{text}\n{fields}"),
    }
}

fn text(content: &[ContentBlock]) -> String {
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n")
}

fn part(block: &ContentBlock) -> Value {
    match block {
        ContentBlock::Text(text) => json!({ "type": "text", "text": text.text }),
        ContentBlock::Image(image) => {
            json!({ "type": "image", "media_type": image.mime_type, "data": image.data })
        }
        ContentBlock::Audio(audio) => {
            json!({ "type": "audio", "media_type": audio.mime_type, "data": audio.data })
        }
        ContentBlock::ResourceLink(link) => json!({
            "type": "resource_link",
            "uri": link.uri,
            "name": link.name,
            "media_type": link.mime_type,
        }),
        ContentBlock::Resource(embedded) => resource(&embedded.resource),
        // Content of later protocol versions stays as it is.
        other => serde_json::to_value(other).unwrap_or_default(),
    }
}

/// Content as a part of a message.
pub(super) fn part_of_block(block: &ContentBlock) -> Option<Part> {
    match block {
        ContentBlock::Text(text) => Some(Part::Text(text.text.as_str().into())),
        ContentBlock::Image(image) => Some(medium(&image.mime_type, &image.data)),
        ContentBlock::Audio(audio) => Some(medium(&audio.mime_type, &audio.data)),
        ContentBlock::Resource(embedded) => part_of(&embedded.resource),
        other => Some(Part::Text(part(other).to_string().into())),
    }
}

/// The contents of a resource as a part of a message. `None` for contents of later protocol versions.
pub(super) fn part_of(contents: &ResourceContents) -> Option<Part> {
    match contents {
        ResourceContents::TextResourceContents { text, .. } => {
            Some(Part::Text(text.as_str().into()))
        }
        ResourceContents::BlobResourceContents {
            mime_type, blob, ..
        } => {
            let media_type = mime_type.as_deref().unwrap_or("application/octet-stream");
            Some(medium(media_type, blob))
        }
        _ => None,
    }
}

fn medium(media_type: &str, data: &str) -> Part {
    Part::Media(Media {
        media_type: media_type.into(),
        source: MediaSource::Base64(data.into()),
        origin: None,
    })
}

fn resource(contents: &ResourceContents) -> Value {
    match contents {
        ResourceContents::TextResourceContents {
            uri,
            mime_type,
            text,
            ..
        } => json!({ "type": "resource", "uri": uri, "media_type": mime_type, "text": text }),
        ResourceContents::BlobResourceContents {
            uri,
            mime_type,
            blob,
            ..
        } => json!({ "type": "resource", "uri": uri, "media_type": mime_type, "data": blob }),
        other => serde_json::to_value(other).unwrap_or_default(),
    }
}

/// Makes a schema an object schema, which providers require. `None` if it is that of something else.
pub(super) fn object_schema(mut schema: Map<String, Value>) -> Option<Value> {
    let is_object = match schema.get("type") {
        None | Some(Value::Null) => true,
        Some(Value::Array(types)) => types.iter().any(|one| one == "object"),
        Some(one) => one == "object",
    };
    schema.insert("type".to_string(), "object".into());
    schema
        .entry("properties")
        .or_insert_with(|| Map::new().into());
    is_object.then(|| schema.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(content: Value, structured: Option<Value>, is_error: bool) -> CallToolResult {
        let mut value = json!({ "content": content, "isError": is_error });
        if let Some(structured) = structured {
            value["structuredContent"] = structured;
        }
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn results_become_values() {
        let text = |text: &str| json!({ "type": "text", "text": text });
        let picture = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
        let ours = json!({ "type": "image", "data": "AAAA", "media_type": "image/png" });
        for (content, structured, output) in [
            (json!([]), None, json!("")),
            (json!([text("a")]), None, json!("a")),
            (json!([text("a"), text("b")]), None, json!("a\nb")),
            (
                json!([text("{}")]),
                Some(json!({ "n": 1 })),
                json!({ "n": 1 }),
            ),
            (json!([]), Some(Value::Null), Value::Null),
            (json!([text("a"), picture]), None, json!([text("a"), ours])),
            (
                json!([{ "type": "resource", "resource": { "uri": "file:///a", "text": "hi" } }]),
                None,
                json!([{ "type": "resource", "uri": "file:///a", "media_type": null, "text": "hi" }]),
            ),
        ] {
            let from_mcp = from_mcp(result(content, structured, false));
            assert_eq!(from_mcp, Ok(json!({ "output": output })));
        }
        // A server that repeats the picture in its structured result sends it to the model once.
        let repeated = json!({ "result": [{ "type": "image", "data": "AAAA" }, "data:image/png;base64,AAAA", "AAAAA"] });
        let repeated = result(json!([picture]), Some(repeated), false);
        let once =
            json!({ "result": [{ "type": "image", "data": "attached" }, "attached", "AAAAA"] });
        assert_eq!(
            from_mcp(repeated),
            Ok(json!({ "output": once, "content": [ours] }))
        );
        let both = result(json!([text("{}"), picture]), Some(json!({ "n": 1 })), false);
        assert_eq!(
            from_mcp(both),
            Ok(json!({ "output": { "n": 1 }, "content": [ours] }))
        );
    }

    #[test]
    fn a_picture_only_in_structured_content_is_a_picture() {
        let picture = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png", "annotations": null });
        let blob = json!({ "uri": "file:///a", "mimeType": "application/pdf", "blob": "BBBB" });
        let blob = json!({ "type": "resource", "resource": blob });
        let text = json!([{ "type": "text", "text": picture.to_string() }]);
        let structured = json!({ "result": [picture, "a dot"], "file": blob });
        let mut value = from_mcp(result(text, Some(structured), false)).unwrap();
        let taken = Media::take_from(&mut value, ATTACHED);
        assert_eq!(taken.len(), 2, "{value}");
        assert_eq!(
            value,
            json!({ "output": {
                "result": [{ "type": "image", "media_type": "image/png", "note": "attached" }, "a dot"],
                "file": { "type": "resource", "uri": "file:///a", "media_type": "application/pdf", "note": "attached" },
            } })
        );
        let no_data = json!({ "type": "image", "data": 7, "mimeType": "image/png" });
        let value = from_mcp(result(json!([]), Some(no_data.clone()), false));
        assert_eq!(value, Ok(json!({ "output": no_data })));
    }

    #[test]
    fn errors_keep_their_words() {
        let text = json!([{ "type": "text", "text": "no such file" }]);
        assert_eq!(
            from_mcp(result(text, None, true)),
            Err("no such file".into())
        );
        let structured = Some(json!({ "code": 7 }));
        assert_eq!(
            from_mcp(result(json!([]), structured, true)),
            Err(r#"{"code":7}"#.into())
        );
        assert_eq!(
            from_mcp(result(json!([]), None, true)),
            Err("the tool failed without a message".into())
        );
    }

    #[test]
    fn f42_errors_keep_their_fields_beside_their_words() {
        let text = |text: &str| json!([{ "type": "text", "text": text }]);
        let fields = Some(json!({ "code": 7, "retry": false }));
        assert_eq!(
            from_mcp(result(text("no such file"), fields.clone(), true)),
            Err("no such file\n{\"code\":7,\"retry\":false}".into())
        );
        // Fields that the text repeats are shown once.
        assert_eq!(
            from_mcp(result(
                text("{\"retry\": false, \"code\": 7}"),
                fields,
                true
            )),
            Err("{\"code\":7,\"retry\":false}".into())
        );
        assert_eq!(
            from_mcp(result(text("no"), Some(Value::Null), true)),
            Err("no".into())
        );
    }

    #[test]
    fn f42_schemas_are_those_of_objects() {
        let schema = |schema: Value| object_schema(schema.as_object().unwrap().clone());
        let object = json!({ "type": "object", "properties": {} });
        for allowed in [
            json!({}),
            json!({ "type": null }),
            json!({ "type": "object" }),
            json!({ "type": ["object", "null"] }),
        ] {
            assert_eq!(schema(allowed.clone()), Some(object.clone()), "{allowed}");
        }
        for refused in ["string", "array", "null"] {
            assert_eq!(schema(json!({ "type": refused })), None, "{refused}");
        }
        assert_eq!(schema(json!({ "type": ["string", "null"] })), None);
    }

    #[test]
    fn media_of_our_tools_are_content_of_their_own() {
        let picture = json!({ "type": "image", "media_type": "image/png", "data": "AAAA" });
        let note = json!({ "type": "image", "media_type": "image/png", "note": "attached" });
        let sent = |value: Value| serde_json::to_value(to_mcp(value)).unwrap();
        let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
        assert_eq!(sent(picture.clone())["content"], json!([image]));
        let both = sent(json!({ "title": "a dot", "picture": picture, "note": "small" }));
        let rest = json!({ "title": "a dot", "picture": note, "note": "small" });
        let text = json!({ "type": "text", "text": rest.to_string() });
        assert_eq!(both["content"], json!([text, image]));
        assert_eq!(both["structuredContent"], rest);
        assert_eq!(both.to_string().matches("AAAA").count(), 1);
        // Only an object can be structured content, and a picture by itself is none.
        let list = sent(json!([{ "n": 1 }, picture]));
        assert_eq!(list["content"][1], image);
        for result in [&list, &sent(picture.clone())] {
            assert!(result.get("structuredContent").is_none(), "{result}");
        }
        // It comes back as the picture that it was.
        let back = from_mcp(to_mcp(picture.clone()));
        assert_eq!(back, Ok(json!({ "output": [picture] })));
        let back = from_mcp(to_mcp(json!({ "title": "a dot", "picture": picture })));
        let rest = json!({ "title": "a dot", "picture": note });
        assert_eq!(back, Ok(json!({ "output": rest, "content": [picture] })));
    }

    #[test]
    fn results_that_the_protocol_can_express_survive_the_round_trip() {
        for (ours, output) in [
            (json!("a"), json!("a")),
            (json!({ "a": [1] }), json!({ "a": [1] })),
            // Structured content must be an object. Other values become text.
            (json!([1, 2]), json!("[1,2]")),
            (Value::Null, json!("")),
        ] {
            assert_eq!(from_mcp(to_mcp(ours)), Ok(json!({ "output": output })));
        }
        assert_eq!(from_mcp(failed("no luck")), Err("no luck".into()));
    }
}
