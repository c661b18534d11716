//! The targets that nodes name in their settings.

use petalflow_document_model::documents::Code;
use serde_json::{Value, json};

use super::support::{codes, graph, inspect};

#[test]
fn p206_each_target_of_a_node_has_an_edge() {
    let targets = json!({ "one": "b", "two": "x" });
    for (kind, settings, place, code) in [
        (
            "rule_router",
            json!({ "rules": [{ "target": "b" }, { "target": "x" }] }),
            "rules/1/target",
            Code::TargetWithoutEdge,
        ),
        (
            "rule_router",
            json!({ "rules": [], "default_target": "x" }),
            "default_target",
            Code::TargetWithoutEdge,
        ),
        (
            "llm_router",
            json!({ "allowed_targets": targets }),
            "allowed_targets/two",
            Code::TargetWithoutEdge,
        ),
        (
            "gate",
            json!({ "on_fail": "redirect", "redirect_node_id": "x" }),
            "redirect_node_id",
            Code::TargetWithoutEdge,
        ),
        (
            "gate",
            json!({ "on_fail": "redirect" }),
            "redirect_node_id",
            Code::MissingField,
        ),
        (
            "guardian",
            json!({ "checks": [], "on_fail": "redirect", "redirect_node_id": "" }),
            "redirect_node_id",
            Code::MissingField,
        ),
        (
            "guardian",
            json!({ "checks": [], "on_fail": "redirect", "redirect_node_id": "x" }),
            "redirect_node_id",
            Code::TargetWithoutEdge,
        ),
    ] {
        let node =
            |config: &Value| json!({ "id": "a", "type": kind, "config": config }).to_string();
        let nodes =
            |config: &Value| node(config) + r#",{"id":"b","type":"noop"},{"id":"c","type":"noop"}"#;
        let edges = r#"{"source":"a","target":"b"},{"source":"a","target":"c"}"#;
        let (_, diagnostics) = inspect("g.json", &graph(&nodes(&settings), edges));
        let found: Vec<_> = diagnostics.errors().collect();
        assert_eq!(found.len(), 1, "{settings}: {diagnostics}");
        assert_eq!(
            (found[0].code, &*found[0].pointer),
            (code, &*format!("/nodes/0/config/{place}"))
        );
        let right = settings
            .to_string()
            .replace("\"x\"", "\"c\"")
            .replace("\"\"", "\"c\"");
        let right: Value = serde_json::from_str(&right).expect("JSON");
        if code == Code::TargetWithoutEdge {
            assert_eq!(
                codes("g.json", &graph(&nodes(&right), edges)),
                [""; 0],
                "{right}"
            );
        }
    }
}
