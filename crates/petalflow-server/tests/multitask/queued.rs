//! What clients of protocols see of a request that is queued.

use axum::body::{Body, BodyDataStream};
use axum::http::Request;
use axum::http::request::Parts;
use futures_util::StreamExt;
use petalflow::engine::ThreadEngine;
use petalflow_server::{A2a, Access};
use tower::ServiceExt;

use super::*;
use crate::remote::engine::Engine;

const ENQUEUE: MultitaskStrategy = MultitaskStrategy::Enqueue;

/// Two servers over one store.
fn routers(worker: &Worker) -> [Router; 2] {
    let store = InMemoryStore::new();
    [(); 2].map(|()| {
        let builder = builder(&store, &worker.agent, ENQUEUE);
        let builder = builder
            .a2a(A2a::new("https://example.com"))
            .ag_ui()
            .openai();
        builder.build().expect("the settings are right").router()
    })
}

/// Two servers whose threads an engine keeps.
fn routers_of_engine(worker: &Worker) -> [Router; 2] {
    let engine = ThreadEngine::new(worker.agent.launch()).event_log(1_000);
    let (engine, store) = (Engine::new(engine), InMemoryStore::new());
    [(); 2].map(|()| {
        let served = ServedFlow::agent(&worker.agent)
            .named("worker")
            .multitask(ENQUEUE);
        let builder = Server::builder(&store).serve_remote(served, engine.clone());
        let builder = builder
            .threads(TriggerAuth::None)
            .a2a(A2a::new("https://example.com"));
        builder.build().expect("the settings are right").router()
    })
}

/// Server-sent events while they arrive. A client that drops it disconnects.
struct Arriving {
    body: BodyDataStream,
    text: String,
}

impl Arriving {
    async fn of(router: &Router, path: &str, body: &Value) -> Self {
        let request = Request::post(path)
            .header("a2a-version", "1.0")
            .header("content-type", "application/json");
        let request = request.body(Body::from(body.to_string()));
        let response = router.clone().oneshot(request.expect("a request")).await;
        let response = response.expect("it answers");
        assert_eq!(response.status(), StatusCode::OK);
        Arriving {
            body: response.into_body().into_data_stream(),
            text: String::new(),
        }
    }

    /// The next event. `None` at the end.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let data = event.lines().find_map(|line| line.strip_prefix("data:"));
                let data = data.map(|data| serde_json::from_str(data).expect("JSON"));
                self.text = rest.to_string();
                match data {
                    Some(data) => return Some(data),
                    None => continue,
                }
            }
            let more = tokio::time::timeout(Duration::from_mins(1), self.body.next()).await;
            let more = more.expect("no event arrives")?.expect("a body");
            self.text += std::str::from_utf8(&more).expect("text");
        }
    }

    async fn rest(&mut self) -> Vec<Value> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

fn rpc_body(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params })
}

async fn rpc(router: &Router, method: &str, params: Value) -> Value {
    let request = Request::post("/a2a/worker").header("a2a-version", "1.0");
    let body = Body::from(rpc_body(method, &params).to_string());
    let request = request
        .header("content-type", "application/json")
        .body(body);
    crate::kit::send(router, request.expect("a request"))
        .await
        .json()
}

fn message(id: &str, text: &str) -> Value {
    json!({ "messageId": id, "role": "ROLE_USER", "contextId": "a", "parts": [{ "text": text }] })
}

fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap_or_default()
}

async fn task(router: &Router, id: &Value) -> Value {
    let task = rpc(router, "GetTask", json!({ "id": id })).await;
    task["result"].clone()
}

async fn stream(router: &Router, id: &str, text: &str) -> Arriving {
    let params = json!({ "message": message(id, text) });
    let body = rpc_body("SendStreamingMessage", &params);
    Arriving::of(router, "/a2a/worker", &body).await
}

async fn send_now(router: &Router, id: &str, text: &str) -> Value {
    let now = json!({ "returnImmediately": true });
    let params = json!({ "message": message(id, text), "configuration": now });
    rpc(router, "SendMessage", params).await
}

/// The states of the tasks of the context, by their ids.
async fn listed(router: &Router) -> Vec<(Value, String)> {
    let list = rpc(router, "ListTasks", json!({ "contextId": "a" })).await;
    let tasks = list["result"]["tasks"].as_array().expect("a list").iter();
    tasks
        .map(|task| (task["id"].clone(), state(task).to_string()))
        .collect()
}

#[tokio::test]
async fn f43_a_queued_task_of_a2a_is_submitted_before_its_turn() {
    let worker = worker();
    let [router, other] = routers(&worker);
    begin(&worker, &router).await;
    let mut events = stream(&router, "m1", "a").await;
    let first = events.next().await.expect("it arrives at once")["result"]["task"].clone();
    assert_eq!(state(&first), "TASK_STATE_SUBMITTED", "{first}");
    assert_eq!(first["history"][0]["messageId"], "m1", "{first}");
    let id = first["id"].clone();
    for router in [&router, &other] {
        let task = task(router, &id).await;
        assert_eq!(state(&task), "TASK_STATE_SUBMITTED", "{task}");
        let again = send_now(router, "m1", "a").await["result"]["task"].clone();
        assert_eq!((&again["id"], state(&again)), (&id, "TASK_STATE_SUBMITTED"));
        let changed = send_now(router, "m1", "b").await;
        assert_eq!(changed["error"]["code"], -32602, "{changed}");
        let tasks = listed(router).await;
        assert_eq!(tasks.len(), 3, "{tasks:?}");
        assert!(tasks.contains(&(id.clone(), "TASK_STATE_SUBMITTED".into())));
    }
    // Its task asks nothing yet.
    let mut about = message("m2", "b");
    about["taskId"] = id.clone();
    let refused = rpc(&router, "SendMessage", json!({ "message": about })).await;
    assert_eq!(refused["error"]["code"], -32004, "{refused}");
    let follow = rpc_body("SubscribeToTask", &json!({ "id": id }));
    let mut follows = Arriving::of(&other, "/a2a/worker", &follow).await;
    let first = follows.next().await.expect("it arrives at once");
    assert_eq!(state(&first["result"]["task"]), "TASK_STATE_SUBMITTED");
    worker.go.notify_one();
    for events in [&mut events, &mut follows] {
        let events = events.rest().await;
        let updates = events
            .iter()
            .map(|event| &event["result"]["statusUpdate"])
            .filter(|update| update.is_object());
        let states: Vec<&str> = updates.map(state).collect();
        assert_eq!(
            states,
            ["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"],
            "{events:?}"
        );
        let of_task = |event: &Value| {
            let update = event["result"]
                .as_object()
                .and_then(|it| it.values().next());
            update.is_some_and(|update| update["taskId"] == id)
        };
        assert!(events.iter().all(of_task), "{events:?}");
    }
    for router in [&router, &other] {
        let done = task(router, &id).await;
        assert_eq!(state(&done), "TASK_STATE_COMPLETED", "{done}");
        assert_eq!(done["artifacts"][0]["parts"][0]["text"], "You said a.");
        let again = send_now(router, "m1", "a").await;
        assert_eq!(again["result"]["task"]["id"], id);
        let tasks = listed(router).await;
        assert_eq!(tasks.len(), 3, "{tasks:?}");
        assert!(tasks.contains(&(id.clone(), "TASK_STATE_COMPLETED".into())));
    }
}

#[tokio::test]
async fn f43_a_queued_task_of_a2a_is_cancelled() {
    let worker = worker();
    is_cancelled_while_queued(&worker, routers(&worker)).await;
}

#[tokio::test]
async fn f43_a_queued_task_of_a_thread_of_an_engine_is_cancelled() {
    let worker = worker();
    is_cancelled_while_queued(&worker, routers_of_engine(&worker)).await;
}

async fn is_cancelled_while_queued(worker: &Worker, [router, other]: [Router; 2]) {
    begin(worker, &router).await;
    let mut events = stream(&router, "m1", "a").await;
    let first = events.next().await.expect("it arrives at once");
    let id = first["result"]["task"]["id"].clone();
    let next = send_now(&router, "m2", "b").await["result"]["task"].clone();
    assert_eq!(state(&next), "TASK_STATE_SUBMITTED", "{next}");
    // The run is that of another server.
    let cancelled = rpc(&other, "CancelTask", json!({ "id": id })).await["result"].clone();
    assert_eq!(state(&cancelled), "TASK_STATE_CANCELED", "{cancelled}");
    let events = events.rest().await;
    assert_eq!(events.len(), 1, "{events:?}");
    let update = &events[0]["result"]["statusUpdate"];
    assert_eq!(
        (&update["taskId"], state(update)),
        (&id, "TASK_STATE_CANCELED")
    );
    let is_cancelled = async || {
        for router in [&router, &other] {
            assert_eq!(state(&task(router, &id).await), "TASK_STATE_CANCELED");
            let again = rpc(router, "CancelTask", json!({ "id": id })).await;
            assert_eq!(again["error"]["code"], -32002, "{again}");
            let again = send_now(router, "m1", "a").await["result"]["task"].clone();
            assert_eq!((&again["id"], state(&again)), (&id, "TASK_STATE_CANCELED"));
            let tasks = listed(router).await;
            assert!(
                tasks.contains(&(id.clone(), "TASK_STATE_CANCELED".into())),
                "{tasks:?}"
            );
        }
    };
    is_cancelled().await;
    worker.go.notify_one();
    let said = ["hello", "You said hello.", "work", "You said work."];
    let rest = ["b", "You said b."];
    says(&router, &[&said[..], &rest].concat()).await;
    is_cancelled().await;
    let done = task(&other, &next["id"]).await;
    assert_eq!(state(&done), "TASK_STATE_COMPLETED", "{done}");
}

#[tokio::test]
async fn f43_a_queued_task_is_seen_by_its_user_alone() {
    let worker = worker();
    let user = |request: &Parts| match request.headers.get("x-user") {
        Some(user) => Access::label("user", user.to_str().expect("a name")),
        None => Access::None,
    };
    let builder = builder(&InMemoryStore::new(), &worker.agent, ENQUEUE);
    let builder = builder.a2a(A2a::new("https://example.com")).access(user);
    let router = builder.build().expect("the settings are right").router();
    let rpc = async |user: &str, method: &str, params: Value| {
        let request = Request::post("/a2a/worker").header("a2a-version", "1.0");
        let request = request.header("content-type", "application/json");
        let body = Body::from(rpc_body(method, &params).to_string());
        let request = request.header("x-user", user).body(body);
        crate::kit::send(&router, request.expect("a request"))
            .await
            .json()
    };
    let send = async |id: &str, text: &str| {
        let now = json!({ "returnImmediately": true });
        let params = json!({ "message": message(id, text), "configuration": now });
        rpc("ann", "SendMessage", params).await["result"]["task"].clone()
    };
    send("m1", "work").await;
    worker.begun.notified().await;
    let queued = send("m2", "a").await;
    assert_eq!(state(&queued), "TASK_STATE_SUBMITTED", "{queued}");
    let id = json!({ "id": queued["id"] });
    for method in ["GetTask", "SubscribeToTask", "CancelTask"] {
        let refused = rpc("bob", method, id.clone()).await;
        assert_eq!(refused["error"]["code"], -32001, "{method}: {refused}");
    }
    let found = rpc("ann", "GetTask", id.clone()).await;
    assert_eq!(state(&found["result"]), "TASK_STATE_SUBMITTED", "{found}");
    // An id that the server has not given names nothing.
    let other = queued["id"].as_str().expect("a text").replace(".q", ".qf");
    let unknown = rpc("ann", "GetTask", json!({ "id": other })).await;
    assert_eq!(unknown["error"]["code"], -32001, "{unknown}");
    worker.go.notify_one();
}

fn run_input(run: &str) -> Value {
    let message = json!({ "id": run, "role": "user", "content": format!("say {run}") });
    json!({ "threadId": "a", "runId": run, "messages": [message], "state": {} })
}

fn types(events: &[Value]) -> Vec<&str> {
    let types = events.iter().map(|event| event["type"].as_str());
    types.map(Option::unwrap_or_default).collect()
}

#[tokio::test]
async fn f43_a_queued_run_of_ag_ui_starts_before_its_turn() {
    let worker = worker();
    let [router, other] = routers(&worker);
    begin(&worker, &router).await;
    let mut events = Arriving::of(&router, "/ag-ui/worker", &run_input("r1")).await;
    let mut left = Arriving::of(&other, "/ag-ui/worker", &run_input("r2")).await;
    for events in [&mut events, &mut left] {
        let first = events.next().await.expect("it arrives at once");
        assert_eq!(first["type"], "RUN_STARTED", "{first}");
        let queued = events.next().await.expect("it arrives at once");
        assert_eq!(queued["type"], "CUSTOM", "{queued}");
        assert_eq!(queued["name"], "queued", "{queued}");
    }
    // A client that disconnects has sent its message all the same.
    drop(left);
    worker.go.notify_one();
    let events = events.rest().await;
    let kinds = types(&events);
    assert_eq!(kinds.first(), Some(&"STATE_SNAPSHOT"), "{events:?}");
    assert_eq!(kinds.last(), Some(&"RUN_FINISHED"), "{events:?}");
    let texts = events.iter().filter_map(|event| event["delta"].as_str());
    assert_eq!(texts.collect::<String>(), "You said say r1.");
    let said = ["hello", "You said hello.", "work", "You said work."];
    let rest = ["say r1", "You said say r1.", "say r2", "You said say r2."];
    says(&other, &[&said[..], &rest].concat()).await;
    // The client that has left reads its run.
    let mut again = Arriving::of(&other, "/ag-ui/worker", &run_input("r2")).await;
    let again = again.rest().await;
    let kinds = types(&again);
    assert_eq!(kinds[..2], ["RUN_STARTED", "STATE_SNAPSHOT"], "{again:?}");
    let texts = again.iter().filter_map(|event| event["delta"].as_str());
    assert_eq!(texts.collect::<String>(), "You said say r2.");
}

/// Begins a response whose tool works, and returns its id.
async fn begin_response(worker: &Worker, router: &Router) -> Value {
    let body = json!({ "model": "worker", "input": "work", "background": true });
    let first = call(router, "POST", "/v1/responses", body).await.json();
    assert_eq!(first["status"], "in_progress", "{first}");
    worker.begun.notified().await;
    first["id"].clone()
}

fn response_path(id: &Value) -> String {
    format!("/v1/responses/{}", id.as_str().expect("an id"))
}

/// The response when it has this status.
async fn response_is(router: &Router, id: &Value, status: &str) -> Value {
    let mut last = Value::Null;
    for _ in 0..3_000 {
        last = get(router, &response_path(id)).await.json();
        if last["status"] == status {
            return last;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("it is never {status}: {last}");
}

#[tokio::test]
async fn f43_a_queued_response_says_so_before_its_turn() {
    let worker = worker();
    let [router, other] = routers(&worker);
    let first = begin_response(&worker, &router).await;
    let body = json!({ "model": "worker", "input": "a", "previous_response_id": first,
        "stream": true, "metadata": { "shop": "kyoto" }, "temperature": 0.5 });
    let mut events = Arriving::of(&router, "/v1/responses", &body).await;
    let mut begun = Vec::new();
    for kind in ["response.created", "response.queued"] {
        let event = events.next().await.expect("it arrives at once");
        assert_eq!(event["type"], kind);
        assert_eq!(event["response"]["status"], "queued");
        begun.push(event);
    }
    let id = begun[0]["response"]["id"].clone();
    // The next one is queued behind it.
    let body = json!({ "model": "worker", "input": "b", "previous_response_id": id,
        "background": true });
    let next = call(&other, "POST", "/v1/responses", body).await.json();
    assert_eq!(next["status"], "queued", "{next}");
    for router in [&router, &other] {
        let queued = get(router, &response_path(&id)).await.json();
        assert_eq!(queued["status"], "queued", "{queued}");
        assert_eq!(queued["previous_response_id"], first);
        assert_eq!(queued["temperature"], 0.5);
        let queued = get(router, &response_path(&next["id"])).await.json();
        assert_eq!(queued["status"], "queued", "{queued}");
        assert_eq!(queued["previous_response_id"], id);
    }
    worker.go.notify_one();
    begun.extend(events.rest().await);
    let kinds = types(&begun);
    assert_eq!(kinds[2], "response.in_progress", "{begun:?}");
    let end = begun.last().expect("an event");
    assert_eq!(end["type"], "response.completed", "{end}");
    assert_eq!(end["response"]["id"], id);
    let numbers = begun.iter().map(|event| event["sequence_number"].as_u64());
    assert!(numbers.eq((0..).take(begun.len()).map(Some)), "{begun:?}");
    let done = response_is(&other, &id, "completed").await;
    assert_eq!(done["output"], end["response"]["output"]);
    assert_eq!(done["output"][0]["content"][0]["text"], "You said a.");
    assert_eq!(done["previous_response_id"], first);
    let done = response_is(&router, &next["id"], "completed").await;
    assert_eq!(done["previous_response_id"], id);
    // A client that has read the first two events gets the others, with the numbers that they had before.
    let rest = format!("{}?stream=true&starting_after=1", response_path(&id));
    let rest = get(&other, &rest).await.text;
    let rest = rest.lines().filter_map(|line| line.strip_prefix("data:"));
    let rest: Vec<Value> = rest
        .map(|data| serde_json::from_str(data).expect("JSON"))
        .collect();
    assert_eq!(types(&rest), types(&begun[2..]));
    let number = |event: &Value| event["sequence_number"].clone();
    assert!(rest.iter().map(number).eq(begun[2..].iter().map(number)));
}

#[tokio::test]
async fn f43_a_queued_response_is_cancelled() {
    let worker = worker();
    let [router, other] = routers(&worker);
    let first = begin_response(&worker, &router).await;
    let body = json!({ "model": "worker", "input": "a", "previous_response_id": first,
        "stream": true });
    let mut events = Arriving::of(&router, "/v1/responses", &body).await;
    let created = events.next().await.expect("it arrives at once");
    let id = created["response"]["id"].clone();
    let cancel = async |router: &Router| {
        let path = format!("{}/cancel", response_path(&id));
        let cancelled = call(router, "POST", &path, Value::Null).await.json();
        assert_eq!(cancelled["status"], "cancelled", "{cancelled}");
        assert_eq!(cancelled["id"], id);
    };
    cancel(&other).await;
    // As often as the client likes.
    cancel(&router).await;
    let events = events.rest().await;
    let end = events.last().expect("an event");
    assert_eq!(end["response"]["status"], "cancelled", "{events:?}");
    let body = json!({ "model": "worker", "input": "b", "previous_response_id": id });
    let refused = call(&router, "POST", "/v1/responses", body).await;
    assert_eq!(refused.status, StatusCode::CONFLICT, "{refused:?}");
    worker.go.notify_one();
    let done = response_is(&router, &first, "completed").await;
    assert_eq!(done["output"][0]["content"][0]["text"], "You said work.");
    let last = response_is(&other, &id, "cancelled").await;
    assert_eq!(last["output"], json!([]));
    assert_eq!(worker.model.requests().len(), 2, "its turn never begins");
}
