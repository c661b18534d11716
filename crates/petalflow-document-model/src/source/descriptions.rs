//! Descriptions in JSON Schemas that are made from Rust types.

use serde_json::Value;

/// The schema, with descriptions that end before their first example. The documentation of a Rust type is the description
/// of its schema, and readers of a document do not write Rust.
///
/// ```
/// use petalflow_document_model::source::schema::without_examples;
/// use serde_json::json;
///
/// let schema = json!({ "description": "A price.\n\n```\nlet price = 3;\n```", "type": "integer" });
/// assert_eq!(without_examples(schema), json!({ "description": "A price.", "type": "integer" }));
/// ```
pub fn without_examples(mut schema: Value) -> Value {
    shorten(&mut schema);
    schema
}

fn shorten(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                match value {
                    Value::String(text) if name == "description" => {
                        let end = text.find("```").unwrap_or(text.len());
                        text.truncate(text[..end].trim_end().len());
                    }
                    other => shorten(other),
                }
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(shorten),
        _ => {}
    }
}
