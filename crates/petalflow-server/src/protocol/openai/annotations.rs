//! The sources that an answer cites, as OpenAI's clients read them.

use petalflow_llm::native::Source;
use serde_json::{Value, json};

use crate::protocol::turn::CitedPassage;

/// The annotations of a part of a response.
pub(super) fn of_response(cited: &[CitedPassage]) -> Vec<Value> {
    let annotations = cited.iter().filter_map(|passage| match &passage.source {
        Source::Web { url, .. } => Some(json!({
            "type": "url_citation",
            "url": url,
            "title": passage.source.title(),
            "start_index": passage.characters.start,
            "end_index": passage.characters.end,
        })),
        Source::File { id, .. } => Some(json!({
            "type": "file_citation",
            "file_id": id.as_deref().unwrap_or_default(),
            "filename": passage.source.title(),
            "index": passage.characters.end,
        })),
        _ => None,
    });
    annotations.collect()
}

/// The annotations of a chat completion, which are of pages of the web only. The message begins at this character.
pub(super) fn of_chat(cited: &[CitedPassage], start: usize) -> Vec<Value> {
    let annotations = cited.iter().filter_map(|passage| {
        let page = json!({
            "url": passage.source.url()?,
            "title": passage.source.title(),
            "start_index": start + passage.characters.start,
            "end_index": start + passage.characters.end,
        });
        Some(json!({ "type": "url_citation", "url_citation": page }))
    });
    annotations.collect()
}
