//! The document itself.

use std::collections::BTreeSet;
use std::process::Stdio;

use petalflow_test_support::{Need, skip};
use serde_json::{Value, json};
use tokio::process::Command;

use super::{builder, document, open_builder, printed, run, write};
use crate::mcp::kit::{Served, call};

#[tokio::test(flavor = "multi_thread")]
async fn f43_the_document_has_all_addresses_with_ids_and_security() {
    let served = Served::start(builder()).await;
    let document = document(&served).await;
    let schemes = &document["components"]["securitySchemes"];
    assert_eq!(
        (&schemes["token"]["name"], &schemes["bearer"]["scheme"]),
        (&json!("X-Token"), &json!("bearer"))
    );
    assert_eq!(schemes["webhook.orders.incoming"]["in"], "header");
    let security = |method: &str, path: &str| document["paths"][path][method]["security"].clone();
    assert_eq!(security("get", "/health"), json!([]));
    assert_eq!(security("get", "/threads"), json!([{ "token": [] }]));
    assert_eq!(
        security("post", "/mcp"),
        json!([{ "token": [] }, { "bearer": [] }])
    );
    assert_eq!(
        security("post", "/workflows/orders/webhooks/incoming"),
        json!([{ "webhook.orders.incoming": [] }])
    );
    for path in [
        "/openapi.json",
        "/schedules",
        "/v1/chat/completions",
        "/a2a/{agent}",
        "/ag-ui/{agent}",
        "/mcp",
    ] {
        assert!(document["paths"][path].is_object(), "{path}");
    }
    let mut ids = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let id = operation["operationId"].as_str();
            let id = id.unwrap_or_else(|| panic!("{method} {path} has no id"));
            assert!(ids.insert(id.to_string()), "there are two of {id}");
        }
    }
    // Each schema that is named is there.
    let text = document.to_string();
    for reference in text.split("\"#/").skip(1) {
        let place = reference.split('"').next().expect("a place");
        assert!(document.pointer(&format!("/{place}")).is_some(), "{place}");
    }
    let open = super::document(&Served::start(open_builder()).await).await;
    assert_eq!(open["paths"]["/threads"]["get"]["security"], json!([]));
    assert!(open["components"]["securitySchemes"].get("token").is_none());
}

/// The events of a thread, as a client receives them.
async fn events(served: &Served, thread: &str) -> Vec<Value> {
    let request = axum::http::Request::get(format!("/threads/{thread}/events"))
        .header("x-token", "secret")
        .body(axum::body::Body::empty())
        .expect("a request");
    let sent = crate::kit::send(&served.server.router(), request).await;
    let data = sent
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).expect("it is JSON"))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_each_event_has_the_fields_of_its_schema() {
    let served = Served::start(builder()).await;
    let document = document(&served).await;
    let schemas = &document["components"]["schemas"];
    let mapping = &schemas["ThreadEvent"]["discriminator"]["mapping"];
    let client = served.client();
    let waiting = call(&client, "refunds", json!({ "cents": 7 })).await;
    let answer = json!({
        "thread": waiting["thread"],
        "question": waiting["waits"][0]["id"],
        "answer": { "answer": { "pays": true } },
    });
    call(&client, "answer", answer).await;
    let failed = crate::mcp::kit::try_call(&client, "refunds", json!({ "cents": 0 })).await;
    let failed = failed.expect_err("it fails").to_string();
    let failed = failed.split('`').nth(1).expect("it names the thread");
    let mut kinds = BTreeSet::new();
    for thread in [waiting["thread"].as_str().expect("an id"), failed] {
        for event in events(&served, thread).await {
            let kind = event["kind"].as_str().expect("a kind");
            let place = mapping[kind]
                .as_str()
                .unwrap_or_else(|| panic!("{kind} has no schema"));
            let schema = &document.pointer(&place[1..]).expect("it is there");
            let fields = schema["properties"].as_object().expect("fields");
            for name in event.as_object().expect("an object").keys() {
                assert!(fields.contains_key(name), "{kind} has `{name}`: {event}");
            }
            for name in schema["required"].as_array().expect("names") {
                let name = name.as_str().expect("a name");
                assert!(event.get(name).is_some(), "{kind} has no `{name}`: {event}");
            }
            kinds.insert(kind.to_string());
        }
    }
    for kind in [
        "run_started",
        "superstep_started",
        "node_started",
        "custom",
        "interrupted",
        "checkpoint",
        "node_finished",
        "superstep_finished",
        "finished",
        "node_failed",
        "failed",
    ] {
        assert!(kinds.contains(kind), "{kind} is not among {kinds:?}");
    }
}

const VALIDATE: &str =
    "import json, sys; from openapi_spec_validator import validate; validate(json.load(sys.stdin))";

#[tokio::test(flavor = "multi_thread")]
async fn f43_a_validator_of_others_accepts_the_document() {
    let Ok(python) = std::env::var("PETALFLOW_TEST_PYTHON") else {
        return skip(
            Need::Optional,
            "no validator of OpenAPI: set PETALFLOW_TEST_PYTHON to a Python with the package `openapi-spec-validator`",
        );
    };
    let served = Served::start(builder()).await;
    let folder = tempfile::tempdir().expect("a folder");
    write(
        folder.path(),
        "openapi.json",
        &document(&served).await.to_string(),
    );
    let file = std::fs::File::open(folder.path().join("openapi.json")).expect("it is there");
    let mut program = Command::new(python);
    program.args(["-c", VALIDATE]).stdin(Stdio::from(file));
    printed(&run(&mut program).await);
}
