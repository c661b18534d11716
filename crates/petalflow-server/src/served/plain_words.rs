//! The descriptions in a schema, for people who do not read Rust.

use serde_json::{Map, Value};

/// The schema without the programs in its descriptions, and without the links between types. They are the documentation of Rust
/// types.
pub(super) fn of(schema: Value) -> Value {
    match schema {
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(field).collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(of).collect()),
        other => other,
    }
}

fn field((name, value): (String, Value)) -> (String, Value) {
    let value = match value {
        Value::String(text) if name == "description" => plain(&text).into(),
        value => of(value),
    };
    (name, value)
}

fn plain(text: &str) -> String {
    let outside = text.split("```").step_by(2);
    let outside: Vec<&str> = outside
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    outside.join("\n\n").replace("[`", "`").replace("`]", "`")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn f43_a_description_has_no_program() {
        let schema = json!({
            "description": "An order of a [`Customer`].\n\n```\nlet order = 1;\n```\n\nIt is paid.",
            "properties": { "description": { "type": "string", "description": "A text." } },
        });
        let expected = json!({
            "description": "An order of a `Customer`.\n\nIt is paid.",
            "properties": { "description": { "type": "string", "description": "A text." } },
        });
        assert_eq!(of(schema), expected);
    }
}
