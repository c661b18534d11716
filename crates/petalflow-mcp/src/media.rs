//! Media in structured content.

use std::collections::HashSet;

use rmcp::model::{ContentBlock, ResourceContents};
use serde_json::{Map, Value, json};

/// What stands for the data of a medium that is content of its own.
pub(super) const ATTACHED: &str = "attached";

/// Leaves each medium of a result once, as a medium: as text, a picture costs a model far more. Data that the content has
/// too is removed from the structured content. Other media in it become blocks of petalflow.
pub(super) fn convert(structured: &mut Value, content: &[ContentBlock]) {
    let data = content.iter().filter_map(data_of);
    let content = data.filter(|data| !data.is_empty()).collect();
    convert_each(structured, &content);
}

fn data_of(block: &ContentBlock) -> Option<&str> {
    match block {
        ContentBlock::Image(image) => Some(&image.data),
        ContentBlock::Audio(audio) => Some(&audio.data),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::BlobResourceContents { blob, .. } => Some(blob),
            _ => None,
        },
        _ => None,
    }
}

/// `content` has the data of the media in the content. A set, because the server decides how many there are.
fn convert_each(structured: &mut Value, content: &HashSet<&str>) {
    match structured {
        Value::String(text) => {
            // With the start of a `data:` URL or without.
            let data = text
                .rsplit_once(";base64,")
                .map_or(&**text, |(_, data)| data);
            if content.contains(data) {
                *text = ATTACHED.into();
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| convert_each(item, content)),
        Value::Object(fields) => {
            fields
                .values_mut()
                .for_each(|field| convert_each(field, content));
            if let Some(block) = block(fields) {
                *structured = block;
            }
        }
        _ => {}
    }
}

/// The block of petalflow for a block of MCP with data. It takes the fields.
fn block(fields: &mut Map<String, Value>) -> Option<Value> {
    let is_data =
        |value: Option<&Value>| value.is_some_and(|data| data.is_string() && data != ATTACHED);
    let kind = fields.get("type")?.as_str()?.to_string();
    match &*kind {
        "image" | "audio" if is_data(fields.get("data")) => {
            let media_type = fields.get("mimeType").filter(|it| it.is_string())?.clone();
            let data = fields.remove("data");
            Some(json!({ "type": kind, "media_type": media_type, "data": data }))
        }
        "resource" => {
            let resource = fields.get_mut("resource")?.as_object_mut()?;
            let media_type = resource
                .get("mimeType")
                .filter(|it| it.is_string())?
                .clone();
            if !is_data(resource.get("blob")) {
                return None;
            }
            let (uri, data) = (resource.remove("uri"), resource.remove("blob"));
            Some(json!({ "type": kind, "uri": uri, "media_type": media_type, "data": data }))
        }
        _ => None,
    }
}
