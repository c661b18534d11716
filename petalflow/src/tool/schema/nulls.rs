//! Removal of unintended `null` arguments.

use serde_json::{Map, Value};

/// The maximum depth of the search. Only recursive schemas are deeper.
const DEEPEST: usize = 64;

/// Removes each property that is `null`, is optional, and does not accept `null`.
///
/// In strict modes a model cannot omit a property and sends `null` instead. Other models also do so.
pub(crate) fn drop_nulls(schema: &Value, arguments: &mut Map<String, Value>) {
    if has_null(arguments) {
        drop_in(schema, schema, arguments, 0);
    }
}

fn has_null(object: &Map<String, Value>) -> bool {
    fn within(value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::Array(values) => values.iter().any(within),
            Value::Object(object) => has_null(object),
            _ => false,
        }
    }
    object.values().any(within)
}

fn drop_in(root: &Value, schema: &Value, object: &mut Map<String, Value>, depth: usize) {
    let schema = resolve(root, schema);
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return;
    };
    let required = schema.get("required").and_then(Value::as_array);
    object.retain(|name, value| {
        let Some(property) = properties.get(name) else {
            return true;
        };
        if value.is_null() {
            let needed = required.is_some_and(|names| names.iter().any(|known| known == name));
            return needed || accepts_null(root, property, 0);
        }
        inside(root, property, value, depth + 1);
        true
    });
}

fn inside(root: &Value, schema: &Value, value: &mut Value, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    let schema = resolve(root, schema);
    match value {
        Value::Object(object) => drop_in(root, schema, object, depth),
        Value::Array(values) => {
            if let Some(items) = schema.get("items") {
                for value in values {
                    inside(root, items, value, depth + 1);
                }
            }
        }
        _ => {}
    }
}

/// Resolves a reference, or selects the only alternative that is not `null`.
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let mut schema = schema;
    for _ in 0..DEEPEST {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let target = reference
                .strip_prefix('#')
                .and_then(|pointer| root.pointer(pointer));
            match target {
                Some(target) => schema = target,
                None => return schema,
            }
        } else if let Some(ways) = schema.get("anyOf").and_then(Value::as_array) {
            let mut ways = ways
                .iter()
                .filter(|way| way.get("type") != Some(&"null".into()));
            match (ways.next(), ways.next()) {
                (Some(way), None) => schema = way,
                _ => return schema,
            }
        } else {
            return schema;
        }
    }
    schema
}

fn accepts_null(root: &Value, schema: &Value, depth: usize) -> bool {
    let Value::Object(keywords) = schema else {
        return *schema != Value::Bool(false);
    };
    if depth > DEEPEST {
        return true;
    }
    if let Some(reference) = keywords.get("$ref").and_then(Value::as_str) {
        let target = reference
            .strip_prefix('#')
            .and_then(|pointer| root.pointer(pointer));
        return target.is_none_or(|target| accepts_null(root, target, depth + 1));
    }
    if let Some(constant) = keywords.get("const") {
        return constant.is_null();
    }
    if let Some(Value::Array(values)) = keywords.get("enum") {
        return values.contains(&Value::Null);
    }
    let any = |keyword: &str| {
        let ways = keywords.get(keyword).and_then(Value::as_array);
        ways.map(|ways| ways.iter().any(|way| accepts_null(root, way, depth + 1)))
    };
    match keywords.get("type") {
        Some(Value::String(one)) => one == "null",
        Some(Value::Array(types)) => types.contains(&"null".into()),
        _ => any("anyOf").or_else(|| any("oneOf")).unwrap_or(true),
    }
}
