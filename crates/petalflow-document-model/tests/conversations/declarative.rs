//! Declarative documents.

use petalflow_document_model::conversations::config::FlowConfig;
use petalflow_document_model::conversations::{Conversation, Next, Severity, case_key};
use serde_json::{Value, json};

use crate::conversations::messages;

fn config(document: Value) -> FlowConfig {
    serde_json::from_value(document).expect("the types fit")
}

fn nodes(functions: Value) -> FlowConfig {
    config(json!({
        "initial_node": "a",
        "nodes": {
            "a": { "task_messages": [], "functions": functions },
            "b": { "task_messages": [] },
        },
    }))
}

fn parse_error(document: Value) -> String {
    serde_json::from_value::<FlowConfig>(document)
        .unwrap_err()
        .to_string()
}

#[test]
fn f084_unknown_keys_are_refused_except_on_actions() {
    let document = |node: Value| json!({ "initial_node": "a", "nodes": { "a": node } });
    assert!(
        parse_error(json!({ "initial_node": "a", "nodes": {}, "edges": [] })).contains("edges")
    );
    assert!(
        parse_error(document(json!({ "task_messages": [], "functons": [] }))).contains("functons")
    );
    let message = json!({ "task_messages": [{ "role": "system", "content": "a", "name": "b" }] });
    assert!(parse_error(document(message)).contains("name"));
    let function = json!({ "task_messages": [], "functions": [{ "name": "f", "handler": "g" }] });
    assert!(parse_error(document(function)).contains("handler"));
    let action = json!({ "task_messages": [], "pre_actions": [{ "type": "beep", "volume": 3 }] });
    let config = config(document(action));
    assert_eq!(config.nodes["a"].pre_actions[0].extra["volume"], 3);
    assert_eq!(config.findings(), []);
}

#[test]
fn f085_every_named_node_exists() {
    let config = config(json!({
        "initial_node": "nowhere",
        "nodes": { "a": { "task_messages": [], "functions": [
            { "name": "f", "transition_to": "missing" },
            { "name": "g", "transition_to": { "field": "x", "cases": { "1": "gone", "2": "a" }, "default": "lost" } },
        ] } },
        "global_functions": [{ "name": "h", "transition_to": "absent" }],
    }));
    let findings = config.findings();
    assert_eq!(
        messages(&findings),
        [
            "initial_node 'nowhere' is not a defined node",
            "global_functions function 'h' transitions to unknown node 'absent'",
            "node 'a' function 'f' transitions to unknown node 'missing'",
            "node 'a' function 'g' transitions to unknown node 'gone'",
            "node 'a' function 'g' transitions to unknown node 'lost'",
        ]
    );
    let pointers: Vec<&str> = findings.iter().map(|it| it.pointer.as_str()).collect();
    assert_eq!(
        pointers,
        [
            "/initial_node",
            "/global_functions/0/transition_to",
            "/nodes/a/functions/0/transition_to",
            "/nodes/a/functions/1/transition_to/cases/1",
            "/nodes/a/functions/1/transition_to/default",
        ]
    );
}

#[test]
fn f086_names_of_functions_are_unique_where_they_are_offered() {
    let config = config(json!({
        "initial_node": "a",
        "nodes": {
            "a": { "task_messages": [], "functions": [{ "name": "f" }, { "name": "f" }, { "name": "help" }] },
            "b": { "task_messages": [], "functions": [{ "name": "f" }] },
        },
        "global_functions": [{ "name": "help" }, { "name": "help" }],
    }));
    assert_eq!(
        messages(&config.findings()),
        [
            "duplicate function 'help' in global_functions",
            "duplicate function 'f' in node",
            "node 'a' function 'help' is also a global function",
        ]
    );
}

#[test]
fn f087_function_actions_need_a_handler_and_built_in_ones_have_none() {
    let config = config(json!({
        "initial_node": "a",
        "nodes": { "a": {
            "task_messages": [],
            "pre_actions": [{ "type": "function" }, { "type": "function", "handler": "log" }],
            "post_actions": [
                { "type": "tts_say", "text": "Bye.", "handler": "log" },
                { "type": "end_conversation", "handler": "log" },
                { "type": "beep", "handler": "log" },
            ],
        } },
    }));
    assert_eq!(
        messages(&config.findings()),
        [
            "a 'function' action requires a 'handler' name",
            "action type 'tts_say' does not take a 'handler': it is built in",
            "action type 'end_conversation' does not take a 'handler': it is built in",
        ]
    );
}

#[test]
fn f088_cases_match_by_their_text() {
    assert_eq!(case_key(&json!(true)).as_deref(), Some("true"));
    for text in ["true", "True", "TRUE"] {
        assert_eq!(case_key(&json!(text)).as_deref(), Some("true"));
    }
    assert_eq!(case_key(&json!("Yes")).as_deref(), Some("Yes"));
    assert_eq!(case_key(&json!(3)).as_deref(), Some("3"));
    let twice = json!({ "field": "x", "cases": { "True": "a", "true": "b" } });
    let findings = nodes(json!([{ "name": "f", "transition_to": twice }])).findings();
    assert_eq!(
        messages(&findings),
        ["function 'f' has the case 'true' twice: truth values match in all letters"]
    );
}

#[test]
fn f090_a_function_without_code_has_a_description_and_one_node() {
    let findings = |function: Value| {
        let findings = nodes(json!([function])).findings();
        findings
            .iter()
            .map(|it| it.message.clone())
            .collect::<Vec<_>>()
    };
    assert!(
        findings(json!({ "name": "f", "transition_only": true, "description": "Go.", "transition_to": "b" })).is_empty()
    );
    assert_eq!(
        findings(json!({ "name": "f", "transition_only": true, "transition_to": "b" })),
        [
            "function 'f' is transition_only and needs a `description`, which tells the model when to call it"
        ]
    );
    let branch = json!({ "field": "x", "cases": { "1": "b" } });
    for function in [
        json!({ "name": "f", "transition_only": true, "description": "Go." }),
        json!({ "name": "f", "transition_only": true, "description": "Go.", "transition_to": branch }),
    ] {
        assert_eq!(
            findings(function),
            [
                "function 'f' is transition_only and needs a `transition_to` that names a node: it has no result to branch on"
            ]
        );
    }
    assert_eq!(
        findings(json!({ "name": "f", "description": "Go." })),
        [
            "function 'f' has a description, but its code describes it: remove `description`, or set `transition_only: \
             true` if it has no code"
        ]
    );
}

#[test]
fn f091_strategies_are_append_and_reset() {
    let document = |strategy: &str| json!({ "initial_node": "a", "nodes": { "a": { "task_messages": [], "context_strategy": strategy } } });
    for strategy in ["append", "reset"] {
        assert_eq!(config(document(strategy)).findings(), []);
    }
    for strategy in ["APPEND", "reset_with_summary", ""] {
        assert!(parse_error(document(strategy)).contains("unknown variant"));
    }
}

#[test]
fn f092_a_placeholder_that_cannot_be_read_is_found() {
    let config = config(json!({
        "initial_node": "a",
        "nodes": { "a": {
            "role_message": "{{ a b }}",
            "task_messages": [{ "role": "developer", "content": "{{ 1 }}" }],
            "pre_actions": [{ "type": "tts_say", "text": "{{ }}" }],
        } },
    }));
    let pointers: Vec<_> = config
        .findings()
        .iter()
        .map(|it| it.pointer.to_string())
        .collect();
    assert_eq!(
        pointers,
        [
            "/nodes/a/pre_actions/0/text",
            "/nodes/a/role_message",
            "/nodes/a/task_messages/0/content"
        ]
    );
}

#[test]
fn f094_names_in_pointers_are_escaped() {
    let config = config(json!({
        "initial_node": "a/b~c",
        "nodes": { "a/b~c": { "task_messages": [], "functions": [{ "name": "f", "transition_to": "x" }] } },
    }));
    assert_eq!(
        config.findings()[0].pointer,
        "/nodes/a~1b~0c/functions/0/transition_to"
    );
}

#[test]
fn f096_f097_the_declarative_examples_have_no_findings() {
    // The repository's own documents have the same shapes.
    let own = json!({
        "initial_node": "ask",
        "nodes": {
            "ask": { "task_messages": [], "functions": [{ "name": "check", "transition_to": {
                "field": "status", "cases": { "available": "confirm", "unavailable": "sorry" } } }] },
            "confirm": { "task_messages": [{ "role": "developer", "content": "Confirm {{ time.start }}." }] },
            "sorry": { "task_messages": [] },
        },
    });
    let conversation = Conversation::from_config(&config(own)).expect("no errors");
    let Next::Branch(branch) = &conversation.nodes["ask"].functions[0].next else {
        panic!("a branch");
    };
    assert_eq!(branch.default, None);
}

#[test]
fn a_tts_say_without_text_is_a_warning() {
    let config = config(json!({
        "initial_node": "a",
        "nodes": { "a": { "task_messages": [], "pre_actions": [{ "type": "tts_say" }] } },
    }));
    let findings = config.findings();
    assert_eq!(findings[0].severity, Severity::Warning);
    assert!(Conversation::from_config(&config).is_ok());
}

#[test]
fn a_document_is_written_as_it_was_read() {
    let document = json!({
        "initial_node": "a",
        "nodes": {
            "a": {
                "task_messages": [{ "role": "developer", "content": "b" }],
                "role_message": "c",
                "functions": [
                    { "name": "f", "transition_only": true, "description": "d", "transition_to": "a" },
                    { "name": "g", "transition_to": { "field": "x", "cases": { "1": "a" }, "default": "a" } },
                ],
                "pre_actions": [{ "type": "tts_say", "text": "e" }],
                "post_actions": [{ "type": "function", "handler": "h", "more": [1] }],
                "context_strategy": "reset",
                "respond_immediately": false,
            },
        },
        "global_functions": [{ "name": "i" }],
    });
    assert_eq!(
        serde_json::to_value(config(document.clone())).unwrap(),
        document
    );
}
