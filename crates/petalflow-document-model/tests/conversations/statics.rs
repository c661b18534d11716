//! Documents in the two older static forms.

use petalflow_document_model::conversations::legacy::StaticFlow;
use petalflow_document_model::conversations::{
    Conversation, Document, Handler, Next, Source, check,
};
use serde_json::{Value, json};

use crate::conversations::{messages, shared_document};

const STATIC: [(&str, usize); 4] = [
    ("editor_examples_food_ordering", 5),
    ("editor_examples_movie_explorer", 3),
    ("editor_examples_patient_intake", 8),
    ("editor_examples_restaurant_reservation", 3),
];
const OLDEST: [&str; 4] = [
    "editor_examples_emotional_states",
    "editor_examples_good_bad_cop",
    "examples_foodOrdering",
    "examples_food_ordering",
];

fn transitions(conversation: &Conversation) -> usize {
    let functions = conversation.nodes.values().flat_map(|node| &node.functions);
    let targets = functions.map(|function| {
        let targets = function.next.targets();
        assert!(
            targets
                .iter()
                .all(|target| conversation.nodes.contains_key(*target))
        );
        targets.len()
    });
    targets.sum()
}

#[test]
fn f098_the_static_examples_convert_without_dangling_targets() {
    for (file, expected) in STATIC {
        let Some(text) = shared_document(&format!("static-legacy/{file}.json")) else {
            return;
        };
        let value: Value = serde_json::from_str(&text).unwrap();
        let flow: StaticFlow = serde_json::from_value(value.clone()).unwrap();
        assert!(!flow.is_oldest_form());
        assert_eq!(serde_json::to_value(&flow).unwrap(), value, "{file}");
        let conversation = Conversation::from_static(&flow).expect(file);
        assert_eq!(transitions(&conversation), expected, "{file}");
    }
}

#[test]
fn f098_in_the_oldest_form_a_function_named_like_a_node_leads_there() {
    for file in OLDEST {
        let Some(text) = shared_document(&format!("static-legacy/{file}.json")) else {
            return;
        };
        let flow: StaticFlow = serde_json::from_str(&text).unwrap();
        assert!(flow.is_oldest_form(), "{file}");
        let conversation = Conversation::from_static(&flow).expect(file);
        assert!(transitions(&conversation) > 0, "{file}");
    }
}

#[test]
fn f098_the_oldest_form() {
    let flow: StaticFlow = serde_json::from_value(json!({
        "initial_node": "start",
        "nodes": {
            "start": {
                "messages": [{ "role": "system", "content": "Ask." }],
                "functions": [
                    { "type": "function", "function": { "name": "pizza", "description": "d", "parameters": { "type": "object", "properties": {} } } },
                    { "type": "function", "function": { "name": "size", "parameters": { "type": "object",
                        "properties": { "size": { "type": "string" } }, "required": ["size"] } } },
                ],
            },
            "pizza": { "messages": [] },
        },
    }))
    .unwrap();
    let conversation = Conversation::from_static(&flow).unwrap();
    let start = &conversation.nodes["start"];
    assert_eq!(start.task_messages[0].content, "Ask.");
    assert_eq!(start.functions[0].next, Next::Node("pizza".into()));
    assert_eq!(start.functions[0].handler, Handler::Nothing);
    assert_eq!(start.functions[1].next, Next::Stay);
    assert_eq!(start.functions[1].handler, Handler::Named("size".into()));
    assert_eq!(
        start.functions[1].parameters.as_ref().unwrap().required,
        ["size"]
    );
}

#[test]
fn f098_all_mistakes_in_a_static_document_are_reported_at_once() {
    let tool = |function: Value| json!({ "type": "function", "function": function });
    let flow: StaticFlow = serde_json::from_value(json!({
        "initial_node": "nowhere",
        "nodes": { "a": { "task_messages": [], "functions": [
            tool(json!({ "name": "f", "transition_to": "missing" })),
            tool(json!({ "name": "f", "transition_to": "a" })),
        ], "pre_actions": [{ "type": "function" }] } },
    }))
    .unwrap();
    assert_eq!(
        messages(&flow.findings()),
        [
            "initial_node 'nowhere' is not a defined node",
            "node 'a' function 'f' transitions to unknown node 'missing'",
            "duplicate function 'f' in node 'a'",
            "a 'function' action requires a 'handler' name",
        ]
    );
    assert!(Conversation::from_static(&flow).is_err());
}

#[test]
fn f42_functions_in_the_form_of_anthropics_tools_are_read() {
    let schema = json!({ "type": "object", "properties": { "option": { "type": "string", "enum": ["book", "contact"] } }, "required": ["option"] });
    let document = |function: Value| {
        json!({
            "initial_node": "start",
            "nodes": {
                "start": { "task_messages": [{ "role": "system", "content": "Ask." }], "functions": [function] },
                "end": { "task_messages": [{ "role": "system", "content": "Bye." }], "post_actions": [{ "type": "end_conversation" }] },
            },
        })
    };
    let function = json!({ "name": "pick", "handler": "pick", "description": "Pick", "transition_to": "end", "input_schema": schema });
    let value = document(function.clone());
    let flow: StaticFlow = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(serde_json::to_value(&flow).unwrap(), value);
    assert!(flow.findings().is_empty());
    let conversation = Conversation::from_static(&flow).unwrap();
    let read = &conversation.nodes["start"].functions[0];
    let parameters = read.parameters.as_ref().unwrap();
    assert_eq!(
        parameters.properties["option"]["enum"],
        json!(["book", "contact"])
    );
    assert_eq!(parameters.required, ["option"]);
    assert_eq!(read.handler, Handler::Named("pick".into()));
    assert_eq!(read.next, Next::Node("end".into()));

    // The places of mistakes are those of this form.
    for (change, at, words) in [
        (
            json!({ "required": ["option"] }),
            "/nodes/start/functions/0/required",
            "has `required` beside `input_schema`",
        ),
        (
            json!({ "transition_to": "ende" }),
            "/nodes/start/functions/0/transition_to",
            "unknown node 'ende'",
        ),
        (
            json!({ "input_schema": { "required": ["size"] } }),
            "/nodes/start/functions/0/input_schema/required/0",
            "size",
        ),
    ] {
        let mut function = function.clone();
        function
            .as_object_mut()
            .unwrap()
            .extend(change.as_object().unwrap().clone());
        let flow: StaticFlow = serde_json::from_value(document(function)).unwrap();
        let findings = flow.findings();
        let found = findings
            .iter()
            .find(|finding| finding.message.contains(words));
        let found = found.unwrap_or_else(|| panic!("{words}: {findings:?}"));
        assert_eq!(found.pointer.to_string(), at, "{words}");
    }
    let mistaken = json!({ "name": "pick", "handler": "pick", "input_shema": schema });
    let flow: StaticFlow = serde_json::from_value(document(mistaken)).unwrap();
    let findings = flow.findings();
    let mut messages = findings.iter().map(|finding| &finding.message);
    assert!(
        messages.any(|message| message.contains("did you mean `input_schema`?")),
        "{findings:?}"
    );
}

#[test]
fn functions_with_their_parameters_beside_their_names_are_read() {
    let text = r#"{ "initial_node": "start", "nodes": {
  "start": {
    "task_messages": [{ "role": "system", "content": "Ask for the size." }],
    "functions": [{
      "name": "set_size", "description": "Records the size.", "handler": "__function__:record_size",
      "properties": { "size": { "type": "string", "enum": ["small", "large"] } }, "required": ["size"],
      "transition_to": "end"
    }]
  },
  "end": { "task_messages": [{ "role": "system", "content": "Say goodbye." }] } } }"#;
    let checked =
        check(&Source::new("sizes.json", text)).unwrap_or_else(|errors| panic!("{errors}"));
    assert!(matches!(checked.document, Document::Static(_)));
    let function = &checked.conversation.nodes["start"].functions[0];
    assert_eq!(function.handler, Handler::Named("record_size".into()));
    assert_eq!(function.next, Next::Node("end".into()));
    let parameters = function.parameters.as_ref().unwrap();
    assert_eq!(
        parameters.properties["size"]["enum"],
        json!(["small", "large"])
    );
    assert_eq!(parameters.required, ["size"]);

    let wrong = text
        .replace("\"transition_to\": \"end\"", "\"transition_to\": \"ned\"")
        .replace("\"size\"]", "\"sise\"]");
    let errors = check(&Source::new("sizes.json", wrong))
        .unwrap_err()
        .to_string();
    assert!(
        errors.contains("sizes.json:7:24: error[CV-002]") && errors.contains("'sise'"),
        "{errors}"
    );
}
