//! The blocks of `Converse`: what of them is not read, and the formats of media.

use serde_json::{Map, Value, json};

use super::origins;
use crate::message::Media;

/// The kind of a block for this medium, and its format.
pub(super) fn format_of(media: &Media) -> Option<(&'static str, &str)> {
    let (kind, format) = media.media_type.split_once('/')?;
    Some(match (kind, format) {
        ("image", format) => ("image", format),
        ("video", "quicktime") => ("video", "mov"),
        ("video", "3gpp") => ("video", "three_gp"),
        ("video", format) => ("video", format),
        ("audio", _) => return None,
        ("text", "plain") => ("document", "txt"),
        ("text", "markdown") => ("document", "md"),
        ("application", "msword") => ("document", "doc"),
        ("application", "vnd.openxmlformats-officedocument.wordprocessingml.document") => {
            ("document", "docx")
        }
        ("application", "vnd.ms-excel") => ("document", "xls"),
        ("application", "vnd.openxmlformats-officedocument.spreadsheetml.sheet") => {
            ("document", "xlsx")
        }
        (_, format) => ("document", format),
    })
}

pub(super) const READ_OF_CALLS: [&str; 3] = ["toolUseId", "name", "input"];

/// What a block and the object under its name have beside what is read.
pub(super) fn left_over(block: &Value, name: &str, read: &[&str]) -> Map<String, Value> {
    let mut fields = origins::left_over(block, &[name]);
    let content = origins::left_over(&block[name], read);
    if !content.is_empty() {
        fields.insert(name.to_string(), content.into());
    }
    fields
}

/// What of a reasoning block is not read, in the field of it with this name, as fields of the block.
pub(super) fn reasoning_fields(
    field: Option<&str>,
    rest: Map<String, Value>,
) -> Map<String, Value> {
    if rest.is_empty() {
        return rest;
    }
    let content = match field {
        Some(field) => json!({ field: rest }),
        None => rest.into(),
    };
    Map::from_iter([("reasoningContent".to_string(), content)])
}
