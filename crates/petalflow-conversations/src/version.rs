//! The version of a conversation's document.

use petalflow::thread::DocumentVersion;
use petalflow_document_model::conversations::Conversation;
use serde_json::Value;

use crate::BuildError;

/// The version of a document: a checksum of its content, because conversations have no version for people.
pub(crate) fn document_version(document: &Conversation) -> Result<DocumentVersion, BuildError> {
    // The order of names in objects does not count. Another crate of the program can let maps keep it.
    let content = serde_json::to_value(document);
    let content = content.and_then(|value| serde_json::to_vec(&sorted(value)));
    let content = content.map_err(|error| BuildError::Document {
        place: "the document".into(),
        problem: format!("its version cannot be made: {error}"),
    })?;
    let name = document.name.as_deref().unwrap_or("conversation");
    Ok(DocumentVersion::new(name, "", &content))
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.into_iter().collect();
            fields.sort_by(|(a, _), (b, _)| a.cmp(b));
            let fields = fields
                .into_iter()
                .map(|(name, value)| (name, sorted(value)));
            Value::Object(fields.collect())
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        value => value,
    }
}
