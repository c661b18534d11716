//! Where a schema allows any text, so that a part of the text is one too.

use serde_json::Value;

use super::json_path::Step;

/// The most references that are followed, so that those to themselves end.
const MAX_REFERENCES: usize = 32;

/// Whether any text is allowed at the path. Not if one of the alternatives of the schema allows only some texts there.
pub(super) fn is_allowed(schema: &Value, path: &[Step<'_>]) -> bool {
    let mut found = Found::default();
    visit(schema, schema, path, MAX_REFERENCES, &mut found);
    found.any && !found.restricted
}

/// What the alternatives of a schema say about a text.
#[derive(Default)]
struct Found {
    any: bool,
    restricted: bool,
}

fn visit(root: &Value, schema: &Value, path: &[Step<'_>], references: usize, found: &mut Found) {
    let Value::Object(words) = schema else {
        // `true`, or nothing is said.
        found.any |= schema.as_bool().unwrap_or(false);
        return;
    };
    if let Some(target) = words.get("$ref").and_then(Value::as_str) {
        let target = target.strip_prefix('#').and_then(|at| root.pointer(at));
        if let (Some(target), Some(left)) = (target, references.checked_sub(1)) {
            visit(root, target, path, left, found);
        }
    }
    for word in ["anyOf", "oneOf", "allOf"] {
        let either = words.get(word).and_then(Value::as_array);
        for schema in either.into_iter().flatten() {
            visit(root, schema, path, references, found);
        }
    }
    let Some((step, rest)) = path.split_first() else {
        let is_restricted = |word: &&str| words.contains_key(*word);
        if ["enum", "const", "format", "pattern"]
            .iter()
            .any(is_restricted)
        {
            found.restricted = true;
        } else {
            found.any |= words.is_empty() || words.get("type").is_some_and(has_text);
        }
        return;
    };
    let next = match step {
        Step::Key(key) => {
            let named = words.get("properties").and_then(|named| named.get(*key));
            named.or_else(|| words.get("additionalProperties"))
        }
        Step::Index(index) => {
            let first = words.get("prefixItems").and_then(|first| first.get(*index));
            first.or_else(|| words.get("items"))
        }
    };
    if let Some(next) = next {
        visit(root, next, rest, references, found);
    } else if words.is_empty() {
        found.any = true;
    }
}

fn has_text(types: &Value) -> bool {
    match types {
        Value::String(name) => name == "string",
        Value::Array(names) => names.iter().any(|name| name == "string"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde_json::json;

    use super::*;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Plan {
        title: String,
        risk: Risk,
        note: Option<String>,
        steps: Vec<Step2>,
        labels: std::collections::BTreeMap<String, String>,
        inner: Option<Box<Plan>>,
        any: Value,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Risk {
        Low,
        Lower,
    }

    #[derive(JsonSchema)]
    #[serde(tag = "kind")]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Step2 {
        Call { tool: String },
        Say { text: String },
    }

    #[test]
    fn f44_4_texts_that_are_restricted_are_found_in_schemas_of_types() {
        use Step::{Index, Key};
        let schema = schemars::schema_for!(Plan).to_value();
        for (path, allowed) in [
            (vec![Key("title")], true),
            (vec![Key("risk")], false),
            (vec![Key("note")], true),
            (vec![Key("steps"), Index(3), Key("kind")], false),
            (vec![Key("steps"), Index(3), Key("tool")], true),
            (vec![Key("labels"), Key("rose")], true),
            (vec![Key("inner"), Key("inner"), Key("title")], true),
            (vec![Key("inner"), Key("risk")], false),
            (vec![Key("any")], true),
            (vec![Key("unknown")], false),
        ] {
            assert_eq!(is_allowed(&schema, &path), allowed, "{path:?}");
        }
    }

    #[test]
    fn f44_4_references_to_themselves_end() {
        let schema = json!({ "$ref": "#" });
        assert!(!is_allowed(&schema, &[Step::Key("a")]));
    }
}
