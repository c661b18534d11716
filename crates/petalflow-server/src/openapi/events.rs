//! The schemas of events, made from their types: a union with one schema per kind.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::thread_event::{NodeFailure, OpenInterrupt, ThreadEvent};

/// The schema of an event of any kind.
const EVENT: &str = "ThreadEvent";

/// The schemas of events, and of what is in them, by name.
pub(super) fn schemas() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with(|settings| {
            settings.meta_schema = None;
            settings.definitions_path = "/components/schemas".into();
        });
    let mut generator = settings.into_generator();
    generator.subschema_for::<ThreadEvent>();
    generator.subschema_for::<NodeFailure>();
    generator.subschema_for::<OpenInterrupt>();
    let mut schemas = generator.take_definitions(true);
    for schema in schemas.values_mut() {
        drop_sizes(schema);
    }
    let kinds = schemas.remove(EVENT).map(of_kinds).unwrap_or_default();
    let reference = |name: &String| format!("#/components/schemas/{name}");
    let mapping: Map<String, Value> = kinds
        .iter()
        .map(|(kind, name, _)| (kind.clone(), reference(name).into()))
        .collect();
    let union = json!({
        "description": "An event of a thread. A client ignores kinds that it does not know.",
        "oneOf": kinds.iter().map(|(_, name, _)| json!({ "$ref": reference(name) })).collect::<Value>(),
        "discriminator": { "propertyName": "kind", "mapping": mapping },
    });
    schemas.extend(kinds.into_iter().map(|(_, name, schema)| (name, schema)));
    schemas.insert(EVENT.into(), union);
    schemas
}

/// The kinds of an event: the text of the kind, the name of its schema, and the schema, with the fields that all have.
fn of_kinds(mut event: Value) -> Vec<(String, String, Value)> {
    let variants = event["oneOf"].take();
    let of_all = |name: &str| event[name].clone();
    let (properties, required) = (of_all("properties"), of_all("required"));
    let Value::Array(variants) = variants else {
        return Vec::new();
    };
    let kinds = variants.into_iter().filter_map(|mut schema| {
        let kind = schema["properties"]["kind"]["const"].as_str()?.to_string();
        if let (Some(own), Some(all)) =
            (schema["properties"].as_object_mut(), properties.as_object())
        {
            own.extend(all.clone());
        }
        if let (Some(own), Some(all)) = (schema["required"].as_array_mut(), required.as_array()) {
            own.extend(all.iter().cloned());
        }
        let name = format!("{}Event", pascal(&kind));
        Some((kind, name, schema))
    });
    kinds.collect()
}

/// `node_finished` as `NodeFinished`.
pub(super) fn pascal(text: &str) -> String {
    let words = text.split('_').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    words.collect()
}

/// Sizes of numbers, such as `uint64`, are no formats of OpenAPI.
fn drop_sizes(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            let is_size = |format: &Value| format.as_str().is_some_and(|it| it.starts_with("uint"));
            if fields.get("format").is_some_and(is_size) {
                fields.remove("format");
            }
            fields.values_mut().for_each(drop_sizes);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_sizes),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use petalflow::event::EventName;

    use super::*;
    use crate::openapi::event_page;

    #[test]
    fn f43_each_kind_of_a_stored_event_has_a_schema() {
        let schemas = schemas();
        let union = &schemas[EVENT];
        let kinds = union["discriminator"]["mapping"].as_object();
        let kinds = kinds.expect("kinds");
        assert_eq!(union["oneOf"].as_array().map(Vec::len), Some(kinds.len()));
        for (kind, reference) in kinds {
            // The only one that no log has.
            let is_stored = kind != "partial_output";
            assert_eq!(EventName::named(kind).is_some(), is_stored, "{kind}");
            let name = reference.as_str().and_then(|it| it.rsplit('/').next());
            let schema = &schemas[name.expect("a name")];
            assert_eq!(schema["properties"]["kind"]["const"], **kind);
            let required = schema["required"].as_array().expect("required fields");
            for field in ["kind", "namespace", "superstep", "recorded_ms"] {
                assert!(required.contains(&field.into()), "{kind}: {field}");
            }
            assert!(schema["description"].is_string(), "{kind}");
        }
        // A state and an event of a sub-flow are no events of a log: the thread has the one, and the other is one by itself.
        assert_eq!(kinds.len(), 17);
        for missing in [EventName::Values, EventName::Nested] {
            assert!(!kinds.contains_key(missing.as_str()));
        }
    }

    #[test]
    fn f43_the_page_of_events_is_made_from_their_types() {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/reference/events.md"
        );
        let page = event_page::text(&schemas());
        if std::env::var_os("PETALFLOW_BLESS").is_some() {
            std::fs::write(file, &page).expect("it is written");
        }
        let written = std::fs::read_to_string(file).expect("the page is there");
        assert_eq!(written, page, "write it again with PETALFLOW_BLESS=1");
    }
}
