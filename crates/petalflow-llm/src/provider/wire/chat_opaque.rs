//! The fields of messages of the chat completions that only their provider uses.

use serde_json::{Map, Value, json};

use super::content::merge;
use super::response_data::{ResponseData, text};
use crate::Part;
use crate::message::{Media, MediaSource};
use crate::provider::catalog::{AnswerFields, Quirks, Reasoning};
use crate::provider::content_filter;
use crate::stream::Delta;

/// The name in an origin of a thought for the field in which the server sent it, if it is not `reasoning_content`.
pub(super) const FIELD: &str = "field";
pub(super) const REASONING: &str = "reasoning";
pub(super) const DETAILS: &str = "reasoning_details";

/// The field of an opaque part for chunks of content that are neither text nor reasoning.
pub(super) const CONTENT: &str = "content";

pub(super) const ANNOTATIONS: &str = "annotations";

/// The fields of a message that are read. Only the provider uses the others.
pub(super) const READ: [&str; 8] = [
    "role",
    "content",
    "refusal",
    "reasoning",
    "reasoning_content",
    "images",
    "tool_calls",
    "function_call",
];

/// Whether the server takes this field of an answer back. Groq refuses a request with `executed_tools` or `annotations`.
pub(super) fn is_taken_back(quirks: &Quirks, field: &str) -> bool {
    match field {
        "executed_tools" => false,
        CONTENT => quirks.reasoning == Reasoning::Part,
        ANNOTATIONS => quirks.fields == AnswerFields::All,
        DETAILS | "audio" | "extra_content" => true,
        _ => quirks.fields >= AnswerFields::Unknown,
    }
}

/// Adds the fields of a message that only the provider uses, if it takes them back. It takes audio by its id: what has none
/// is not sent.
pub(super) fn add_opaque(sent: &mut Value, fields: Option<&Value>, quirks: &Quirks) {
    let fields = fields.and_then(Value::as_object).into_iter().flatten();
    for (name, value) in fields.filter(|(name, _)| is_taken_back(quirks, name)) {
        match &**name {
            "audio" => match value["id"].as_str() {
                None | Some("") => {}
                Some(id) => sent["audio"] = json!({ "id": id }),
            },
            // It has its place between the texts.
            CONTENT => {}
            name => merge(&mut sent[name], value),
        }
    }
}

/// Adds a piece of a field of a message that only the provider uses. A text arrives in pieces, or again and again.
pub(super) fn join_field(all: &mut Value, piece: &Value) {
    match (all, piece) {
        (Value::String(text), Value::String(piece)) if text != piece => text.push_str(piece),
        (all, piece) => join(all, piece),
    }
}

/// Adds a piece of a field that only the provider uses. Items with the same index are pieces of one, and the texts in them
/// are joined.
fn join(all: &mut Value, piece: &Value) {
    match (all, piece) {
        (Value::Array(all), Value::Array(pieces)) => {
            for piece in pieces {
                let index = piece.get("index").filter(|index| index.is_u64());
                let same = |known: &&mut Value| {
                    index.is_some()
                        && known.get("index") == index
                        && known.get("type") == piece.get("type")
                };
                match all.iter_mut().find(same) {
                    Some(known) => join(known, piece),
                    None => all.push(piece.clone()),
                }
            }
        }
        (Value::Object(all), Value::Object(fields)) => {
            for (name, value) in fields {
                let known = all.entry(name).or_insert(Value::Null);
                match (&mut *known, value) {
                    (Value::String(text), Value::String(piece)) if JOINED.contains(&&**name) => {
                        text.push_str(piece);
                    }
                    (_, Value::Null) => {}
                    (known, value) => join(known, value),
                }
            }
        }
        (all, piece) => *all = piece.clone(),
    }
}

/// The fields whose texts arrive in pieces.
const JOINED: [&str; 6] = [
    "text",
    "summary",
    "data",
    "transcript",
    "arguments",
    "output",
];

/// An image that the model drew, as gateways send it.
pub(super) fn image(image: &Value) -> Option<Delta> {
    let url = text(image, "/image_url/url")?;
    let data = url
        .strip_prefix("data:")
        .and_then(|data| data.split_once(";base64,"));
    let (media_type, source) = match data {
        Some((media_type, data)) => (
            media_type.to_string(),
            MediaSource::Base64(data.to_string()),
        ),
        None => ("image/png".to_string(), MediaSource::Url(url)),
    };
    Some(Delta::Part(Part::Media(Media {
        media_type,
        source,
        origin: None,
    })))
}

/// The results of Azure's content filter for the prompt. They are in the response's `meta`.
pub(super) const PROMPT_FILTER: &str = "prompt_filter_results";

/// Adds the results of a piece of the answer, by category. What was filtered in one piece stays filtered.
pub(super) fn add_filter_results(results: Option<&Value>, data: &mut ResponseData) {
    let Some(Value::Object(results)) = results else {
        return;
    };
    if results.is_empty() {
        return;
    }
    let all = data.meta.entry(content_filter::RESULTS);
    let Value::Object(all) = all.or_insert_with(|| Map::new().into()) else {
        return;
    };
    for (category, result) in results {
        if all
            .get(category)
            .is_none_or(|known| known["filtered"] != true)
        {
            all.insert(category.clone(), result.clone());
        }
    }
}
