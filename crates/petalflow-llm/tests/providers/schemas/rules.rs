//! What providers accept, from their documentation, and whether a schema accepts a value.

use serde_json::{Map, Value};

use crate::schemas::{STRICT, STRICT_FORMATS};

/// In Gemini's JSON Schemas. Others are ignored.
const GEMINI: &[&str] = &[
    "$id",
    "$defs",
    "$ref",
    "$anchor",
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
    "required",
];
/// At the root of a tool's parameters, OpenAI and Anthropic refuse these, strict or not.
const NOT_AT_ROOT: &[&str] = &["oneOf", "anyOf", "allOf", "enum", "not"];

/// Calls `look` with each nested schema, and with the number of objects around it.
fn each(schema: &Value, depth: usize, look: &mut impl FnMut(&Map<String, Value>, usize)) {
    let Value::Object(keywords) = schema else {
        return;
    };
    look(keywords, depth);
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(inner)) => {
                inner
                    .values()
                    .for_each(|schema| each(schema, depth + 1, look));
            }
            ("$defs", Value::Object(inner)) => {
                inner.values().for_each(|schema| each(schema, depth, look));
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(inner)) => {
                inner.iter().for_each(|schema| each(schema, depth, look));
            }
            ("items" | "additionalProperties", Value::Object(_)) => each(value, depth, look),
            _ => {}
        }
    }
}

fn kinds(keywords: &Map<String, Value>) -> Vec<&str> {
    match keywords.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names
}

/// Structured outputs of OpenAI, and those of Anthropic.
pub(super) fn strict(place: &str, schema: &Value) {
    assert_eq!(schema["type"], "object", "{place}: {schema}");
    let mut unions = 0;
    each(schema, 0, &mut |keywords, depth| {
        assert!(depth <= 10, "{place} is deep");
        for keyword in keywords.keys() {
            assert!(
                STRICT.contains(&keyword.as_str()),
                "{place}: `{keyword}` in {keywords:?}"
            );
        }
        let types = kinds(keywords);
        unions += usize::from(types.len() > 1 || keywords.contains_key("anyOf"));
        assert!(
            !types.is_empty() || keywords.contains_key("anyOf"),
            "{place}: {keywords:?}"
        );
        if types.contains(&"object") {
            assert_eq!(keywords["additionalProperties"], false, "{place}");
            let properties = keywords["properties"].as_object().unwrap();
            let required = keywords["required"].as_array().unwrap();
            assert_eq!(
                sorted(properties.keys().map(String::as_str)),
                sorted(required.iter().filter_map(Value::as_str)),
                "{place}"
            );
        }
        assert_eq!(
            types.contains(&"array"),
            keywords.contains_key("items"),
            "{place}: {keywords:?}"
        );
        if let Some(format) = keywords.get("format").and_then(Value::as_str) {
            assert!(
                types.contains(&"string") && STRICT_FORMATS.contains(&format),
                "{place}: {format}"
            );
        }
        let values = keywords.get("enum").and_then(Value::as_array);
        for value in values.into_iter().flatten() {
            assert!(!value.is_array() && !value.is_object(), "{place}: {value}");
        }
    });
    assert!(unions <= 16, "{place} has {unions} unions");
}

/// The parameters of a tool of OpenAI or Anthropic, strict or not.
pub(super) fn tool(place: &str, schema: &Value) {
    assert_eq!(schema["type"], "object", "{place}: {schema}");
    for keyword in NOT_AT_ROOT {
        assert!(
            schema.get(keyword).is_none(),
            "{place}: `{keyword}` in {schema}"
        );
    }
}

/// Gemini's JSON Schemas.
pub(super) fn gemini(place: &str, schema: &Value) {
    each(schema, 0, &mut |keywords, _| {
        for keyword in keywords.keys() {
            assert!(
                GEMINI.contains(&keyword.as_str()),
                "{place}: `{keyword}` in {keywords:?}"
            );
        }
        if keywords.contains_key("$ref") {
            assert!(
                keywords.keys().all(|name| name.starts_with('$')),
                "{place}: {keywords:?}"
            );
        }
        let values = keywords.get("enum").and_then(Value::as_array);
        for value in values.into_iter().flatten() {
            assert!(
                value.is_string() || value.is_number() || value.is_null(),
                "{place}: {value}"
            );
        }
    });
}

/// A value of the type is accepted by its schema, with `null` for what it omits.
pub(super) fn accepts(place: &str, root: &Value, schema: &Value, value: &Value) {
    assert!(
        is_valid(root, schema, value),
        "{place}: {value} does not match {schema}"
    );
}

fn is_valid(root: &Value, schema: &Value, value: &Value) -> bool {
    let Value::Object(keywords) = schema else {
        return schema != &Value::Bool(false);
    };
    if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
        let target = root.pointer(reference.trim_start_matches('#')).unwrap();
        return is_valid(root, target, value);
    }
    let types = kinds(keywords);
    let has_type = |kind: &&str| match *kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        _ => value.is_object(),
    };
    let ways = ["anyOf", "oneOf"]
        .iter()
        .filter_map(|way| keywords.get(*way)?.as_array());
    let in_ways = ways
        .into_iter()
        .all(|ways| ways.iter().any(|way| is_valid(root, way, value)));
    let in_values = match keywords.get("enum").and_then(Value::as_array) {
        Some(values) => values.contains(value),
        None => true,
    };
    let own = types.is_empty() || types.iter().any(has_type);
    own && in_ways && in_values && parts_are_valid(root, keywords, value)
}

fn parts_are_valid(root: &Value, keywords: &Map<String, Value>, value: &Value) -> bool {
    match value {
        Value::Array(items) => match keywords.get("items") {
            Some(schema) => items.iter().all(|item| is_valid(root, schema, item)),
            None => true,
        },
        Value::Object(fields) => {
            let none = Map::new();
            let properties = keywords.get("properties").and_then(Value::as_object);
            let properties = properties.unwrap_or(&none);
            let others = keywords
                .get("additionalProperties")
                .unwrap_or(&Value::Bool(true));
            // The keys of the examples match the pattern.
            let patterns = keywords.get("patternProperties").and_then(Value::as_object);
            let others = patterns
                .and_then(|all| all.values().next())
                .unwrap_or(others);
            let known = fields
                .iter()
                .all(|(name, field)| is_valid(root, properties.get(name).unwrap_or(others), field));
            let required = keywords.get("required").and_then(Value::as_array);
            // Strict schemas require everything, and accept `null` for what is optional.
            let complete = required.into_iter().flatten().all(|name| {
                let name = name.as_str().unwrap();
                fields.contains_key(name) || is_valid(root, &properties[name], &Value::Null)
            });
            known && complete
        }
        _ => true,
    }
}
