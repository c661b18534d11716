//! The protocols.

use petalflow::checkpoint::{Address, Store, ThreadQuery};
use petalflow_server::A2a;

use super::*;

fn router_of(store: &InMemoryStore, worker: &Worker, strategy: MultitaskStrategy) -> Router {
    let builder = builder(store, &worker.agent, strategy);
    let builder = builder
        .a2a(A2a::new("https://example.com"))
        .ag_ui()
        .openai();
    builder.build().expect("the settings are right").router()
}

/// Lets the tool end as soon as the message is stored.
async fn go_when_stored(store: &InMemoryStore, worker: &Worker, strategy: &str) {
    if !matches!(strategy, "enqueue" | "steer") {
        // The tool never ends.
        return;
    }
    let is_queued = async || {
        let query = ThreadQuery {
            prefix: "petalflow.queue:",
            ..ThreadQuery::default()
        };
        !store.threads(query).await.expect("it answers").is_empty()
    };
    let is_sent = async || {
        let all = store.threads(ThreadQuery::default()).await;
        let mut is_sent = false;
        for info in all.expect("it answers") {
            let inbox = Address {
                thread: &info.id,
                namespace: "/inbox",
            };
            let messages = store.history(inbox, None, 1).await;
            is_sent |= !messages.expect("it answers").is_empty();
        }
        is_sent
    };
    let is_stored = async || {
        if strategy == "enqueue" {
            is_queued().await
        } else {
            is_sent().await
        }
    };
    while !is_stored().await {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    worker.go.notify_one();
}

async fn a2a(router: &Router, message: Value, at_once: bool) -> Value {
    let configuration = json!({ "returnImmediately": at_once });
    let params = json!({ "message": message, "configuration": configuration });
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "SendMessage", "params": params });
    let request = axum::http::Request::post("/a2a/worker")
        .header("a2a-version", "1.0")
        .header("content-type", "application/json")
        .body(axum::body::Body::from(body.to_string()));
    crate::kit::send(router, request.expect("a request"))
        .await
        .json()
}

fn message(id: &str, text: &str, strategy: Option<&str>) -> Value {
    let mut message = json!({ "messageId": id, "role": "ROLE_USER", "contextId": "a",
        "parts": [{ "text": text }] });
    if let Some(strategy) = strategy {
        message["metadata"] = json!({ "multitask_strategy": strategy });
    }
    message
}

#[tokio::test]
async fn f43_a_message_of_a2a_says_what_happens() {
    for strategy in ["enqueue", "steer", "interrupt", "rollback"] {
        let (worker, store) = (worker(), InMemoryStore::new());
        let router = router_of(&store, &worker, MultitaskStrategy::Reject);
        a2a(&router, message("m1", "hello", None), false).await;
        let working = a2a(&router, message("m2", "work", None), true).await;
        let working = working["result"]["task"]["id"].clone();
        worker.begun.notified().await;
        let refused = a2a(&router, message("m3", "a", None), false).await;
        assert!(refused["error"]["code"].is_number(), "{refused}");
        let invalid = a2a(&router, message("m3", "a", Some("wait")), false).await;
        assert_eq!(invalid["error"]["code"], -32602, "{invalid}");
        let mut sent = message("m3", "a", Some(strategy));
        if strategy == "steer" {
            sent["taskId"] = working.clone();
        }
        let goes = go_when_stored(&store, &worker, strategy);
        let (task, ()) = tokio::join!(a2a(&router, sent, false), goes);
        let task = &task["result"]["task"];
        assert_eq!(
            task["status"]["state"], "TASK_STATE_COMPLETED",
            "{strategy}: {task}"
        );
        assert_eq!(task["id"] == working, strategy == "steer", "{task}");
        let rest: &[&str] = match strategy {
            "enqueue" => &["work", "You said work.", "a", "You said a."],
            "rollback" => &["a", "You said a."],
            _ => &["work", "a", "You said work, a."],
        };
        says(&router, &[&["hello", "You said hello."][..], rest].concat()).await;
    }
}

fn run_input(run: &str, id: &str, text: &str, strategy: Option<&str>) -> Value {
    let message = json!({ "id": id, "role": "user", "content": text });
    let forwarded = strategy.map(|strategy| json!({ "multitask_strategy": strategy }));
    json!({ "threadId": "a", "runId": run, "messages": [message], "state": {},
        "forwardedProps": forwarded })
}

#[tokio::test]
async fn f43_a_run_of_ag_ui_says_what_happens() {
    for strategy in ["enqueue", "steer", "interrupt", "rollback"] {
        let (worker, store) = (worker(), InMemoryStore::new());
        let router = router_of(&store, &worker, MultitaskStrategy::Reject);
        begin(&worker, &router).await;
        let input = run_input("r1", "m1", "a", Some("wait"));
        assert_eq!(
            call(&router, "POST", "/ag-ui/worker", input).await.status,
            422
        );
        let goes = go_when_stored(&store, &worker, strategy);
        let input = run_input("r1", "m1", "a", Some(strategy));
        let (response, ()) = tokio::join!(call(&router, "POST", "/ag-ui/worker", input), goes);
        assert_eq!(response.status, StatusCode::OK, "{response:?}");
        let data = response
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("data:"));
        let events = data.map(|data| serde_json::from_str::<Value>(data).expect("JSON"));
        let events: Vec<Value> = events.collect();
        let last = events.last().expect("there are events");
        assert_eq!(last["type"], "RUN_FINISHED", "{strategy}: {last}");
        let said = events.iter().filter_map(|event| event["delta"].as_str());
        let said: String = said.collect();
        let rest: &[&str] = match strategy {
            "enqueue" => &["work", "You said work.", "a", "You said a."],
            "rollback" => &["a", "You said a."],
            _ => &["work", "a", "You said work, a."],
        };
        assert!(said.ends_with(rest[rest.len() - 1]), "{strategy}: {said}");
        says(&router, &[&["hello", "You said hello."][..], rest].concat()).await;
    }
}

#[tokio::test]
async fn f43_a_response_that_continues_one_in_progress_does_what_the_agent_says() {
    for strategy in [
        MultitaskStrategy::Reject,
        MultitaskStrategy::Enqueue,
        MultitaskStrategy::Steer,
        MultitaskStrategy::Interrupt,
        MultitaskStrategy::Rollback,
    ] {
        let (worker, store) = (worker(), InMemoryStore::new());
        let router = router_of(&store, &worker, strategy);
        let respond = async |body: Value| call(&router, "POST", "/v1/responses", body).await;
        let body = json!({ "model": "worker", "input": "work", "background": true });
        let first = respond(body).await.json();
        worker.begun.notified().await;
        let body = json!({ "model": "worker", "input": "a", "previous_response_id": first["id"] });
        let goes = go_when_stored(&store, &worker, strategy.as_str());
        let (next, ()) = tokio::join!(respond(body), goes);
        if strategy == MultitaskStrategy::Reject {
            assert_eq!(next.status, StatusCode::CONFLICT, "{next:?}");
            continue;
        }
        assert_eq!(next.status, StatusCode::OK, "{strategy:?}: {next:?}");
        let expected = match strategy {
            MultitaskStrategy::Enqueue | MultitaskStrategy::Rollback => "You said a.",
            _ => "You said work, a.",
        };
        assert_eq!(next.json()["status"], "completed");
        assert!(next.text.contains(expected), "{strategy:?}: {next:?}");
    }
}
