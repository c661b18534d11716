//! Documents of other systems are named as such, in one error.

use petalflow_document_model::conversations;
use petalflow_document_model::documents::{Catalog, Source};
use serde_json::{Value, json};

fn documents() -> Vec<(&'static str, &'static str, Value)> {
    let canvas = json!({ "x": 0, "y": 0, "zoom": 1 });
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
