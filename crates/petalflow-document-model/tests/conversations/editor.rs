//! Documents of the editor.

use petalflow_document_model::conversations::decision::Operator;
use petalflow_document_model::conversations::editor::{
    EditorDocument, Node, NodeType, function_name_problem, node_id,
};
use petalflow_document_model::conversations::{Code, Conversation, Severity};
use serde_json::{Value, json};

use crate::conversations::{messages, shared_document};

fn parse(document: Value) -> EditorDocument {
    serde_json::from_value(document).expect("the types fit")
}

fn parse_error(document: Value) -> String {
    serde_json::from_value::<EditorDocument>(document)
        .unwrap_err()
        .to_string()
}

/// A document with these nodes: pairs of a name and data.
fn document(nodes: &[(&str, Value)]) -> EditorDocument {
    let nodes = nodes.iter().map(|(id, data)| {
        json!({ "id": id, "type": "node", "position": { "x": 1, "y": 2 }, "data": data })
    });
    let nodes: Vec<Value> = nodes.collect();
    parse(json!({ "meta": { "name": "Test", "version": "1" }, "nodes": nodes, "edges": [] }))
}

fn function(name: &str, next: &str) -> Value {
    json!({ "name": name, "description": "d", "next_node_id": next })
}

fn decision(name: &str, conditions: Value, default: &str) -> Value {
    json!({ "name": name, "description": "d", "decision":
        { "action": "result = 1", "conditions": conditions, "default_next_node_id": default } })
}

#[test]
fn f001_the_editors_examples_are_read_and_written_without_loss() {
    for file in ["food_ordering", "minimal"] {
        let Some(text) = shared_document(&format!("editor/{file}.json")) else {
            return;
        };
        let value: Value = serde_json::from_str(&text).unwrap();
        let document = parse(value.clone());
        assert_eq!(document.findings(), [], "{file}");
        assert_eq!(serde_json::to_value(&document).unwrap(), value, "{file}");
        assert!(Conversation::from_editor(&document).is_ok());
    }
}

#[test]
fn f002_f003_f004_required_fields() {
    let whole = json!({
        "meta": { "name": "a", "version": "1" },
        "nodes": [{ "id": "a", "type": "node", "position": { "x": 1, "y": 2 }, "data": {} }],
        "edges": [],
    });
    parse(whole.clone());
    for (pointer, field) in [
        ("", "meta"),
        ("", "nodes"),
        ("", "edges"),
        ("/meta", "name"),
        ("/meta", "version"),
        ("/nodes/0", "id"),
        ("/nodes/0", "type"),
        ("/nodes/0", "position"),
        ("/nodes/0", "data"),
        ("/nodes/0/position", "x"),
        ("/nodes/0/position", "y"),
    ] {
        let mut broken = whole.clone();
        let object = broken.pointer_mut(pointer).and_then(Value::as_object_mut);
        object.expect("an object").remove(field);
        assert_eq!(
            parse_error(broken),
            format!("missing field `{field}`"),
            "{pointer}"
        );
    }
}

#[test]
fn f005_unknown_keys_are_kept() {
    let value = json!({
        "$id": "https://flows.pipecat.ai/schema/flow.json",
        "meta": { "name": "a", "version": "1", "author": "b" },
        "context": { "deep": [1, { "a": null }] },
        "global_functions": [{ "name": "help", "description": "d", "later": true }],
        "nodes": [{ "id": "a", "type": "initial", "position": { "x": 1.5, "y": -2, "z": 3 }, "selected": false,
            "data": { "label": "A", "type": "initial", "task_messages": [{ "role": "user", "content": "b", "tag": 1 }],
                "functions": [{ "name": "f", "description": "d", "timeout_secs": 3,
                    "properties": { "p": { "type": "array", "items": { "type": "string" } } }, "required": [] }],
                "context_strategy": { "strategy": "RESET", "x": 1 }, "respond_immediately": true } }],
        "edges": [{ "id": "e", "source": "a", "target": "a", "label": "l", "priority": 1 }],
        "viewport": { "zoom": 1 },
    });
    assert_eq!(serde_json::to_value(parse(value.clone())).unwrap(), value);
}

#[test]
fn f006_roles() {
    let with_role = |role: &str| {
        json!({ "meta": { "name": "a", "version": "1" }, "edges": [], "nodes": [{ "id": "a", "type": "node",
            "position": { "x": 1, "y": 2 }, "data": { "task_messages": [{ "role": role, "content": "c" }] } }] })
    };
    // The editor refuses `developer`, which its runtime uses.
    for role in ["system", "user", "assistant", "developer"] {
        parse(with_role(role));
    }
    assert!(parse_error(with_role("tool")).contains("unknown variant `tool`"));
}

#[test]
fn f007_parameters() {
    let property = json!({ "type": "integer", "enum": ["a", 1, 2.5], "minimum": 1, "maximum": 9, "pattern": "^a$" });
    let data = json!({ "functions": [{ "name": "f", "description": "d", "properties": { "p": property, "q": { "type": "color" } } }] });
    let document = document(&[("a", data)]);
    let findings = document.findings();
    let of_types: Vec<_> = findings
        .iter()
        .filter(|it| it.code == Code::UnknownType)
        .collect();
    assert_eq!(of_types.len(), 1);
    assert_eq!(of_types[0].severity, Severity::Warning);
    assert!(
        of_types[0]
            .message
            .starts_with("parameter 'q' of function 'f' has the type 'color'")
    );
}

#[test]
fn f007_a_parameter_that_no_value_fits_is_an_error() {
    let data = json!({ "functions": [{ "name": "f", "description": "d", "required": ["size", "sice"], "properties": {
        "kind": { "type": "string", "enum": [] }, "size": { "type": "integer", "minimum": 5, "maximum": 1 } } }] });
    let document = document(&[("a", data)]);
    let findings = document.findings();
    let errors: Vec<&str> = findings
        .iter()
        .filter(|it| it.severity == Severity::Error)
        .map(|it| it.message.as_str())
        .collect();
    assert_eq!(
        errors,
        [
            "function 'f' requires 'sice', which is not in its properties; did you mean `size`?",
            "parameter 'kind' of function 'f' has an empty `enum`: no value fits",
            "parameter 'size' of function 'f' has the minimum 5 above its maximum 1: no number fits",
        ]
    );
}

#[test]
fn f008_f009_decisions() {
    let data = |decision: Value| json!({ "functions": [{ "name": "f", "description": "d", "decision": decision }] });
    document(&[(
        "a",
        data(json!({ "action": "a", "conditions": [], "default_next_node_id": "a" })),
    )]);
    let decision_error = |decision: Value| {
        let node = json!({ "id": "a", "type": "node", "position": { "x": 1, "y": 2 }, "data": data(decision) });
        parse_error(
            json!({ "meta": { "name": "a", "version": "1" }, "edges": [], "nodes": [node] }),
        )
    };
    assert_eq!(
        decision_error(json!({ "action": "a", "conditions": [] })),
        "missing field `default_next_node_id`"
    );
    let unknown = json!([{ "operator": "=", "value": "1", "next_node_id": "a" }]);
    let error = decision_error(
        json!({ "action": "a", "conditions": unknown, "default_next_node_id": "a" }),
    );
    assert!(error.starts_with("unknown variant `=`"), "{error}");
    for operator in Operator::ALL {
        let condition =
            json!([{ "operator": operator.as_str(), "value": "[1]", "next_node_id": "a" }]);
        let document = document(&[("a", json!({ "functions": [decision("f", condition, "a")] }))]);
        let errors = document.findings();
        assert!(
            errors.iter().all(|it| it.severity == Severity::Warning),
            "{errors:?}"
        );
    }
}

#[test]
fn f010_a_duplicate_node_is_an_error() {
    let document = document(&[("a", json!({})), ("b", json!({})), ("a", json!({}))]);
    let finding = &document.findings()[0];
    assert_eq!(finding.message, "Duplicate node id: a");
    assert_eq!(finding.pointer, "/nodes/2/id");
    assert_eq!(finding.severity, Severity::Error);
}

#[test]
fn f011_an_edge_without_an_end_is_an_error() {
    let mut document = document(&[("start", json!({}))]);
    document.edges =
        serde_json::from_value(json!([{ "id": "e", "source": "strat", "target": "elsewhere" }]))
            .unwrap();
    let findings = document.findings();
    let found: Vec<_> = findings
        .iter()
        .filter(|it| it.code == Code::UnknownNode)
        .map(|it| (it.pointer.as_str(), it.message.as_str(), it.severity))
        .collect();
    assert_eq!(
        found,
        [
            (
                "/edges/0/source",
                "Edge source not found: strat; did you mean `start`?",
                Severity::Error
            ),
            (
                "/edges/0/target",
                "Edge target not found: elsewhere",
                Severity::Error
            ),
        ]
    );
}

#[test]
fn f012_a_mistake_that_the_editor_does_not_check_is_a_warning() {
    let conditions = json!([{ "operator": "==", "value": "1", "next_node_id": "gone" }]);
    let functions = json!([
        function("f", "missing"),
        function("f", "a"),
        decision("g", conditions, "lost")
    ]);
    let mut document = document(&[("a", json!({ "functions": functions })), ("b", json!({}))]);
    document.nodes[0].kind = NodeType::Initial;
    document.nodes[1].kind = NodeType::Initial;
    let findings = document.findings();
    assert_eq!(
        messages(&findings),
        [
            "node 'a' function 'f' transitions to unknown node 'missing'",
            "duplicate function 'f' in node 'a'",
            "node 'a' function 'g' transitions to unknown node 'gone'",
            "node 'a' function 'g' transitions to unknown node 'lost'",
            "'b' has the type `initial`, but 'a' before it has it as well: a conversation has one first node",
            "nothing leads to node 'b'",
        ]
    );
    assert!(findings.iter().all(|it| it.severity == Severity::Warning));
    let errors = Conversation::from_editor(&document).unwrap_err();
    let errors = errors.iter().filter(|it| it.severity == Severity::Error);
    assert_eq!(errors.count(), 5);
}

#[test]
fn f014_f015_types_are_derived() {
    let end = json!([{ "type": "tts_say", "text": "a" }, { "type": "end_conversation" }]);
    let role = json!([{ "role": "system", "content": "a" }]);
    for (data, kind) in [
        (
            json!({ "post_actions": end, "role_messages": role }),
            NodeType::End,
        ),
        (json!({ "role_messages": role }), NodeType::Initial),
        (json!({ "role_messages": [] }), NodeType::Node),
        (
            json!({ "post_actions": [{ "type": "tts_say", "text": "a" }] }),
            NodeType::Node,
        ),
    ] {
        let mut document = document(&[("a", data)]);
        assert_eq!(document.nodes[0].data.derived_type(), kind);
        // The editor replaces the type when it writes the document. Here what was read is written.
        document.nodes[0].kind = NodeType::Initial;
        assert_eq!(
            serde_json::to_value(&document).unwrap()["nodes"][0]["type"],
            "initial"
        );
    }
}

#[test]
fn f016_f017_f018_f019_edges_are_derived() {
    let conditions = json!([
        { "operator": ">=", "value": "5", "next_node_id": "b" },
        { "operator": "in", "value": "['x']", "next_node_id": "a" },
    ]);
    let mut decides = decision("choose", conditions, "a");
    decides["next_node_id"] = "b".into();
    let functions = json!([function("go", "b"), function("again", "a"), function("", "b"), decides,
        { "name": "stay", "description": "d" }]);
    let document = document(&[("a", json!({ "functions": functions })), ("b", json!({}))]);
    let edges = document.derived_edges();
    let shown: Vec<_> = edges
        .iter()
        .map(|it| {
            (
                it.id.as_str(),
                it.source.as_str(),
                it.target.as_str(),
                it.label.as_deref().unwrap_or("-"),
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("func-a-go-b", "a", "b", "go"),
            ("func-a-again-a", "a", "a", "again"),
            ("edge-a-decision-a-choose", "a", "decision-a-choose", "-"),
            (
                "edge-decision-a-choose-cond-0-b",
                "decision-a-choose",
                "b",
                "result >= 5"
            ),
            (
                "edge-decision-a-choose-cond-1-a",
                "decision-a-choose",
                "a",
                "result in ['x']"
            ),
            (
                "edge-decision-a-choose-default-a",
                "decision-a-choose",
                "a",
                "default"
            ),
        ]
    );
    assert!(edges[1].is_loop() && !edges[0].is_loop());
}

#[test]
fn f020_an_exported_document_has_no_edges_of_decisions() {
    let functions = json!([function("go", "b"), decision("choose", json!([]), "a")]);
    let document = document(&[("a", json!({ "functions": functions })), ("b", json!({}))]);
    let conversation = Conversation::from_editor(&document).unwrap();
    let exported = conversation.to_editor().document;
    let ids: Vec<_> = exported.edges.iter().map(|edge| edge.id.as_str()).collect();
    assert_eq!(ids, ["func-a-go-b"]);
}

#[test]
fn f021_decisions_have_a_place() {
    let mut document = document(&[("a", json!({ "functions": [decision("f", json!([]), "a")] }))]);
    let place = |document: &EditorDocument| {
        let node = &document.decision_nodes()[0];
        (node.x, node.y)
    };
    assert_eq!(place(&document), (1.0, 152.0));
    let functions = document.nodes[0].data.functions.as_mut().unwrap();
    let stored = serde_json::from_value(json!({ "x": 7, "y": 8.5 })).unwrap();
    functions[0]
        .decision
        .as_mut()
        .unwrap()
        .decision_node_position = Some(stored);
    assert_eq!(place(&document), (7.0, 8.5));
}

#[test]
fn f022_a_decision_is_found_in_a_node_with_a_dash() {
    let data = json!({ "functions": [decision("c", json!([]), "a-b")] });
    let document = document(&[
        ("a-b", data),
        ("a", json!({ "functions": [function("b-c", "a")] })),
    ]);
    // The editor looks for function `b-c` of node `a`.
    assert_eq!(
        document.decision_source("decision-a-b-c"),
        Some(("a-b", "c"))
    );
    assert_eq!(document.decision_source("decision-a-x"), None);
    assert_eq!(document.decision_source("other"), None);
}

#[test]
fn f023_a_rename_changes_all_references() {
    let conditions = json!([{ "operator": "==", "value": "1", "next_node_id": "b" }]);
    let mut decides = decision("g", conditions, "b");
    decides["next_node_id"] = "b".into();
    let mut document = document(&[
        ("a", json!({ "functions": [function("f", "b"), decides] })),
        ("b", json!({})),
    ]);
    document.edges =
        serde_json::from_value(json!([{ "id": "e", "source": "a", "target": "b" }])).unwrap();
    assert!(document.rename_node("b", "done"));
    assert!(!document.rename_node("b", "again"));
    let text = serde_json::to_string(&document).unwrap();
    assert!(!text.contains("\"b\""), "{text}");
    assert_eq!(text.matches("\"done\"").count(), 6);
}

#[test]
fn f024_an_export_keeps_the_name_and_the_global_functions() {
    let mut document = document(&[("a", json!({}))]);
    document.global_functions =
        serde_json::from_value(json!([{ "name": "help", "description": "Help." }])).unwrap();
    let exported = Conversation::from_editor(&document).unwrap().to_editor();
    assert_eq!(exported.document.meta.name, "Test");
    assert_eq!(
        exported.document.global_functions,
        document.global_functions
    );
    assert_eq!(exported.dropped, []);
}

#[test]
fn f025_names_from_titles() {
    for (label, id) in [
        ("Order Pizza", "order_pizza"),
        ("  A -- B!! ", "a_b"),
        ("_x_", "x"),
        ("3 things", "node_3_things"),
        ("", "node"),
        ("!!!", "node"),
        ("Größe", "gr_e"),
    ] {
        assert_eq!(node_id(label, []), id, "{label}");
    }
    assert_eq!(node_id("End", ["end"]), "end_1");
    assert_eq!(node_id("End", ["end", "end_1", "end_2"]), "end_3");
    // The editor gives several nodes without a title the same name.
    assert_eq!(node_id("", ["node"]), "node_1");
}

#[test]
fn f026_names_of_functions() {
    for name in ["a", "choose_pizza", "f2"] {
        assert_eq!(function_name_problem(name), None);
    }
    for name in ["", "A", "choosePizza", "2f", "_f", "a-b", "a b", "é"] {
        let problem = function_name_problem(name).expect(name);
        assert!(
            problem.starts_with(&format!("'{name}' is not a name for a function")),
            "{problem}"
        );
    }
}

#[test]
fn f027_a_copy_of_a_node() {
    let role = json!([{ "role": "system", "content": "a" }]);
    let data = json!({ "label": "X", "role_messages": role, "functions": [function("f", "b")] });
    let mut document = document(&[("x", data), ("b", json!({}))]);
    document.nodes[0].kind = NodeType::Initial;
    assert_eq!(document.duplicate_node("x").as_deref(), Some("x_copy"));
    assert_eq!(document.duplicate_node("x").as_deref(), Some("x_copy_2"));
    assert_eq!(document.duplicate_node("nothing"), None);
    let copy = &document.nodes[2];
    assert_eq!(copy.kind, NodeType::Node);
    assert_eq!(copy.data.role_messages, None);
    assert_eq!(copy.data.functions, document.nodes[0].data.functions);
    let labels: Vec<_> = document
        .nodes
        .iter()
        .filter_map(|it| it.data.label.as_deref())
        .collect();
    assert_eq!(labels, ["X", "X copy", "X copy 2"]);
}

#[test]
fn f028_templates() {
    let mut document = EditorDocument::new("Test");
    for (kind, label) in [
        (NodeType::Initial, "Start"),
        (NodeType::Node, "Middle"),
        (NodeType::End, "End"),
    ] {
        let node = Node::template(kind, label, document.nodes.iter().map(|it| it.id.as_str()));
        assert!(node.data.task_messages.is_some());
        assert_eq!(node.data.role_messages.is_some(), kind == NodeType::Initial);
        assert_eq!(node.data.derived_type(), kind);
        document.nodes.push(node);
    }
}

#[test]
fn f036_conditions_without_a_readable_value_are_errors() {
    let conditions = json!([
        { "operator": "==", "value": "", "next_node_id": "a" },
        { "operator": "==", "value": "small", "next_node_id": "a" },
        { "operator": "in", "value": "5", "next_node_id": "a" },
        { "operator": "not", "value": "", "next_node_id": "a" },
    ]);
    let document = document(&[(
        "a",
        json!({ "functions": [decision("f", conditions, "a")] }),
    )]);
    let findings = document.findings();
    let found: Vec<_> = findings
        .iter()
        .filter(|it| it.code == Code::BadCondition)
        .map(|it| {
            (
                it.pointer.as_str().rsplit('/').nth(1).unwrap(),
                it.message.as_str(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (
                "0",
                "the condition `result == ` of function 'f': the value is empty: write a literal such as `5`, `\"text\"` or \
                 `[1, 2]`"
            ),
            (
                "1",
                "the condition `result == small` of function 'f': `small` is the name of a variable in Python: write \
                 `\"small\"` for a text"
            ),
            (
                "2",
                "the condition `result in 5` of function 'f' compares with one value: write a list, for example `[5]`"
            ),
        ]
    );
}

#[test]
fn f040_f054_a_summary_needs_a_prompt() {
    for strategy in [
        json!({ "strategy": "RESET_WITH_SUMMARY" }),
        json!({ "strategy": "RESET_WITH_SUMMARY", "summary_prompt": " " }),
    ] {
        let document = document(&[("a", json!({ "context_strategy": strategy }))]);
        let findings = document.findings();
        assert_eq!(findings[0].code, Code::BadStrategy);
        assert_eq!(findings[0].severity, Severity::Error);
    }
}

#[test]
fn a_circle_of_ten_thousand_nodes_is_checked_in_linear_time() {
    let names: Vec<String> = (0..10_000).map(|index| format!("n{index}")).collect();
    let nodes: Vec<(&str, Value)> = (0..10_000)
        .map(|index| {
            let next = &names[(index + 1) % 10_000];
            (
                names[index].as_str(),
                json!({ "functions": [function("go", next)] }),
            )
        })
        .collect();
    let document = document(&nodes);
    assert_eq!(
        document.findings().len(),
        1,
        "only that no node is the first"
    );
}
