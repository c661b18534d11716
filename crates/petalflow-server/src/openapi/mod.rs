//! The interface as an OpenAPI document.

#[cfg(test)]
mod event_page;
mod events;
mod kept;
mod operations;
mod parameters;
mod protocols;
mod responses;
mod schemas;
mod security;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Map, Value, json};

use crate::hook::Hook;
use crate::served::ReadThreads;
use crate::server::Inner;
use crate::settings::Settings;
use operations::{
    OF_MEMORY, OF_METRICS, OF_RETENTION, OF_SCHEDULES, OPERATIONS, Operation, PUBLIC,
};
use protocols::OfProtocol;
#[cfg(feature = "mcp")]
pub(crate) use schemas::STATUSES;

/// The document, with the schemas of the flows of this server.
pub(crate) async fn document(State(server): State<Arc<Inner>>) -> Json<Value> {
    Json(build(&server))
}

fn build(server: &Inner) -> Value {
    let settings = &server.settings;
    let key_header = &*settings.key_header;
    let mut schemas = schemas::all();
    let kept = kept::schemas().into_iter();
    schemas.extend(kept.map(|(name, schema)| (name.to_string(), schema)));
    schemas.extend(events::schemas());
    for flow in &settings.flows {
        let (name, schema) = input(&**flow);
        schemas.insert(name, schema);
    }
    let mut paths = Map::new();
    let mut add = |path: &str, method: &str, operation: Value| {
        let path = paths.entry(path).or_insert_with(|| json!({}));
        path[method] = operation;
    };
    for operation in PUBLIC {
        add(
            operation.path,
            operation.method,
            described(operation, &json!([]), key_header),
        );
    }
    let security = security::of_threads(settings);
    let own = [
        OPERATIONS,
        OF_RETENTION,
        of_memory(settings),
        OF_METRICS,
        OF_SCHEDULES,
    ];
    for operation in own.into_iter().flatten() {
        add(
            operation.path,
            operation.method,
            described(operation, &security, key_header),
        );
    }
    let security = security::of_protocols(settings);
    for of_protocol in of_protocols(settings) {
        let operation = &of_protocol.operation;
        add(
            operation.path,
            operation.method,
            of_protocol.described(&security, key_header),
        );
    }
    for hook in &settings.hooks {
        for method in &hook.node.config().methods {
            add(
                &hook.path(),
                &method.to_ascii_lowercase(),
                webhook(hook, method, key_header),
            );
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "petalflow",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Flows, agents and documents: starts durable threads, shows them, and steers them.",
        },
        "paths": paths,
        "components": { "schemas": schemas, "securitySchemes": security::schemes(settings) },
    })
}

/// The operations of the memory, if the server has one.
fn of_memory(settings: &Settings) -> &'static [Operation] {
    #[cfg(feature = "memory")]
    let has_memory = settings.memory.is_some();
    #[cfg(not(feature = "memory"))]
    let has_memory = {
        let _ = settings;
        false
    };
    if has_memory { OF_MEMORY } else { &[] }
}

/// The schema of the input of a flow, and its name.
fn input(flow: &dyn ReadThreads) -> (String, Value) {
    let name = schemas::component(&format!("input.{}", flow.facts().name));
    let mut schema = match flow.description()["input"].take() {
        Value::Null => json!({}),
        schema => schema,
    };
    drop_null_defaults(&mut schema);
    // In its place in this document, it is no root.
    let place = format!("#/components/schemas/{name}");
    within(&mut schema, &place);
    (name, schema)
}

/// A default that is `null` says nothing, and generators do not know what to make of it.
fn drop_null_defaults(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if fields.get("default").is_some_and(Value::is_null) {
                fields.remove("default");
            }
            fields.values_mut().for_each(drop_null_defaults);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_null_defaults),
        _ => {}
    }
}

/// Makes the references of a schema to its own parts relative to its place.
fn within(schema: &mut Value, place: &str) {
    match schema {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(reference) if name == "$ref" && reference.starts_with('#') => {
                        *reference = format!("{place}{}", &reference[1..]);
                    }
                    value => within(value, place),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| within(item, place)),
        _ => {}
    }
}

/// The protocols that the server speaks.
fn of_protocols(settings: &Settings) -> impl Iterator<Item = &'static OfProtocol> {
    #[cfg(any(
        feature = "a2a",
        feature = "ag-ui",
        feature = "mcp",
        feature = "openai"
    ))]
    let protocols = &settings.protocols;
    #[cfg(not(any(
        feature = "a2a",
        feature = "ag-ui",
        feature = "mcp",
        feature = "openai"
    )))]
    let _ = settings;
    let served = [
        #[cfg(feature = "openai")]
        (protocols.openai, protocols::OPENAI),
        #[cfg(feature = "a2a")]
        (protocols.a2a.is_some(), protocols::A2A),
        #[cfg(feature = "ag-ui")]
        (protocols.ag_ui, protocols::AG_UI),
        #[cfg(feature = "mcp")]
        (protocols.mcp, protocols::MCP),
        (false, protocols::NONE),
    ];
    let served = served.into_iter().filter(|(is_served, _)| *is_served);
    served.flat_map(|(_, operations)| operations)
}

fn described(operation: &Operation, security: &Value, key_header: &str) -> Value {
    let mut value = json!({
        "operationId": operation.id,
        "summary": operation.summary,
        "tags": [tag(operation.path)],
        "security": security,
        "parameters": parameters::of(operation, key_header),
        "responses": responses::of(operation),
    });
    if let Some(body) = operation.body {
        value["requestBody"] = json!({ "required": true, "content": responses::content(body) });
    }
    value
}

/// The first part of a path, by which generators group operations.
fn tag(path: &str) -> &str {
    let first = path.trim_start_matches('/').split('/').next();
    let first = first.unwrap_or_default().trim_start_matches('.');
    first.split('.').next().unwrap_or_default()
}

impl OfProtocol {
    fn described(&self, security: &Value, key_header: &str) -> Value {
        let public = json!([]);
        let security = if self.operation.is_public {
            &public
        } else {
            security
        };
        let mut value = described(&self.operation, security, key_header);
        let (status, schema) = self.operation.response;
        let mut succeeded = json!({ "description": self.operation.summary });
        if !schema.is_empty() {
            succeeded["content"] = responses::content(schema);
        }
        let refused = "The request is refused, in the form of the protocol.";
        value["responses"] = json!({
            status: succeeded,
            "default": { "description": refused },
        });
        value["externalDocs"] = json!({ "url": self.specification });
        value
    }
}

/// A trigger, whose body is what the trigger accepts.
fn webhook(hook: &Hook, method: &str, key_header: &str) -> Value {
    let id = format!(
        "deliver_{}_{}_{}",
        method.to_ascii_lowercase(),
        hook.workflow,
        hook.trigger
    );
    let id = id.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    let mut value = json!({
        "operationId": id,
        "summary": "Starts a thread of a document. The response is sent when the input is stored.",
        "tags": ["workflows"],
        "security": security::of_hook(hook),
        "parameters": [parameters::key(key_header)],
        "responses": {
            "202": { "description": "The input is stored.", "content": responses::content("Thread") },
            "default": { "description": "The request is refused.", "content": responses::content("Error") },
        },
    });
    if !["GET", "HEAD", "DELETE"].contains(&method) {
        value["requestBody"] = json!({ "content": responses::content("any") });
    }
    value
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn f43_each_operation_has_an_id_of_its_own() {
        let of_protocols = [
            protocols::OPENAI,
            protocols::A2A,
            protocols::AG_UI,
            protocols::MCP,
        ];
        let of_protocols = of_protocols.into_iter().flatten().map(|it| &it.operation);
        let own = [
            PUBLIC,
            OPERATIONS,
            OF_RETENTION,
            OF_MEMORY,
            OF_METRICS,
            OF_SCHEDULES,
        ];
        let own = own.into_iter().flatten();
        let mut ids = BTreeSet::new();
        for operation in own.chain(of_protocols) {
            let is_name = |c: char| c.is_ascii_lowercase() || c == '_' || c.is_ascii_digit();
            assert!(operation.id.chars().all(is_name), "{}", operation.id);
            assert!(!operation.id.is_empty(), "{}", operation.path);
            assert!(
                ids.insert(operation.id),
                "there are two of {}",
                operation.id
            );
        }
    }

    #[test]
    fn references_of_a_schema_stay_its_own() {
        let mut schema = json!({ "$ref": "#/$defs/Tree", "$defs": { "Tree": { "items": { "$ref": "#/$defs/Tree" } } } });
        within(&mut schema, "#/components/schemas/input.a");
        let tree = "#/components/schemas/input.a/$defs/Tree";
        assert_eq!(schema["$ref"], tree);
        assert_eq!(schema["$defs"]["Tree"]["items"]["$ref"], tree);
        assert_eq!(schemas::component("input.a~b"), "input.a_b");
        assert_eq!(tag("/.well-known/agent-card.json"), "well-known");
        assert_eq!(tag("/openapi.json"), "openapi");
    }
}
