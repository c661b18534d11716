//! Texts of documents: formats, forms and limits.

use std::fmt::Write as _;

use petalflow_document_model::conversations::{
    Code, Document, Format, Next, Source, check, config_schema, editor_schema, static_schema,
};
use serde_json::{Value, json};

use crate::conversations::shared_document;

fn codes(name: &str, text: impl Into<String>) -> Vec<Code> {
    let errors = check(&Source::new(name, text)).unwrap_err();
    errors.iter().map(|it| it.code).collect()
}

#[test]
fn f096_the_reservation_in_yaml() {
    let Some(text) = shared_document("declarative/restaurant_reservation.flow.yaml") else {
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
    let Some(text) = shared_document("declarative/insurance_quote.flow.yaml") else {
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
    let Some(text) = shared_document("declarative/flow_config.schema.json") else {
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
fn f094_references_are_checked_also_when_the_form_is_wrong() {
    // Upstream checks them when the form is right.
    let text = "initial_node: b\nnodes:\n  a: { task_messages: [], colour: red }\n";
    assert_eq!(
        codes("a.yaml", text),
        [Code::UnknownNode, Code::UnknownField]
    );
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
    // A map of `serde_json` has the order itself if a crate of the program asks for that.
    let schema = parameters.schema();
    let properties = schema["properties"].as_object().unwrap();
    if properties.keys().eq(["size", "count", "note"]) {
        assert!(schema.get("propertyOrdering").is_none());
    } else {
        assert_eq!(schema["propertyOrdering"], json!(["size", "count", "note"]));
    }
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

/// The diagnostics of a text, warnings as well, without the name of the file.
fn diagnostics(name: &str, text: &str) -> Vec<String> {
    let diagnostics = match check(&Source::new(name, text)) {
        Ok(checked) => checked.warnings,
        Err(errors) => errors,
    };
    let lines = diagnostics.iter().map(ToString::to_string);
    lines
        .map(|line| {
            line.trim_start_matches(name)
                .trim_start_matches(':')
                .to_owned()
        })
        .collect()
}

/// A document of the editor with this function at its only node.
fn with_function(function: Value) -> String {
    let document = json!({ "meta": { "name": "Test", "version": "1" }, "edges": [], "nodes": [
        { "id": "a", "type": "initial", "position": { "x": 1, "y": 2 }, "data": { "functions": [function] } }] });
    document.to_string()
}

#[test]
fn f005_a_field_that_is_almost_a_known_one_is_an_error() {
    for (function, expected) in [
        (
            json!({ "name": "f", "description": "d", "propertys": { "p": { "type": "string" } }, "required": ["p"] }),
            "`propertys`; did you mean `properties`?",
        ),
        (
            json!({ "nam": "f", "description": "d" }),
            "`nam`; did you mean `name`?",
        ),
        (
            json!({ "name": "f", "description": "d", "next_node": "a" }),
            "`next_node`; did you mean `next_node_id`?",
        ),
        (
            json!({ "name": "f", "description": "d", "Decision": {} }),
            "`Decision`; did you mean `decision`?",
        ),
    ] {
        let found = diagnostics("a.json", &with_function(function));
        let [only] = found.as_slice() else {
            panic!("{expected}: {found:?}");
        };
        assert!(
            only.ends_with(&format!("error[CV-105]: there is no field {expected}")),
            "{only}"
        );
    }
    // Any other name is kept, and so are fields that are there as well.
    let others = json!({ "name": "f", "description": "d", "color": "red", "properties": {}, "propertys": 1 });
    assert!(diagnostics("a.json", &with_function(others)).is_empty());
}

#[test]
fn fields_of_data_strategies_and_actions_are_compared_with_the_known_ones() {
    let text = "{ \"meta\": { \"name\": \"Test\", \"version\": \"1\", \"descripton\": \"d\" },
\"edges\": [], \"global_function\": [],
\"nodes\": [{ \"id\": \"a\", \"type\": \"initial\", \"position\": { \"x\": 1, \"y\": 2 }, \"data\": {
\"task_message\": [],
\"context_strategy\": { \"strategy\": \"RESET_WITH_SUMMARY\", \"summary_promt\": \"Say it.\" },
\"pre_actions\": [
{ \"type\": \"function\", \"handlr\": \"print\" },
{ \"type\": \"tts_say\", \"txt\": \"Hello.\" },
{ \"type\": \"tts_sya\", \"text\": \"Hello.\" },
{ \"type\": \"ttsSay\", \"text\": \"Hello.\" },
{ \"type\": \"tts_sya\", \"handler\": \"own\", \"txt\": \"passed on\" },
{ \"type\": \"notify\", \"handlr\": \"passed on\" }] } }] }";
    assert_eq!(
        diagnostics("a.json", text),
        [
            "1:45: error[CV-105]: there is no field `descripton`; did you mean `description`?",
            "2:14: error[CV-105]: there is no field `global_function`; did you mean `global_functions`?",
            "4:1: error[CV-105]: there is no field `task_message`; did you mean `task_messages`?",
            "5:57: error[CV-105]: there is no field `summary_promt`; did you mean `summary_prompt`?",
            "7:23: error[CV-105]: there is no field `handlr`; did you mean `handler`?",
            "8:22: error[CV-105]: there is no field `txt`; did you mean `text`?",
            "9:11: error[CV-007]: there is no action type `tts_sya`; did you mean `tts_say`? An action of the program's own whose \
             type is this similar needs a `handler`",
            "10:11: error[CV-007]: there is no action type `ttsSay`; did you mean `tts_say`? An action of the program's own whose \
             type is this similar needs a `handler`",
        ]
    );
}

#[test]
fn f007_f015_f017_types_and_lists_of_the_editor() {
    let text = with_function(
        json!({ "name": "f", "description": "d", "next_node_id": "", "required": ["p", "p"],
        "properties": { "p": { "type": "int" }, "q": { "type": "string", "enum": ["s", "s"] } } }),
    );
    let found = diagnostics("a.json", &text.replace("initial", "node"));
    let shown: Vec<&str> = found
        .iter()
        .map(|it| it.split_once(": ").unwrap().1)
        .collect();
    for expected in [
        "warning[CV-015]: no node has the type `initial`: the conversation starts at 'a'. Set the type of the first node",
        "warning[CV-017]: node 'a' function 'f' has an empty `next_node_id`: the conversation stays in its node. Name a node, or \
         remove it",
        "error[CV-011]: function 'f' requires 'p' twice: remove one of them",
        "error[CV-016]: parameter 'p' of function 'f' has the type 'int', which JSON Schema does not have; did you mean \
         `integer`? (string, number, integer, boolean, array, object)",
        "error[CV-011]: parameter 'q' of function 'f' has `s` twice in its `enum`: remove one of them",
    ] {
        assert!(shown.contains(&expected), "{expected}: {shown:?}");
    }
    assert_eq!(shown.len(), 5);
}

#[test]
fn the_static_and_declarative_forms_have_the_same_rules() {
    let text = "{ \"initial_node\": \"a\", \"nodes\": { \"a\": {
\"task_messages\": [{ \"role\": \"sistem\", \"content\": \"c\" }],
\"post_action\": [],
\"functions\": [{ \"type\": \"function\", \"function\": { \"name\": \"f\",
\"transiton_to\": \"a\",
\"parameters\": { \"propertys\": { \"p\": {} }, \"required\": [\"p\"] } } },
{ \"type\": \"function\", \"function\": { \"name\": \"g\",
\"parameters\": { \"properties\": { \"size\": { \"type\": \"bool\" } },
\"required\": [\"sice\"] } } }] } } }";
    assert_eq!(
        diagnostics("a.json", text),
        [
            "2:29: error[CV-107]: `sistem` is not one of `developer`, `system`, `user`, `assistant`; did you mean `system`?",
            "3:1: error[CV-105]: there is no field `post_action`; did you mean `post_actions`?",
            "5:1: error[CV-105]: there is no field `transiton_to`; did you mean `transition_to`?",
            "6:17: error[CV-105]: there is no field `propertys`; did you mean `properties`?",
            "8:51: error[CV-016]: parameter 'size' of function 'g' has the type 'bool', which JSON Schema does not have; did you \
             mean `boolean`? (string, number, integer, boolean, array, object)",
            "9:14: error[CV-011]: function 'g' requires 'sice', which is not in its properties; did you mean `size`?",
        ]
    );
    let declarative = "initial_node: a\nnodes:\n  a:\n    task_messages:\n      - role: developr\n        content: c\n    \
                       post_actions:\n      - type: end-conversation\n";
    assert_eq!(
        diagnostics("a.yaml", declarative),
        [
            "5:15: error[CV-107]: `developr` is not one of `developer`, `system`, `user`, `assistant`; did you mean `developer`?",
            "8:15: error[CV-007]: there is no action type `end-conversation`; did you mean `end_conversation`? An action of the \
             program's own whose type is this similar needs a `handler`",
        ]
    );
}

#[test]
fn many_unknown_names_are_read_in_bounded_time() {
    let extra: serde_json::Map<String, Value> = (0..50_000)
        .map(|index| (format!("task_message{index}"), Value::Null))
        .collect();
    let data: Value = extra.clone().into();
    let document = json!({ "meta": { "name": "Test", "version": "1" }, "edges": [], "nodes": [
        { "id": "a", "type": "initial", "position": { "x": 1, "y": 2 }, "data": data }] });
    let found = diagnostics("a.json", &document.to_string());
    // Not all are compared with the known ones.
    assert!((1..=2_000).contains(&found.len()), "{}", found.len());

    let schemas = (0..2_000).map(|index| {
        let schema = json!({ "type": "string", "descripton": "d", "desciption": "d" });
        (format!("p{index}"), schema)
    });
    let properties: serde_json::Map<String, Value> = schemas.collect();
    let function = json!({ "name": "f", "description": "d", "properties": properties });
    assert_eq!(diagnostics("a.json", &with_function(function)).len(), 2_000);
}
