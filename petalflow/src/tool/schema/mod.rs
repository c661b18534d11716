//! JSON Schemas of arguments.
//!
//! [`of`] returns the neutral schema, which is part of a [`ToolSpec`](super::ToolSpec). `petalflow_llm::schema` converts it for
//! providers that enforce schemas.

mod arguments;
mod check;
mod nulls;
mod path;

pub use arguments::check_arguments;
pub use check::{Mistakes, check};
pub(crate) use nulls::drop_nulls;

use ::schemars::generate::SchemaSettings;
use ::schemars::transform::{RecursiveTransform, Transform};
use ::schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

/// The neutral schema of a type: an object in JSON Schema's draft 2020-12, without references unless the type is
/// recursive, and without the formats that only schemars defines (`uint32`).
///
/// For a type that is not an object, such as `serde_json::Value`, it has no properties.
///
/// ```
/// use petalflow::tool::schema;
/// use serde_json::{Value, json};
///
/// assert_eq!(schema::of::<Value>(), json!({ "type": "object", "properties": {} }));
/// ```
pub fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(drop_own_formats).transform(&mut schema);
    let mut schema = match schema.to_value() {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    schema.remove("title");
    schema.insert("type".into(), "object".into());
    schema
        .entry("properties")
        .or_insert_with(|| Map::new().into());
    schema.into()
}

/// Sizes of numbers are not formats of JSON Schema, and some providers reject unknown formats.
fn drop_own_formats(schema: &mut Schema) {
    let is_own = schema
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(|format| {
            let digits = format.trim_start_matches(|c: char| c.is_ascii_alphabetic());
            let stem = &format[..format.len() - digits.len()];
            matches!(stem, "int" | "uint" | "float" | "double") && !digits.contains('-')
        });
    if is_own {
        schema.remove("format");
    }
}
