//! JSON whose fields have one order in each program.

use serde_json::{Map, Value};

/// A value whose objects have their fields by name. Without this, their order depends on the feature `preserve_order` of
/// `serde_json`, which any crate of a program can ask for.
#[must_use]
pub fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.into_iter().collect();
            fields.sort_by(|one, other| one.0.cmp(&other.0));
            let fields = fields
                .into_iter()
                .map(|(name, field)| (name, sorted(field)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        other => other,
    }
}
