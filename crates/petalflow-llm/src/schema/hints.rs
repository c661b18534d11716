//! Descriptions for keywords that a dialect does not support.

use serde_json::{Map, Value};

/// Moves keywords into the description: `… (minimum: 1, default: 3)`.
pub(super) fn hint(schema: &mut Map<String, Value>, keywords: &[&str]) {
    let hints: Vec<_> = keywords
        .iter()
        .filter_map(|&keyword| {
            let value = schema.remove(keyword)?;
            Some(format!("{}: {}", phrase(keyword), text(&value)))
        })
        .collect();
    if !hints.is_empty() {
        describe(schema, &format!("({})", hints.join(", ")));
    }
}

/// Adds a sentence to the description.
pub(super) fn describe(schema: &mut Map<String, Value>, more: &str) {
    let text = match schema.get("description") {
        Some(Value::String(text)) if !text.is_empty() => format!("{text} {more}"),
        _ => more.into(),
    };
    schema.insert("description".into(), text.into());
}

/// `more than` for `exclusiveMinimum`.
fn phrase(keyword: &str) -> &str {
    match keyword {
        "exclusiveMinimum" => "more than",
        "exclusiveMaximum" => "less than",
        "multipleOf" => "multiple of",
        "minLength" => "shortest length",
        "maxLength" => "longest length",
        "minItems" => "fewest items",
        "maxItems" => "most items",
        "uniqueItems" => "no item twice",
        "minProperties" => "fewest properties",
        "maxProperties" => "most properties",
        "enum" => "one of",
        keyword => keyword,
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(" | "),
        value => value.to_string(),
    }
}
