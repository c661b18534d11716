//! Texts of documents: formats, forms and limits.

use std::fmt::Write as _;

use petalflow_conversation_document::{
    Code, Document, Format, Next, Source, check, config_schema, editor_schema, static_schema,
};
use serde_json::{Value, json};

use crate::shared;

fn codes(name: &str, text: impl Into<String>) -> Vec<Code> {
    let errors = check(&Source::new(name, text)).unwrap_err();
    errors.iter().map(|it| it.code).collect()
}

#[test]
fn f096_the_reservation_in_yaml() {
    let Some(text) = shared("declarative/restaurant_reservation.flow.yaml") else {
        return;
    };
    let checked = check(&Source::new("restaurant_reservation.flow.yaml", text)).unwrap();
    assert!(checked.warnings.is_empty());
    let conversation = checked.conversation;
    assert_eq!(conversation.initial_node, "initial");
    let Next::Branch(branch) = &conversation.nodes["get_time"].functions[0].next else {
        panic!("a branch");
    };
    assert_eq!(branch.field, "status");
    assert_eq!(branch.cases["available"], "confirm");
    assert_eq!(branch.cases["unavailable"], "no_availability");
    assert_eq!(branch.default, None);
}

#[test]
fn f097_the_insurance_quote_in_yaml() {
    let Some(text) = shared("declarative/insurance_quote.flow.yaml") else {
        return;
    };
    let checked = check(&Source::new("insurance_quote.flow.yaml", text)).unwrap();
    let node = &checked.conversation.nodes["quote_results"];
    assert_eq!(node.functions[0].next, Next::Node("quote_results".into()));
    assert!(
        node.task_messages[0]
            .content
            .contains("{{ quote.monthly_premium }}")
    );
}

#[test]
fn f084_the_schema_accepts_what_the_runtimes_schema_accepts() {
    let Some(text) = shared("declarative/flow_config.schema.json") else {
        return;
    };
    let theirs: Value = serde_json::from_str(&text).unwrap();
    let ours = config_schema();
    let names = |schema: &Value, pointer: &str| -> Vec<String> {
        let properties = schema.pointer(pointer).and_then(Value::as_object);
        properties.expect(pointer).keys().cloned().collect()
    };
    assert_eq!(names(&ours, "/properties"), names(&theirs, "/properties"));
    for kind in ["Node", "Function", "Branch", "Message"] {
        let properties = format!("/$defs/{kind}/properties");
        assert_eq!(
            names(&ours, &properties),
            names(&theirs, &properties),
            "{kind}"
        );
        let required = format!("/$defs/{kind}/required");
        assert_eq!(ours.pointer(&required), theirs.pointer(&required), "{kind}");
        let additional = format!("/$defs/{kind}/additionalProperties");
        assert_eq!(
            ours.pointer(&additional),
            theirs.pointer(&additional),
            "{kind}"
        );
    }
}

#[test]
fn f001_each_form_is_recognized() {
    let declarative = r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [] } } }"#;
    let oldest = r#"{ "initial_node": "a", "nodes": { "a": { "messages": [] } } }"#;
    let tools = r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [],
        "functions": [{ "type": "function", "function": { "name": "f", "transition_to": "a" } }] } } }"#;
    let editor = r#"{ "meta": { "name": "a", "version": "1" }, "edges": [], "nodes": [
        { "id": "a", "type": "initial", "position": { "x": 0, "y": 0 }, "data": {} }] }"#;
    let form = |text: &str| check(&Source::new("a.json", text)).unwrap().document;
    assert!(matches!(form(declarative), Document::Config(_)));
    assert!(matches!(form(oldest), Document::Static(_)));
    assert!(matches!(form(tools), Document::Static(_)));
    assert!(matches!(form(editor), Document::Editor(_)));
    assert_eq!(codes("a.json", "{}"), [Code::UnknownForm]);
    assert_eq!(codes("a.json", "[]"), [Code::UnknownForm]);
}

#[test]
fn f013_all_findings_come_at_once_with_their_places() {
    let text = r#"{
  "meta": { "name": "a" },
  "nodes": [
    { "id": "a", "type": "first", "position": { "x": "left", "y": 0 }, "data": {} }
  ],
  "edges": {}
}"#;
    let errors = check(&Source::new("a.json", text)).unwrap_err();
    assert_eq!(
        errors.to_string(),
        "a.json:2:11: error[CV-106]: `version` is missing\n\
         a.json:4:26: error[CV-107]: `first` is not one of `initial`, `node`, `end`, `llm_task`\n\
         a.json:4:54: error[CV-107]: expected a number, not `left`\n\
         a.json:6:12: error[CV-107]: expected a list, not an object"
    );
}

#[test]
fn f046_a_node_has_a_task() {
    let errors = check(&Source::new(
        "a.yaml",
        "initial_node: a\nnodes:\n  a: { functions: [] }\n",
    ));
    assert_eq!(
        errors.unwrap_err().to_string(),
        "a.yaml:3:6: error[CV-106]: `task_messages` is missing"
    );
}

#[test]
fn f094_references_are_checked_when_the_form_is_right() {
    let text = "initial_node: b\nnodes:\n  a: { task_messages: [], colour: red }\n";
    assert_eq!(codes("a.yaml", text), [Code::UnknownField]);
    let text = "initial_node: b\nnodes:\n  a: { task_messages: [] }\n";
    let errors = check(&Source::new("a.yaml", text)).unwrap_err();
    assert_eq!(
        errors.to_string(),
        "a.yaml:1:15: error[CV-002]: initial_node 'b' is not a defined node"
    );
}

#[test]
fn f012_a_document_that_only_the_editor_accepts_is_an_error() {
    let text = r#"{ "meta": { "name": "a", "version": "1" }, "edges": [], "nodes": [
        { "id": "a", "type": "initial", "position": { "x": 0, "y": 0 }, "data": { "functions": [
            { "name": "f", "description": "d", "next_node_id": "b" }] } }] }"#;
    assert_eq!(codes("a.json", text), [Code::UnknownNode]);
}

#[test]
fn f002_a_document_has_nodes() {
    let editor = r#"{ "meta": { "name": "a", "version": "1" }, "edges": [], "nodes": [] }"#;
    let errors = check(&Source::new("a.json", editor)).unwrap_err();
    assert_eq!(
        errors.to_string(),
        "a.json:1:66: error[CV-107]: the number of items is 0, and must be at least 1"
    );
    assert_eq!(
        codes("a.json", r#"{ "initial_node": "a", "nodes": {} }"#),
        [Code::WrongValue]
    );
}

#[test]
fn truth_values_and_numbers_are_cases_in_yaml() {
    let text = "
initial_node: a
nodes:
  a:
    task_messages: []
    functions:
      - name: f
        transition_to: { field: ok, cases: { True: a, 3: a } }
";
    let checked = check(&Source::new("a.yaml", text)).unwrap();
    let Next::Branch(branch) = &checked.conversation.nodes["a"].functions[0].next else {
        panic!("a branch");
    };
    let cases: Vec<_> = branch.cases.keys().map(String::as_str).collect();
    assert_eq!(cases, ["True", "3"]);
}

#[test]
fn hostile_documents_are_errors_in_bounded_time() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(codes("a.json", deep.clone()), [Code::TooLarge]);
    assert_eq!(
        codes("a.yaml", deep),
        [Code::Syntax],
        "the parser's own limit"
    );
    assert_eq!(codes("a.json", " ".repeat(3 << 20)), [Code::TooLarge]);
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let before = format!("*a{}", level - 1);
        let items = [before.as_str(); 10].join(", ");
        let _ = writeln!(bomb, "a{level}: &a{level} [{items}]");
    }
    assert_eq!(codes("a.yaml", bomb), [Code::TooLarge]);
    assert_eq!(codes("a.yaml", "nodes: &a [*a]"), [Code::Syntax]);
    assert_eq!(
        codes("a.yaml", "nodes: !include /etc/passwd"),
        [Code::Syntax]
    );
    assert_eq!(
        codes("a.json", r#"{ "nodes": {}, "nodes": {} }"#).len(),
        3,
        "twice, and wrong"
    );
    assert_eq!(codes("a.json", "{ \"nodes\": 1e999 }"), [Code::WrongValue]);
    assert_eq!(codes("a.json", "\u{0}"), [Code::Syntax]);
}

#[test]
fn a_large_document_is_checked() {
    let nodes: serde_json::Map<String, Value> = (0..5_000)
        .map(|index| {
            let next = format!("n{}", (index + 1) % 5_000);
            let functions = json!([{ "name": "go", "transition_to": next }]);
            (
                format!("n{index}"),
                json!({ "task_messages": [], "functions": functions }),
            )
        })
        .collect();
    let text = json!({ "initial_node": "n0", "nodes": nodes }).to_string();
    let checked = check(&Source::new("a.json", text)).unwrap();
    assert_eq!(checked.conversation.nodes.len(), 5_000);
}

#[test]
fn documents_are_written_and_read_again() {
    let text = "
initial_node: a
nodes:
  a:
    role_message: You are kind.
    task_messages: [{ role: developer, content: 'Ask {{ name }}.' }]
    post_actions: [{ type: end_conversation, text: Bye. }]
";
    let first = check(&Source::new("a.yaml", text)).unwrap();
    let written = serde_json::to_string(&first.conversation.to_config().document).unwrap();
    let second = check(&Source::new("a", written).format(Format::Json)).unwrap();
    assert_eq!(first.conversation, second.conversation);
    let written = serde_json::to_string(&first.conversation.to_editor().document).unwrap();
    let third = check(&Source::new("a.json", written)).unwrap();
    assert_eq!(third.conversation.initial_node, "a");
}

#[test]
fn schemas_are_those_of_the_types() {
    for schema in [config_schema(), editor_schema(), static_schema()] {
        assert_eq!(
            schema["$schema"],
            "https://json-schema.org/draft/2020-12/schema"
        );
        assert_eq!(schema["type"], "object");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_document_or_an_error(text in "[\\[\\]{}:,\"a-c\n &*!-]{0,60}", yaml in proptest::bool::ANY) {
        let name = if yaml { "a.yaml" } else { "a.json" };
        let _ = check(&Source::new(name, text));
    }
}

#[test]
fn names_keep_the_order_of_the_text() {
    let text = r#"{ "initial_node": "z", "nodes": {
        "z": { "task_messages": [], "functions": [{ "name": "f", "transition_to":
            { "field": "x", "cases": { "two": "z", "one": "a" } } }] },
        "a": { "task_messages": [] }, "m": { "task_messages": [] } } }"#;
    let checked = check(&Source::new("a.json", text)).unwrap();
    let names: Vec<&String> = checked.conversation.nodes.keys().collect();
    assert_eq!(names, ["z", "a", "m"]);
    let Next::Branch(branch) = &checked.conversation.nodes["z"].functions[0].next else {
        panic!("it is a branch");
    };
    assert_eq!(branch.cases.keys().collect::<Vec<_>>(), ["two", "one"]);

    let text = r#"{ "meta": { "name": "a", "version": "1" }, "edges": [], "nodes": [{ "id": "a", "type": "initial",
        "position": { "x": 0.1, "y": 1e2 }, "data": { "functions": [{ "name": "f", "description": "F.", "properties": {
        "size": { "type": "string" }, "count": { "type": "integer" }, "note": { "type": "string" } } }] } }] }"#;
    let checked = check(&Source::new("a.json", text)).unwrap();
    let parameters = checked.conversation.nodes["a"].functions[0]
        .parameters
        .clone()
        .unwrap();
    assert_eq!(
        parameters.properties.keys().collect::<Vec<_>>(),
        ["size", "count", "note"]
    );
    assert_eq!(
        parameters.schema()["propertyOrdering"],
        json!(["size", "count", "note"])
    );
    let Document::Editor(document) = checked.document else {
        panic!("it has the editor's form");
    };
    let value: Value = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_value(document).unwrap(), value);
}

/// A large document in the editor's form.
fn large(nodes: &[Value], edges: &[Value]) -> Source {
    let document =
        json!({ "meta": { "name": "a", "version": "1" }, "nodes": nodes, "edges": edges });
    Source::new("a.json", document.to_string())
}

fn large_node(id: &str, functions: Value) -> Value {
    json!({ "id": id, "type": "node", "position": { "x": 0, "y": 0 }, "data": { "functions": functions } })
}

#[test]
fn thousands_of_mistakes_are_named_in_bounded_time() {
    // Each misspelt name would be compared with each other name.
    let nodes = (0..4_000).map(|index| {
        let id = format!("{index:060}");
        let target = format!("{index:059}x");
        large_node(
            &id,
            json!([{ "name": "go", "description": "d", "next_node_id": target }]),
        )
    });
    let errors = check(&large(&nodes.collect::<Vec<_>>(), &[])).unwrap_err();
    let unknown = errors.iter().filter(|it| it.code == Code::UnknownNode);
    assert_eq!(unknown.count(), 4_000);
    // A long name is not repeated in each message.
    let functions =
        (0..8_000).map(|_| json!({ "name": "go", "description": "d", "next_node_id": "b" }));
    let node = large_node(&"a".repeat(500_000), functions.collect());
    let errors = check(&large(&[node], &[])).unwrap_err();
    let length: usize = errors.iter().map(|it| it.message.len()).sum();
    assert!(length < 10_000_000, "{length}");
}

#[test]
fn lines_and_decisions_are_checked_in_bounded_time() {
    let functions = (0..5_000).map(|index| {
        json!({ "name": format!("f{index}"), "description": "d", "decision":
            { "action": "result = 1", "conditions": [], "default_next_node_id": "a" } })
    });
    let node = large_node("a", functions.collect());
    let edges = (0..5_000).map(|index| {
        json!({ "id": format!("e{index}"), "source": format!("decision-a-f{index}"), "target": "a" })
    });
    let checked = check(&large(&[node], &edges.collect::<Vec<_>>())).unwrap();
    assert_eq!(checked.conversation.nodes["a"].functions.len(), 5_000);
    assert_eq!(checked.conversation.mermaid().lines().count(), 15_005);
}

#[test]
fn unknown_words_are_errors_that_name_those_that_are_known() {
    let text = r#"{ "meta": { "name": "a", "version": "1" }, "edges": [], "nodes": [{ "id": "a", "type": "begin",
        "position": { "x": 0, "y": 0 }, "data": { "context_strategy": { "strategy": "FORGET" },
        "role_messages": [{ "role": "narrator", "content": "" }], "functions": [{ "name": "f", "description": "d",
        "decision": { "action": "a", "default_next_node_id": "a", "conditions": [
            { "operator": "~=", "value": "1", "next_node_id": "a" }] } }] } }] }"#;
    let errors = check(&Source::new("a.json", text)).unwrap_err();
    let errors: Vec<_> = errors
        .iter()
        .map(|it| (it.code, it.message.as_str()))
        .collect();
    assert_eq!(errors.len(), 4, "{errors:?}");
    for (known, (code, message)) in ["initial", "APPEND", "assistant", "not in"].iter().zip({
        let mut errors = errors.clone();
        errors.sort_by_key(|(_, message)| {
            ["begin", "FORGET", "narrator", "~="]
                .iter()
                .position(|it| message.contains(it))
        });
        errors
    }) {
        assert_eq!(code, Code::WrongValue);
        assert!(message.contains(known), "{message}");
    }
}
