//! From one form to another.

use petalflow_document_model::conversations::config::{FlowConfig, Transition};
use petalflow_document_model::conversations::editor::EditorDocument;
use petalflow_document_model::conversations::{
    Conversation, Handler, Next, Parameters, Source, check,
};
use serde_json::{Value, json};

use crate::conversations::shared_document;

fn editor(nodes: Value) -> Conversation {
    let document =
        json!({ "meta": { "name": "Test", "version": "1" }, "nodes": nodes, "edges": [] });
    let document: EditorDocument = serde_json::from_value(document).unwrap();
    Conversation::from_editor(&document).expect("no errors")
}

fn node(id: &str, kind: &str, data: Value) -> Value {
    json!({ "id": id, "type": kind, "position": { "x": 0, "y": 0 }, "data": data })
}

#[test]
fn f095_the_editors_form_becomes_the_declarative_one() {
    let conversation = editor(json!([
        node(
            "b",
            "node",
            json!({
                "role_messages": [{ "role": "system", "content": "One." }, { "role": "system", "content": "Two." }],
                "task_messages": [{ "role": "system", "content": "Ask." }],
                "context_strategy": { "strategy": "RESET_WITH_SUMMARY", "summary_prompt": "Sum up." },
                "respond_immediately": false,
                "functions": [
                    { "name": "go", "description": "Go on.", "next_node_id": "c" },
                    { "name": "order", "description": "Order.", "properties": { "n": { "type": "integer" } }, "next_node_id": "c" },
                    { "name": "choose", "description": "Choose.", "decision": { "action": "result = 1", "conditions": [
                        { "operator": "==", "value": "1", "next_node_id": "b" }], "default_next_node_id": "c" } },
                ],
            })
        ),
        node(
            "c",
            "end",
            json!({ "post_actions": [{ "type": "end_conversation" }] })
        ),
    ]));
    let converted = conversation.to_config();
    let value = serde_json::to_value(&converted.document).unwrap();
    assert_eq!(
        value,
        json!({
            "initial_node": "b",
            "nodes": {
                "b": {
                    "role_message": "One.\n\nTwo.",
                    "task_messages": [{ "role": "system", "content": "Ask." }],
                    "context_strategy": "reset",
                    "respond_immediately": false,
                    "functions": [
                        { "name": "go", "transition_only": true, "description": "Go on.", "transition_to": "c" },
                        { "name": "order", "transition_to": "c" },
                        { "name": "choose", "transition_to": "c" },
                    ],
                },
                "c": { "task_messages": [], "post_actions": [{ "type": "end_conversation" }] },
            },
        })
    );
    assert_eq!(converted.document.findings(), []);
    let dropped: Vec<&str> = converted
        .dropped
        .iter()
        .map(|it| it.pointer.as_str())
        .collect();
    assert_eq!(
        dropped,
        [
            "/name",
            "/nodes/b/functions/1/parameters",
            "/nodes/b/functions/2/next",
            "/nodes/b/functions/2/parameters",
            "/nodes/b/context_strategy",
        ]
    );
    assert!(converted.dropped[2].to_string().starts_with(
        "/nodes/b/functions/2/next: the conditions of function 'choose': its default 'c' always follows."
    ));
}

#[test]
fn f095_the_first_node_is_the_one_of_its_type_then_one_with_a_role_then_the_first() {
    let role = json!({ "role_messages": [{ "role": "system", "content": "a" }] });
    let initial = |nodes: Value| editor(nodes).initial_node;
    assert_eq!(
        initial(json!([
            node("a", "node", role.clone()),
            node("b", "initial", json!({}))
        ])),
        "b"
    );
    assert_eq!(
        initial(json!([
            node("a", "node", json!({})),
            node("b", "node", role)
        ])),
        "b"
    );
    assert_eq!(
        initial(json!([
            node("a", "node", json!({})),
            node("b", "node", json!({}))
        ])),
        "a"
    );
}

#[test]
fn a_declarative_document_survives_the_model() {
    let document = json!({
        "initial_node": "a",
        "nodes": {
            "a": {
                "task_messages": [{ "role": "developer", "content": "b {{ c }}" }],
                "role_message": "d",
                "functions": [
                    { "name": "f", "transition_to": { "field": "x", "cases": { "true": "a" } } },
                    { "name": "g", "transition_only": true, "description": "e", "transition_to": "a" },
                ],
                "pre_actions": [{ "type": "beep", "volume": 3 }],
                "context_strategy": "append",
            },
        },
        "global_functions": [{ "name": "h" }],
    });
    let config: FlowConfig = serde_json::from_value(document).unwrap();
    let converted = Conversation::from_config(&config).unwrap().to_config();
    assert_eq!(converted.document, config);
    assert_eq!(converted.dropped, []);
}

#[test]
fn an_editors_document_survives_the_model() {
    let Some(text) = shared_document("editor/food_ordering.json") else {
        return;
    };
    let document: EditorDocument = serde_json::from_str(&text).unwrap();
    let conversation = Conversation::from_editor(&document).unwrap();
    let converted = conversation.to_editor();
    assert_eq!(converted.dropped, []);
    assert_eq!(
        Conversation::from_editor(&converted.document).unwrap(),
        conversation
    );
}

#[test]
fn a_branch_becomes_a_decision_of_the_editor() {
    let config: FlowConfig = serde_json::from_value(json!({
        "initial_node": "a",
        "nodes": {
            "a": { "task_messages": [], "functions": [{ "name": "f", "transition_to":
                { "field": "status", "cases": { "3": "c", "free": "b", "true": "c" } } }] },
            "b": { "task_messages": [] },
            "c": { "task_messages": [] },
        },
    }))
    .unwrap();
    let converted = Conversation::from_config(&config).unwrap().to_editor();
    let errors = converted.document.findings();
    assert!(errors.is_empty(), "{errors:?}");
    let function = &converted.document.nodes[0].data.functions.as_ref().unwrap()[0];
    let decision = function.decision.as_ref().unwrap();
    let shown: Vec<_> = decision
        .conditions
        .iter()
        .map(|it| (it.value.as_str(), it.next_node_id.as_str()))
        .collect();
    assert_eq!(shown, [("3", "c"), ("\"free\"", "b"), ("True", "c")]);
    assert!(
        converted
            .dropped
            .iter()
            .any(|it| it.message.contains("stays in its node for other values"))
    );
}

#[test]
fn functions_without_parameters_and_with_one_node_have_no_code() {
    let conversation = editor(json!([node(
        "a",
        "initial",
        json!({ "functions": [
            { "name": "go", "description": "d", "next_node_id": "a" },
            { "name": "look", "description": "d" },
        ] })
    ),]));
    let functions = &conversation.nodes["a"].functions;
    assert_eq!(functions[0].handler, Handler::Nothing);
    assert_eq!(functions[1].handler, Handler::Named("look".into()));
    assert_eq!(functions[1].next, Next::Stay);
}

#[test]
fn f098_static_documents_become_declarative_ones() {
    let Some(text) = shared_document("static-legacy/editor_examples_restaurant_reservation.json")
    else {
        return;
    };
    let flow = serde_json::from_str(&text).unwrap();
    let converted = Conversation::from_static(&flow).unwrap().to_config();
    assert_eq!(converted.document.findings(), []);
    let start = &converted.document.nodes["start"];
    assert_eq!(
        start.functions[0].transition_to,
        Some(Transition::Node("get_time".into()))
    );
    assert!(
        start
            .role_message
            .as_ref()
            .unwrap()
            .starts_with("You are a restaurant reservation assistant")
    );
}

#[test]
fn an_exported_document_says_the_same_when_it_is_read_again() {
    let text = "
initial_node: start
nodes:
  start:
    role_message: You are {{ name }}.
    task_messages: [{ role: system, content: Ask. }]
    functions:
      - name: book
        transition_to: { field: free, cases: { true: done, later: start } }
      - { name: note, transition_to: done }
      - { name: leave, transition_only: true, description: Leaves., transition_to: done }
  done:
    task_messages: [{ role: system, content: Thank. }]
    context_strategy: reset
    respond_immediately: false
    pre_actions: [{ type: tts_say, text: One moment. }]
    post_actions: [{ type: end_conversation }]
global_functions:
  - { name: help }
";
    let mut conversation = check(&Source::new("a.yaml", text)).unwrap().conversation;
    for node in conversation.nodes.values_mut() {
        for function in &mut node.functions {
            function.description.get_or_insert_default();
            function.parameters.get_or_insert_default();
        }
    }
    let help = &mut conversation.global_functions[0];
    help.description = Some("Helps.".into());
    help.handler = Handler::Named("other".into());
    help.parameters = Some(Parameters::of_schema(&json!({ "properties": {
        "topic": { "type": ["string", "null"], "enum": ["size", 1] }, "any": { "anyOf": [{ "type": "string" }] },
        "both": { "type": ["string", "integer"] } }, "propertyOrdering": ["topic", "any"] })));
    let exported = conversation.to_editor().document;
    let text = serde_json::to_string(&exported).unwrap();
    let read = check(&Source::new("a.json", text)).unwrap();
    assert!(read.warnings.is_empty(), "{}", read.warnings);
    // What the editor calls nodes and flows.
    conversation.name = Some("Conversation".into());
    for (name, node) in &mut conversation.nodes {
        node.label = Some(name.clone());
    }
    let mut parameters = conversation.global_functions[0].parameters.take().unwrap();
    parameters.properties["topic"]["type"] = "string".into();
    parameters.properties["both"].remove("type");
    conversation.global_functions[0].parameters = Some(parameters);
    assert_eq!(read.conversation, conversation);
}

#[test]
fn a_changed_decision_or_role_goes_before_what_it_was_made_from() {
    let config = json!({ "initial_node": "a", "nodes": { "a": { "task_messages": [], "role_message": "Old.",
        "functions": [{ "name": "f", "transition_to": { "field": "x", "cases": { "1": "a" } } }] } } });
    let config: FlowConfig = serde_json::from_value(config).unwrap();
    let mut exported = Conversation::from_config(&config)
        .unwrap()
        .to_editor()
        .document;
    let data = &mut exported.nodes[0].data;
    data.role_messages.as_mut().unwrap()[0].content = "New.".into();
    let decision = data.functions.as_mut().unwrap()[0]
        .decision
        .as_mut()
        .unwrap();
    decision.conditions.clear();
    let read = Conversation::from_editor(&exported).unwrap();
    let node = &read.nodes["a"];
    assert_eq!(node.role_message, None);
    assert_eq!(node.role_messages[0].content, "New.");
    assert!(matches!(&node.functions[0].next, Next::Decision(it) if it.conditions.is_empty()));
}

#[test]
fn conversations_are_drawn() {
    let text = r#"
initial_node: start
nodes:
  start:
    task_messages: []
    functions:
      - { name: book, transition_to: { field: free, cases: { true: end }, default: start } }
      - { name: wait, transition_to: { field: until, cases: { now: end } } }
      - { name: again, transition_to: start }
      - { name: talk }
  end:
    task_messages: []
    post_actions: [{ type: end_conversation }]
  "e n<d>":
    task_messages: []
global_functions:
  - { name: help, transition_only: true, description: "Helps.", transition_to: start }
"#;
    let conversation = check(&Source::new("a.yaml", text)).unwrap().conversation;
    assert_eq!(
        conversation.mermaid(),
        "graph TD
    START([START])
    END([END])
    start{start}
    end_[\"end\"]
    e_n_d_[\"e n#lt;d#gt;\"]
    book{book}
    wait{wait}
    any_node{\"any node\"}
    START --> start
    start --> book
    start --> wait
    start -.->|again| start
    end_ --> END
    e_n_d_ --> END
    book -.->|\"default\"| start
    book -.->|\"free is true\"| end_
    wait -.->|other| start
    wait -.->|\"until is now\"| end_
    any_node -.->|help| start
"
    );
    let dot = conversation.dot();
    assert!(
        dot.contains("\"book\" [shape=diamond, label=\"book\"];"),
        "{dot}"
    );
    assert!(
        dot.contains("\"book\" -> \"end_\" [style=dashed, label=\"free is true\"];"),
        "{dot}"
    );
    let picture = conversation.picture();
    assert!(picture.contains(">book</text>"), "{picture}");
}

#[test]
fn decisions_of_the_editor_are_drawn() {
    let decision = json!({ "action": "result = 1", "default_next_node_id": "b", "conditions":
        [{ "operator": "<", "value": "18", "next_node_id": "a" }] });
    let conversation = editor(json!([
        node(
            "a",
            "initial",
            json!({ "functions": [{ "name": "age", "description": "d", "decision": decision }] })
        ),
        node("b", "node", json!({})),
    ]));
    let mermaid = conversation.mermaid();
    assert!(
        mermaid.contains("    age -.->|\"default\"| b\n    age -.->|\"result #lt; 18\"| a\n"),
        "{mermaid}"
    );
}

#[test]
fn f041_respond_immediately_is_written_only_when_it_is_false() {
    for (written, expected) in [
        (json!({}), None),
        (json!({ "respond_immediately": true }), None),
        (json!({ "respond_immediately": false }), Some(false)),
    ] {
        let conversation = editor(json!([node("a", "initial", written)]));
        assert_eq!(
            conversation.nodes["a"].respond_immediately,
            expected.is_none()
        );
        let exported = conversation.to_editor().document;
        assert_eq!(exported.nodes[0].data.respond_immediately, expected);
    }
}

#[test]
fn f042_actions_without_what_they_need_are_named_and_not_exported_bare() {
    let actions = json!([{ "type": "function" }, { "type": "tts_say" }]);
    let document = json!({ "meta": { "name": "Test", "version": "1" }, "edges": [], "nodes":
        [node("a", "initial", json!({ "pre_actions": actions }))] });
    let errors = check(&Source::new("a.json", document.to_string())).unwrap_err();
    assert_eq!(
        errors.iter().map(|it| it.code.as_str()).collect::<Vec<_>>(),
        ["CV-007", "CV-008"]
    );
}

#[test]
fn f043_global_functions_are_exported() {
    let document = json!({ "meta": { "name": "Test", "version": "1" }, "edges": [], "nodes":
        [node("a", "initial", json!({}))], "global_functions": [{ "name": "help", "description": "Helps." }] });
    let document: EditorDocument = serde_json::from_value(document).unwrap();
    let conversation = Conversation::from_editor(&document).unwrap();
    let names: Vec<_> = conversation
        .functions("a")
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(names, ["help"]);
    let exported = conversation.to_editor().document;
    assert_eq!(exported.global_functions, document.global_functions);
}

#[test]
fn f044_without_an_initial_node_the_first_one_with_a_role_is_the_first() {
    let role = json!({ "role_messages": [{ "role": "system", "content": "You are kind." }] });
    let conversation = editor(json!([
        node(
            "a",
            "node",
            json!({ "functions": [{ "name": "go", "description": "d", "next_node_id": "b" }] })
        ),
        node("b", "node", role),
    ]));
    assert_eq!(conversation.initial_node, "b");
    let conversation = editor(json!([node("a", "node", json!({}))]));
    assert_eq!(conversation.initial_node, "a");
}

#[test]
fn f074_a_node_has_a_name() {
    // In the other forms the name is the key of the node.
    let document = json!({ "meta": { "name": "Test", "version": "1" }, "edges": [], "nodes":
        [node("", "initial", json!({}))] });
    let errors = check(&Source::new("a.json", document.to_string())).unwrap_err();
    assert_eq!(errors.iter().next().unwrap().message, "`id` is empty");
}

#[test]
fn f098_a_document_of_the_wanted_form_is_not_changed() {
    let document = json!({
        "$id": "https://flows.pipecat.ai/schema/flow.json",
        "meta": { "name": "Test", "version": "2.1", "description": "Why", "team": { "b": 1, "a": 2 } },
        "nodes": [{
            "id": "a", "type": "end", "position": { "x": 12.5, "y": -3, "locked": true }, "color": "red",
            "data": { "label": "End", "note": "n", "role_message": "Changed later.",
                "role_messages": [{ "role": "developer", "content": "Who.", "id": 4 }],
                "functions": [{ "name": "go", "description": "", "strict": true }] },
        }],
        "edges": [{ "id": "mine", "source": "a", "target": "a", "animated": true }],
        "zoom": 2,
    });
    let checked = check(&Source::new("a.json", document.to_string())).expect("no errors");
    let converted = checked.to_editor();
    assert_eq!(serde_json::to_value(converted.document).unwrap(), document);
    assert_eq!(converted.dropped, []);

    let config = r#"{ "initial_node": "b", "nodes": { "b": { "task_messages": [] }, "a": { "task_messages": [] } } }"#;
    let checked = check(&Source::new("a.json", config)).expect("no errors");
    let converted = checked.to_config();
    assert_eq!(converted.dropped, []);
    assert_eq!(
        converted.document.nodes.keys().collect::<Vec<_>>(),
        ["b", "a"]
    );
}

/// The paths of what a conversion drops.
fn dropped_paths(document: &Value, to_editor: bool) -> Vec<String> {
    let checked = check(&Source::new("a.json", document.to_string())).expect("no errors");
    let dropped = if to_editor {
        checked.to_editor().dropped
    } else {
        checked.to_config().dropped
    };
    dropped.iter().map(|it| it.pointer.to_string()).collect()
}

#[test]
fn f095_fields_of_one_form_only_are_named() {
    let condition = json!({ "operator": "==", "value": "1", "next_node_id": "a", "weight": 1 });
    let decision = json!({ "action": "result = 1", "conditions": [condition], "default_next_node_id": "a", "hint": 1 });
    let document = json!({
        "meta": { "name": "Test", "version": "2", "description": "Why", "team": 1 },
        "nodes": [{
            "id": "a", "type": "initial", "position": { "x": 0, "y": 0, "locked": true }, "color": "red",
            "data": { "label": "End", "note": 1, "task_messages": [{ "role": "system", "content": "", "id": 4 }],
                "context_strategy": { "strategy": "RESET", "depth": 1 },
                "functions": [{ "name": "go", "description": "Go", "strict": true, "handler": "go", "decision": decision }] },
        }],
        "global_functions": [{ "name": "help", "description": "Help", "icon": "?" }],
        "edges": [{ "id": "e", "source": "a", "target": "a", "animated": true }],
        "zoom": 2,
    });
    let all = dropped_paths(&document, false);
    for pointer in [
        "/zoom",
        "/meta/version",
        "/meta/description",
        "/meta/team",
        "/nodes/0/color",
        "/nodes/0/position/locked",
        "/nodes/0/data/note",
        "/nodes/0/data/task_messages/0/id",
        "/nodes/0/data/context_strategy/depth",
        "/nodes/0/data/functions/0/strict",
        "/nodes/0/data/functions/0/decision/hint",
        "/nodes/0/data/functions/0/decision/conditions/0/weight",
        "/global_functions/0/icon",
        "/nodes",
        "/edges/0/animated",
    ] {
        assert!(all.iter().any(|it| it == pointer), "{pointer} in {all:?}");
    }
    assert!(!all.iter().any(|it| it.ends_with("/handler")), "{all:?}");

    let parameters = json!({ "type": "object", "properties": {
            "both": { "type": ["integer", "string"] },
            "n": { "type": ["integer", "null"] }, "optional": { "type": ["integer", "null"] } },
        "required": ["n"], "additionalProperties": false, "title": "Go" });
    let tool = json!({ "type": "function", "cached": true,
        "function": { "name": "go", "strict": true, "parameters": parameters } });
    let document = json!({ "initial_node": "a", "owner": "Ann",
        "nodes": { "a": { "color": "red", "messages": [], "functions": [tool] } } });
    assert_eq!(
        dropped_paths(&document, true),
        [
            "/owner",
            "/nodes/a/color",
            "/nodes/a/functions/0/cached",
            "/nodes/a/functions/0/function/strict",
            "/nodes/a/functions/0/function/parameters/additionalProperties",
            "/nodes/a/functions/0/function/parameters/title",
            "/nodes/a/functions/0/parameters/properties/both",
            "/nodes/a/functions/0/parameters/properties/n",
        ]
    );
}

#[test]
fn a_developer_message_is_named_among_what_the_editor_drops() {
    let config = r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [
        { "role": "developer", "content": "Be brief." }, { "role": "system", "content": "Greet." }] } } }"#;
    let config = serde_json::from_str(config).unwrap();
    let converted = Conversation::from_config(&config).unwrap().to_editor();
    let dropped: Vec<String> = converted.dropped.iter().map(ToString::to_string).collect();
    assert_eq!(
        dropped,
        [
            "/nodes/a/task_messages/0/role: the role 'developer': the editor has system, user and assistant, and the message is of system"
        ]
    );
}
