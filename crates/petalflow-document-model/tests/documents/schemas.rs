//! The stored schemas are those of the types.

use petalflow_document_model::documents::{AGENT_SCHEMA, GRAPH_SCHEMA, agent_schema, graph_schema};
use serde_json::Value;

/// With `PETALFLOW_BLESS=1` it writes the file.
fn assert_stored(folder: &str, stored: &str, made: &Value) {
    let made = petalflow_test_support::sorted(made.clone());
    let mut text = serde_json::to_string_pretty(&made).expect("a schema is JSON");
    text.push('\n');
    if std::env::var_os("PETALFLOW_BLESS").is_some() {
        let path = format!("{}/schemas/{folder}/v1.json", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path, text).expect("the folder exists");
    } else {
        assert!(
            stored == text,
            "schemas/{folder}/v1.json is not that of the types: run the test with PETALFLOW_BLESS=1"
        );
    }
}

#[test]
fn the_stored_schemas_are_those_of_the_types() {
    assert_stored("graph-workflow", GRAPH_SCHEMA, &graph_schema());
    assert_stored("agent-workflow", AGENT_SCHEMA, &agent_schema());
}
