//! What the keywords of a JSON Schema say.

use serde_json::Value;

/// The schema that a reference names.
pub(crate) fn resolve<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    let Some(reference) = schema.get("$ref").and_then(Value::as_str) else {
        return schema;
    };
    // Names of Rust types have no characters that a pointer escapes.
    let mut names = reference.split('/').skip(1);
    let found = names.try_fold(root, |at, name| at.get(name));
    found.unwrap_or(schema)
}

pub(crate) fn variants(schema: &Value) -> Option<&[Value]> {
    let list = schema.get("oneOf").or_else(|| schema.get("anyOf"))?;
    list.as_array().map(Vec::as_slice)
}

pub(crate) fn allowed(schema: &Value) -> Option<Vec<&Value>> {
    if let Some(constant) = schema.get("const") {
        return Some(vec![constant]);
    }
    let list = schema.get("enum")?.as_array()?;
    Some(list.iter().collect())
}

/// The field whose constant value differs between all variants.
pub(crate) fn tag<'s>(variants: &[&'s Value]) -> Option<&'s str> {
    let properties = variants.first()?.get("properties")?.as_object()?;
    let is_tag = |name: &&String| variants.iter().all(|it| constant(it, name).is_some());
    properties.keys().find(is_tag).map(String::as_str)
}

/// The only value that a field can have.
pub(crate) fn constant<'s>(schema: &'s Value, name: &str) -> Option<&'s Value> {
    schema.get("properties")?.get(name)?.get("const")
}

pub(crate) fn required(schema: &Value) -> impl Iterator<Item = &str> {
    let list = schema.get("required").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}

pub(crate) fn min_length(schema: &Value) -> u64 {
    schema.get("minLength").and_then(Value::as_u64).unwrap_or(0)
}

pub(crate) fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

/// The limits of the integer types of Rust.
pub(crate) fn integer_limits(schema: &Value) -> (Option<f64>, Option<f64>) {
    match schema.get("format").and_then(Value::as_str) {
        Some("uint32") => (Some(0.0), Some(f64::from(u32::MAX))),
        Some("int32") => (Some(f64::from(i32::MIN)), Some(f64::from(i32::MAX))),
        Some("uint64" | "uint") => (Some(0.0), None),
        _ => (None, None),
    }
}
