//! Documents of other systems are named as such, in one error.

use petalflow_document_model::conversations;
use petalflow_document_model::documents::{Catalog, Source};
use serde_json::{Value, json};

/// A workflow as a server of n8n answers it.
fn workflow_of_n8n() -> Value {
    json!({
        "id": "1", "name": "Greeting", "settings": {},
        "nodes": [{ "parameters": {}, "id": "1", "name": "Begin", "type": "n8n-nodes-base.manualTrigger",
            "typeVersion": 1, "position": [0, 0] }],
        "connections": {},
    })
}

/// What it is, the case, and the document.
type Case = (&'static str, &'static str, Value);

fn documents() -> Vec<Case> {
    let mut documents = workflows_of_n8n();
    documents.extend(apps_and_flows());
    documents
}

fn workflows_of_n8n() -> Vec<Case> {
    vec![
        (
            "a workflow of n8n",
            "a file",
            json!({
                "name": "Greeting",
                "nodes": [
                    { "parameters": {}, "id": "1", "name": "Begin", "type": "n8n-nodes-base.manualTrigger",
                        "typeVersion": 1, "position": [0, 0] },
                    { "parameters": { "url": "https://example.com" }, "id": "2", "name": "Fetch",
                        "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2, "position": [200, 0] },
                ],
                "connections": { "Begin": { "main": [[{ "node": "Fetch", "type": "main", "index": 0 }]] } },
                "active": false, "settings": { "executionOrder": "v1" }, "pinData": {},
                "meta": { "instanceId": "x" }, "tags": [],
            }),
        ),
        (
            "a workflow of n8n",
            "nodes that were copied",
            json!({
                "nodes": [{ "parameters": {}, "id": "1", "name": "Agent", "type": "@n8n/n8n-nodes-langchain.agent",
                    "typeVersion": 2, "position": [0, 0] }],
                "connections": {},
            }),
        ),
        (
            "a workflow of n8n",
            "all workflows",
            json!([workflow_of_n8n(), workflow_of_n8n()]),
        ),
        (
            "a workflow of n8n",
            "an answer",
            json!({ "data": workflow_of_n8n() }),
        ),
        (
            "a workflow of n8n",
            "an answer with a list",
            json!({ "data": [workflow_of_n8n()], "nextCursor": null }),
        ),
        (
            "a workflow of n8n",
            "a template",
            json!({ "id": 7, "name": "Greeting", "workflow": workflow_of_n8n() }),
        ),
    ]
}

fn apps_and_flows() -> Vec<Case> {
    let canvas = json!({ "x": 0, "y": 0, "zoom": 1 });
    vec![
        (
            "an app of Dify",
            "a workflow",
            json!({
                "kind": "app", "version": "0.5.0",
                "app": { "name": "Greeting", "mode": "workflow", "icon": "x" },
                "workflow": { "graph": {
                    "nodes": [{ "id": "1", "type": "custom", "data": { "type": "start", "title": "Start", "variables": [] } }],
                    "edges": [], "viewport": canvas,
                }, "features": {} },
            }),
        ),
        (
            "an app of Dify",
            "a chat",
            json!({
                "kind": "app", "version": "0.1.5",
                "app": { "name": "Chat", "mode": "chat" },
                "model_config": { "pre_prompt": "Be brief." },
            }),
        ),
        (
            "a flow of Flowise",
            "a chatflow",
            json!({
                "nodes": [{ "id": "chatOpenAI_0", "type": "customNode", "position": { "x": 0, "y": 0 }, "data": {
                    "id": "chatOpenAI_0", "name": "chatOpenAI", "version": 8, "baseClasses": ["ChatOpenAI"],
                    "inputAnchors": [], "inputs": {}, "outputAnchors": [] } }],
                "edges": [{ "source": "chatOpenAI_0", "sourceHandle": "a", "target": "b", "targetHandle": "c",
                    "type": "buttonedge", "id": "e" }],
            }),
        ),
        (
            "a flow of Flowise",
            "an agentflow",
            json!({
                "nodes": [{ "id": "startAgentflow_0", "type": "agentFlow", "position": { "x": 0, "y": 0 }, "data": {
                    "id": "startAgentflow_0", "name": "startAgentflow", "inputs": {} } }],
                "edges": [],
            }),
        ),
        (
            "a flow of Flowise",
            "all flows",
            json!({ "ChatFlow": [{ "id": "1", "name": "Chat", "flowData": "{}" }], "AgentFlowV2": [] }),
        ),
        (
            "a flow of Flowise",
            "all that there is, without flows",
            json!({ "ChatFlow": [], "AgentFlow": [], "Tool": [{ "name": "now", "func": "return 1" }], "Variable": [] }),
        ),
        (
            "a flow of Langflow",
            "a list of flows",
            json!([{ "name": "A", "data": { "nodes": [], "edges": [] } }]),
        ),
        (
            "a flow of Langflow",
            "a file",
            json!({
                "name": "Greeting", "description": "", "last_tested_version": "1.5.0", "endpoint_name": null,
                "is_component": false,
                "data": {
                    "nodes": [{ "id": "Prompt-1", "type": "genericNode", "position": { "x": 0, "y": 0 },
                        "data": { "type": "Prompt", "node": { "template": {} } } }],
                    "edges": [], "viewport": canvas,
                },
            }),
        ),
        (
            "a flow of Langflow",
            "several flows",
            json!({ "folder_name": "Mine", "flows": [{ "name": "A", "data": { "nodes": [], "edges": [] } }] }),
        ),
    ]
}

fn expected(what: &str) -> String {
    let (_, system) = what.rsplit_once(' ').unwrap();
    format!(
        "the document is {what}, which petalflow does not read: write its steps as a graph (`nodes` and `edges`) or as an agent \
         workflow (`agents`, `tasks` and `execution`), or let {system} run it, and call its URL in a node of type `webhook_call`"
    )
}

#[test]
fn f45_a_document_of_another_system_is_one_error_with_what_to_do() {
    for (what, case, document) in documents() {
        for (name, text) in [
            ("flow.json", document.to_string()),
            ("flow.yaml", yaml(&document)),
        ] {
            let expected = expected(what);
            let found = Source::new(name, &text)
                .check(&Catalog::default())
                .unwrap_err();
            let lines: Vec<String> = found
                .iter()
                .map(|it| format!("{} {}", it.code, it.message))
                .collect();
            assert_eq!(lines, [format!("DC-004 {expected}")], "{what}: {case}");
            let found = conversations::check(&conversations::Source::new(name, &text)).unwrap_err();
            let lines: Vec<&str> = found.iter().map(|it| it.message.as_str()).collect();
            assert_eq!(lines, [expected], "{what}: {case}");
        }
    }
}

#[test]
fn f45_a_tool_of_another_system_is_one_error_with_what_to_do() {
    let flowise = json!({
        "name": "make_webhook", "description": "Sends a message", "color": "linear-gradient(red, blue)", "iconSrc": "",
        "schema": "[]", "func": "return 1",
    });
    let manifest = json!({ "manifest_version": "1.0", "tool": { "name": "s3" }, "transport": {}, "actions": {} });
    let overlay = json!({ "overlay_version": "1.0", "group_actions": { "list": "list_objects" } });
    for (what, document) in [
        ("a tool of Flowise", &flowise),
        ("a tool of Flowise", &json!([flowise])),
        ("a tool manifest of PetalFlow", &manifest),
        ("a tool overlay of PetalFlow", &overlay),
    ] {
        let expected = format!(
            "the document is {what}, which petalflow does not read: write the tool as a program or a \
             function, and name it in a node of type `tool`"
        );
        let found = Source::new("tool.json", document.to_string())
            .check(&Catalog::default())
            .unwrap_err();
        let messages: Vec<&str> = found.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, [expected.as_str()]);
        let source = conversations::Source::new("tool.json", document.to_string());
        let found = conversations::check(&source).unwrap_err();
        let messages: Vec<&str> = found.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(messages, [expected.as_str()]);
    }
}

#[test]
fn f45_text_after_a_document_is_named_with_its_place() {
    let found = Source::new("a.json", "{ \"id\": \"a\" }\nGreeting of guests")
        .check(&Catalog::default())
        .unwrap_err();
    assert_eq!(
        found.to_string().trim(),
        "a.json:2:1: error[DC-001]: the document is not JSON: there is text after its end; remove the text"
    );
}

/// JSON is YAML.
fn yaml(document: &Value) -> String {
    serde_json::to_string_pretty(document).unwrap()
}

#[test]
fn f45_documents_of_petalflow_are_not_taken_for_those_of_others() {
    let graph = json!({
        "id": "g", "version": "1", "kind": "graph", "metadata": { "app": "n8n" },
        "nodes": [{ "id": "a", "type": "transform", "config": {
            "transform": "template", "template": "connections", "output_var": "data" } }],
        "edges": [],
    });
    let checked = Source::new("g.json", graph.to_string()).check(&Catalog::default());
    assert!(checked.is_ok(), "{checked:?}");
    let editor = json!({
        "meta": { "name": "menu", "version": "1" }, "edges": [],
        "nodes": [{ "id": "start", "type": "initial", "position": { "x": 0, "y": 0 }, "data": { "label": "Start" } }],
    });
    let checked = conversations::check(&conversations::Source::new("e.json", editor.to_string()));
    assert!(checked.is_ok(), "{checked:?}");
    let mistaken = json!({ "id": "g", "app": {}, "data": {} });
    let found = Source::new("g.json", mistaken.to_string())
        .check(&Catalog::default())
        .unwrap_err();
    assert!(found.to_string().contains("neither a graph"), "{found}");
}
