//! Requests that change something, of each operation of the document: a repetition changes nothing.

use std::collections::BTreeMap;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use petalflow::prelude::*;
use serde_json::{Value, json};

use super::document;
use crate::kit::{Response, send};
use crate::mcp::kit::{Served, Slow};

/// Operations without a key whose repetitions are known by something else.
const BY_PROTOCOL: [(&str, &str); 7] = [
    ("a2a_call", "a message has `messageId`"),
    ("a2a_send_message", "a message has `messageId`"),
    ("a2a_stream_message", "a message has `messageId`"),
    ("a2a_act_on_task", "it cancels or reads a turn"),
    ("ag_ui_run", "a run has `runId`"),
    ("mcp_call", "MCP has no identifier of a call: decision 0270"),
    ("openai_cancel_response", "it cancels a turn"),
];

#[state]
struct Note {
    #[key(input)]
    text: String,
    #[key(append, inbox)]
    more: Vec<String>,
}

#[node(Note)]
async fn write() {}

flow!(Notes(Note) { write });

/// A server of all operations, with the threads that the requests are about.
struct Fixture {
    /// The server, until the end of the test.
    served: Served,
    router: Router,
    question: String,
    task: Slow,
}

impl Fixture {
    async fn new() -> Self {
        let task = Slow::default();
        let served = Served::start(super::builder_with(&task).flow(Notes::new())).await;
        let mut fixture = Fixture {
            router: served.server.router(),
            served,
            question: String::new(),
            task,
        };
        let refunds = "/flows/refunds/threads";
        fixture
            .must(
                "POST",
                refunds,
                json!({ "id": "waits", "input": { "cents": 7 } }),
            )
            .await;
        fixture
            .must(
                "POST",
                refunds,
                json!({ "id": "failed", "input": { "cents": 0 } }),
            )
            .await;
        let notes = "/flows/Notes/threads";
        fixture
            .must(
                "POST",
                notes,
                json!({ "id": "note", "input": { "text": "a" } }),
            )
            .await;
        fixture.settle().await;
        let waits = fixture
            .must("GET", "/threads/refunds:waits", Value::Null)
            .await;
        let question = waits.json()["questions"][0]["id"]
            .as_str()
            .map(String::from);
        fixture.question = question.expect("it asks");
        fixture
    }

    async fn sent(&self, method: &str, path: &str, key: &str, body: &Value) -> Response {
        let mut request = Request::builder().method(method).uri(path);
        request = request
            .header("x-token", "secret")
            .header("content-type", "application/json");
        if !key.is_empty() {
            request = request.header("idempotency-key", key);
        }
        let request = request.body(Body::from(body.to_string()));
        send(&self.router, request.expect("a request")).await
    }

    async fn must(&self, method: &str, path: &str, body: Value) -> Response {
        let response = self.sent(method, path, "", &body).await;
        assert!(response.status.is_success(), "{path}: {response:?}");
        response
    }

    /// The threads of clients.
    async fn threads(&self) -> Vec<Value> {
        let listed = self.must("GET", "/threads?limit=1000", Value::Null).await;
        listed.json()["threads"]
            .as_array()
            .expect("threads")
            .clone()
    }

    /// Waits until no run is in progress, except those of the flow that works until it may end.
    async fn settle(&self) {
        for thread in self.threads().await {
            let id = thread["id"].as_str().expect("an id");
            if !id.starts_with("DoWork:") {
                // The stream of events ends with the run.
                self.must("GET", &format!("/threads/{id}/events"), Value::Null)
                    .await;
            }
        }
    }

    /// How many checkpoints each thread has, and its labels.
    async fn all(&self) -> BTreeMap<String, (usize, Value)> {
        let mut all = BTreeMap::new();
        for thread in self.threads().await {
            let id = thread["id"].as_str().expect("an id").to_string();
            let history = format!("/threads/{id}/history");
            let history = self.must("GET", &history, Value::Null).await.json();
            let checkpoints = history["checkpoints"].as_array().map(Vec::len);
            all.insert(id, (checkpoints.unwrap_or(0), thread["labels"].clone()));
        }
        all
    }

    /// Begins a thread that works until it is stopped.
    async fn work(&self) {
        let body = json!({ "id": "work", "input": { "n": 1 } });
        self.must("POST", "/flows/DoWork/threads", body).await;
        self.task.begun.notified().await;
    }

    /// A request of the operation: its path and its body.
    async fn request(&self, operation: &str) -> (String, Value) {
        let of = |thread: &str, address: &str| format!("/threads/{thread}/{address}");
        let schedule = |address: &str| format!("/schedules/morning/{address}");
        let none = json!({});
        match operation {
            "start_thread" => (
                "/flows/refunds/threads".into(),
                json!({ "input": { "cents": 7 } }),
            ),
            "command_threads" => {
                let command = json!({ "command": "label", "labels": { "seen": "yes" } });
                ("/thread-commands?prefix=refunds:waits".into(), command)
            }
            "delete_thread" => ("/threads/refunds:failed".into(), none),
            "begin_turn" => {
                let turn = json!({ "input": { "cents": 9 }, "discard_pending": true });
                (of("refunds:waits", "turns"), turn)
            }
            "answer_question" => {
                let answer = json!({ "answer": { "pays": true } });
                (
                    of("refunds:waits", &format!("answers/{}", self.question)),
                    answer,
                )
            }
            "resume_thread" => (of("refunds:failed", "resume"), none),
            "cancel_thread" | "hold_thread" | "drain_thread" => {
                self.work().await;
                let address = operation.trim_end_matches("_thread");
                (of("DoWork:work", address), none)
            }
            "edit_thread" => (
                of("refunds:failed", "edit"),
                json!({ "keys": { "cents": 3 } }),
            ),
            "send_message" => {
                let message = json!({ "key": "more", "value": ["b"] });
                (of("Notes:note", "messages"), message)
            }
            "fork_thread" => (of("Notes:note", "fork"), json!({ "checkpoint": 1 })),
            "copy_thread" => (of("Notes:note", "copy"), json!({ "id": "copy" })),
            "replace_labels" => (of("Notes:note", "labels"), json!({ "team": "sales" })),
            "define_schedule" => {
                let definition =
                    json!({ "flow": "refunds", "cron": "0 9 * * *", "input": { "cents": 1 } });
                ("/schedules/evening".into(), definition)
            }
            "delete_schedule" => {
                let definition =
                    json!({ "flow": "refunds", "cron": "0 9 * * *", "input": { "cents": 1 } });
                self.must("PUT", "/schedules/evening", definition).await;
                ("/schedules/evening".into(), none)
            }
            "backfill_schedule" => {
                let range = json!({ "from": "2026-01-01T00:00:00Z", "to": "2026-01-03T00:00:00Z" });
                (schedule("backfill"), range)
            }
            "pause_schedule" => (schedule("pause"), none),
            "unpause_schedule" => (schedule("unpause"), none),
            "run_schedule" => (schedule("run"), none),
            "set_retention" => ("/retention/Notes".into(), json!({ "max_threads": 9 })),
            "reset_retention" => ("/retention/Notes".into(), none),
            "write_memory_entry" => (
                "/memory/entry?namespace=a&key=b".into(),
                json!({ "value": 1 }),
            ),
            "delete_memory_entry" => {
                let path = "/memory/entry?namespace=a&key=b";
                self.must("PUT", path, json!({ "value": 1 })).await;
                (path.into(), none)
            }
            "openai_create_chat_completion" => {
                let messages = json!([{ "role": "user", "content": "hi" }]);
                (
                    "/v1/chat/completions".into(),
                    json!({ "model": "helper", "messages": messages }),
                )
            }
            "openai_create_response" => (
                "/v1/responses".into(),
                json!({ "model": "helper", "input": "hi" }),
            ),
            "openai_delete_response" => {
                let body = json!({ "model": "helper", "input": "hi" });
                let created = self.must("POST", "/v1/responses", body).await.json();
                let id = created["id"].as_str().expect("an id").to_string();
                (format!("/v1/responses/{id}"), none)
            }
            "mcp_end_session" => ("/mcp".into(), none),
            "deliver_post_orders_incoming" => (
                "/workflows/orders/webhooks/incoming".into(),
                json!({ "order": 1 }),
            ),
            other => panic!("`{other}` changes something: say here how it is requested"),
        }
    }
}

/// What a client tells one response from another by. The time of an answer is not among it.
fn told(response: &Response) -> (StatusCode, Value) {
    let mut body: Value = serde_json::from_str(&response.text).unwrap_or_default();
    if let Some(fields) = body.as_object_mut() {
        fields.retain(|name, _| !["created", "created_at"].contains(&&**name));
    }
    (response.status, body)
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_each_operation_that_changes_something_does_it_once() {
    let fixture = Fixture::new().await;
    let document = document(&fixture.served).await;
    let mut tried = 0;
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let id = operation["operationId"].as_str().expect("an id");
            let by_protocol = BY_PROTOCOL.iter().any(|(known, _)| *known == id);
            if method == "get" || by_protocol {
                continue;
            }
            let parameters = operation["parameters"].as_array().expect("parameters");
            let is_keyed = parameters.iter().any(|it| it["name"] == "Idempotency-Key");
            let is_idempotent = ["put", "delete"].contains(&&**method);
            assert!(
                is_keyed || is_idempotent,
                "{method} {path} has no key: take one, or say why it needs none"
            );
            once(id, &method.to_ascii_uppercase(), is_keyed).await;
            tried += 1;
        }
    }
    assert!(tried >= 25, "{tried}");
}

/// Sends a request of the operation twice. The second one changes nothing, and has the same response if it has a key.
async fn once(operation: &str, method: &str, is_keyed: bool) {
    let fixture = Fixture::new().await;
    let (path, body) = fixture.request(operation).await;
    let key = if is_keyed { "the key" } else { "" };
    let first = fixture.sent(method, &path, key, &body).await;
    fixture.settle().await;
    if operation == "mcp_end_session" {
        assert!(
            first.status.is_client_error(),
            "there is no session: {first:?}"
        );
        return;
    }
    assert!(first.status.is_success(), "{operation}: {first:?}");
    let after = fixture.all().await;
    let again = fixture.sent(method, &path, key, &body).await;
    fixture.settle().await;
    assert_eq!(fixture.all().await, after, "{operation}: {again:?}");
    if is_keyed {
        assert_eq!(told(&again), told(&first), "{operation}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_the_document_names_the_header_of_the_program() {
    let builder = super::builder().idempotency_header("X-GitHub-Delivery");
    let document = document(&Served::start(builder).await).await;
    let of_copy = &document["paths"]["/threads/{thread}/copy"]["post"]["parameters"];
    let names: Vec<&str> = of_copy
        .as_array()
        .expect("parameters")
        .iter()
        .filter_map(|parameter| parameter["name"].as_str())
        .collect();
    assert_eq!(names, ["thread", "x-github-delivery"]);
}
