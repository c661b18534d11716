//! The stored JSON Schemas.

use std::sync::LazyLock;

use crate::source::schema::Schema;
#[cfg(feature = "schema")]
use crate::source::schema::without_examples;
use serde_json::Value;

/// The JSON Schema of graph definitions, as stored in `schemas/graph-workflow/v1.json`.
pub const GRAPH_SCHEMA: &str = include_str!("../../schemas/graph-workflow/v1.json");

/// The JSON Schema of agent workflows, as stored in `schemas/agent-workflow/v1.json`.
pub const AGENT_SCHEMA: &str = include_str!("../../schemas/agent-workflow/v1.json");

/// The JSON Schemas of the settings of nodes by node type, as stored in `schemas/node-settings/v1.json`.
pub const SETTINGS_SCHEMAS: &str = include_str!("../../schemas/node-settings/v1.json");

/// Tests compare the stored schemas with the types, so they are JSON.
fn stored(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

pub(crate) static GRAPH: LazyLock<Schema> = LazyLock::new(|| Schema::new(stored(GRAPH_SCHEMA)));
pub(crate) static AGENTS: LazyLock<Schema> = LazyLock::new(|| Schema::new(stored(AGENT_SCHEMA)));
pub(crate) static SETTINGS: LazyLock<Value> = LazyLock::new(|| stored(SETTINGS_SCHEMAS));

/// The JSON Schema of graph definitions, made from the types.
#[cfg(feature = "schema")]
pub fn graph_schema() -> Value {
    of::<crate::documents::GraphDefinition>("graph-workflow", "PetalFlow Graph Workflow v1")
}

/// The JSON Schema of agent workflows, made from the types.
#[cfg(feature = "schema")]
pub fn agent_schema() -> Value {
    of::<crate::documents::AgentWorkflow>("agent-workflow", "PetalFlow Agent Workflow v1")
}

#[cfg(feature = "schema")]
fn of<T: schemars::JsonSchema>(name: &str, title: &str) -> Value {
    let mut schema = without_examples(schemars::schema_for!(T).to_value());
    if let Value::Object(schema) = &mut schema {
        schema.insert(
            "$id".into(),
            format!("https://github.com/petal-labs/petalflow/schemas/{name}/v1.json").into(),
        );
        schema.insert("title".into(), title.into());
    }
    schema
}
