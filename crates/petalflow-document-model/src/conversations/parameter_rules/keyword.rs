//! The words of JSON Schema, and words that are almost one of them.

use crate::source::names::{similar, suggestion};
use serde_json::{Map, Value};

/// The types of JSON Schema.
pub(super) const TYPES: [&str; 7] = [
    "string", "number", "integer", "boolean", "array", "object", "null",
];

/// The keywords of JSON Schema that say something about a parameter. Others are passed on to the model, unless they are
/// misspelt ones of these.
const KEYWORDS: [&str; 27] = [
    "type",
    "title",
    "description",
    "enum",
    "const",
    "default",
    "examples",
    "format",
    "nullable",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "items",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "required",
    "additionalProperties",
    "anyOf",
    "oneOf",
    "allOf",
];

pub(super) fn is_keyword(name: &str) -> bool {
    // `example` is a keyword of OpenAPI.
    KEYWORDS.contains(&name) || name == "example"
}

/// The keyword that a schema does not have and that this name is almost.
pub(super) fn meant_keyword(name: &str, schema: &Map<String, Value>) -> Option<&'static str> {
    let absent = KEYWORDS.into_iter().filter(|it| !schema.contains_key(*it));
    similar(name, absent)
}

/// `; did you mean ..?`: by the letters, or by what other languages call the type.
pub(super) fn nearest_type(name: &str) -> String {
    let lower = name.to_lowercase();
    let meant = match lower.as_str() {
        "int" | "int32" | "int64" | "long" => "integer",
        "float" | "double" | "decimal" => "number",
        "str" | "text" | "date" | "datetime" | "time" => "string",
        "bool" => "boolean",
        "list" | "tuple" | "set" => "array",
        "dict" | "map" | "json" => "object",
        "none" => "null",
        lower if TYPES.contains(&lower) => lower,
        _ => return suggestion(name, TYPES),
    };
    format!("; did you mean `{meant}`?")
}
