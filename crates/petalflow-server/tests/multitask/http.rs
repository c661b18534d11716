//! The addresses of threads.

use petalflow::prelude::*;
use petalflow_server::SetupErrors;

use super::*;

#[tokio::test]
async fn f43_a_message_is_refused_while_a_run_works() {
    let worker = worker();
    let router = server(&worker, MultitaskStrategy::Reject).router();
    begin(&worker, &router).await;
    for strategy in [None, Some("reject")] {
        let refused = turn(&router, "a", strategy).await;
        assert_eq!(refused.status, StatusCode::CONFLICT);
        assert!(refused.error().contains("is busy with another run"));
    }
    worker.go.notify_one();
    says(
        &router,
        &["hello", "You said hello.", "work", "You said work."],
    )
    .await;
}

#[tokio::test]
async fn f43_queued_messages_begin_turns_in_their_order() {
    let worker = worker();
    let router = server(&worker, MultitaskStrategy::Enqueue).router();
    begin(&worker, &router).await;
    for text in ["a", "b", "c"] {
        let queued = turn(&router, text, None).await;
        assert_eq!(queued.status, StatusCode::ACCEPTED);
        let body = json!({ "thread": "worker:a", "message": "enqueued" });
        assert_eq!(queued.json(), body);
    }
    // A request may say something else.
    assert_eq!(turn(&router, "d", Some("reject")).await.status, 409);
    assert_eq!(view(&router).await["status"], "running");
    worker.go.notify_one();
    let turns = ["a", "You said a.", "b", "You said b.", "c", "You said c."];
    let all = [
        &["hello", "You said hello.", "work", "You said work."][..],
        &turns,
    ]
    .concat();
    says(&router, &all).await;
    // The lists of clients do not have the queue.
    let listed = get(&router, "/threads").await.json();
    assert_eq!(
        listed["threads"].as_array().map(Vec::len),
        Some(1),
        "{listed}"
    );
    let labels = &view(&router).await["labels"];
    assert_eq!(
        labels.as_object().map(serde_json::Map::len),
        Some(0),
        "{labels}"
    );
}

#[tokio::test]
async fn f43_a_repeated_message_is_queued_once() {
    for strategy in [MultitaskStrategy::Enqueue, MultitaskStrategy::Steer] {
        let worker = worker();
        let router = server(&worker, strategy).router();
        begin(&worker, &router).await;
        let send = async || {
            let request = axum::http::Request::post("/threads/worker:a/turns")
                .header("content-type", "application/json")
                .header("idempotency-key", "mail-7");
            let body = axum::body::Body::from(json!({ "input": "a" }).to_string());
            let sent = crate::kit::send(&router, request.body(body).expect("a request")).await;
            assert_eq!(sent.status, StatusCode::ACCEPTED);
        };
        send().await;
        send().await;
        worker.go.notify_one();
        let rest: &[&str] = match strategy {
            MultitaskStrategy::Enqueue => &["work", "You said work.", "a", "You said a."],
            _ => &["work", "a", "You said work, a."],
        };
        let all = [&["hello", "You said hello."][..], rest].concat();
        says(&router, &all).await;
        // Also when it has begun its turn.
        send().await;
        assert_eq!(turn(&router, "b", None).await.status, StatusCode::ACCEPTED);
        says(&router, &[&all[..], &["b", "You said b."]].concat()).await;
    }
}

#[tokio::test]
async fn f43_an_agent_reads_a_message_in_the_running_turn() {
    let worker = worker();
    let router = server(&worker, MultitaskStrategy::Steer).router();
    begin(&worker, &router).await;
    let steered = turn(&router, "a", None).await;
    assert_eq!(steered.json()["message"], "steered", "{steered:?}");
    worker.go.notify_one();
    says(
        &router,
        &["hello", "You said hello.", "work", "a", "You said work, a."],
    )
    .await;
    assert_eq!(
        worker.model.requests().len(),
        3,
        "no further turn asks the model"
    );
    // Without a run, it begins a turn.
    assert_eq!(
        turn(&router, "b", None).await.json()["message"],
        Value::Null
    );
    let turns = [
        "hello",
        "You said hello.",
        "work",
        "a",
        "You said work, a.",
        "b",
        "You said b.",
    ];
    says(&router, &turns).await;
}

#[tokio::test]
async fn f43_a_message_after_the_last_call_of_the_model_is_answered_all_the_same() {
    let worker = slow_to_answer();
    let router = server(&worker, MultitaskStrategy::Steer).router();
    let body = json!({ "id": "a", "input": "slowly" });
    call(&router, "POST", "/flows/worker/threads", body).await;
    worker.begun.notified().await;
    assert_eq!(turn(&router, "a", None).await.json()["message"], "steered");
    worker.go.notify_one();
    says(&router, &["slowly", "You said slowly.", "a", "You said a."]).await;
    assert_eq!(worker.model.requests().len(), 2);
}

#[tokio::test]
async fn f43_a_message_interrupts_the_running_turn() {
    let worker = worker();
    let router = server(&worker, MultitaskStrategy::Interrupt).router();
    begin(&worker, &router).await;
    let begun = turn(&router, "a", None).await;
    assert_eq!(begun.status, StatusCode::ACCEPTED, "{begun:?}");
    // The tool never ends. The model reads that the program stopped during its call.
    says(
        &router,
        &["hello", "You said hello.", "work", "a", "You said work, a."],
    )
    .await;
    let requests = worker.model.requests();
    let last = requests.last().expect("it was asked");
    let results = last.messages.iter().flat_map(ChatMessage::tool_results);
    let results: Vec<String> = results.map(|result| result.content.to_string()).collect();
    assert_eq!(results.len(), 1);
    assert!(results[0].contains("stopped"), "{results:?}");
}

#[tokio::test]
async fn f43_a_message_undoes_the_running_turn() {
    let worker = worker();
    let router = server(&worker, MultitaskStrategy::Rollback).router();
    begin(&worker, &router).await;
    // What cannot begin a turn stops nothing.
    let body = json!({ "input": { "sext": "a" } });
    let unfit = call(&router, "POST", "/threads/worker:a/turns", body).await;
    assert_eq!(unfit.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(view(&router).await["status"], "running");
    assert_eq!(turn(&router, "a", None).await.status, StatusCode::ACCEPTED);
    says(&router, &["hello", "You said hello.", "a", "You said a."]).await;
}

#[tokio::test]
async fn f43_the_first_turn_can_be_undone_too() {
    let worker = worker();
    let router = server(&worker, MultitaskStrategy::Reject).router();
    let body = json!({ "id": "a", "input": "work" });
    call(&router, "POST", "/flows/worker/threads", body).await;
    worker.begun.notified().await;
    let begun = turn(&router, "a", Some("rollback")).await;
    assert_eq!(begun.status, StatusCode::ACCEPTED, "{begun:?}");
    says(&router, &["a", "You said a."]).await;
}

/// The run is that of one server, and the messages come to another.
#[tokio::test]
async fn f43_messages_may_come_to_another_server_than_that_of_the_run() {
    for strategy in ["enqueue", "steer", "interrupt", "rollback"] {
        let (worker, store) = (worker(), InMemoryStore::new());
        let strategy_of_flow = MultitaskStrategy::Reject;
        let build = || builder(&store, &worker.agent, strategy_of_flow).build();
        let first = build().expect("the settings are right");
        let other = build().expect("the settings are right");
        begin(&worker, &first.router()).await;
        let router = other.router();
        let sent = turn(&router, "a", Some(strategy)).await;
        assert_eq!(sent.status, StatusCode::ACCEPTED, "{strategy}: {sent:?}");
        worker.go.notify_one();
        let looks = tokio::spawn(async move {
            loop {
                other.recover().await.expect("the store answers");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
        let hello = ["hello", "You said hello."];
        let rest: &[&str] = match strategy {
            "enqueue" => &["work", "You said work.", "a", "You said a."],
            "rollback" => &["a", "You said a."],
            _ => &["work", "a", "You said work, a."],
        };
        says(&router, &[&hello[..], rest].concat()).await;
        looks.abort();
    }
}

#[tokio::test]
async fn f43_a_strategy_that_is_unknown_or_does_not_fit_is_refused() {
    let worker = worker();
    let router = server(&worker, MultitaskStrategy::Reject).router();
    begin(&worker, &router).await;
    let unknown = turn(&router, "a", Some("wait")).await;
    assert_eq!(unknown.status, StatusCode::BAD_REQUEST, "{unknown:?}");
    let body =
        json!({ "input": { "text": "a", "state": { "x": 1 } }, "multitask_strategy": "steer" });
    let unfit = call(&router, "POST", "/threads/worker:a/turns", body).await;
    assert_eq!(unfit.status, StatusCode::UNPROCESSABLE_ENTITY, "{unfit:?}");
    assert!(unfit.error().contains("only messages of the user"));
    worker.go.notify_one();
    says(
        &router,
        &["hello", "You said hello.", "work", "You said work."],
    )
    .await;
}

#[state]
struct Slow {
    #[key(input)]
    text: String,
    #[key(append)]
    said: Vec<String>,
}

#[node(Slow)]
async fn wait(text: &str, gate: Managed<Gate>) -> SlowSaid {
    gate.begun.notify_one();
    gate.go.notified().await;
    SlowSaid(vec![text.to_string()])
}

#[derive(Clone, Default)]
struct Gate {
    begun: Arc<Notify>,
    go: Arc<Notify>,
}

flow!(Wait(Slow) { wait });

#[tokio::test]
async fn f43_a_flow_that_is_no_agent_queues_its_inputs() {
    let gate = Gate::default();
    let flow = ServedFlow::new(Wait::new().manage(gate.clone()));
    let server = Server::builder(&InMemoryStore::new())
        .serve_flow(flow.multitask(MultitaskStrategy::Enqueue))
        .threads(TriggerAuth::None);
    let router = server.build().expect("the settings are right").router();
    let body = json!({ "id": "a", "input": { "text": "one" } });
    call(&router, "POST", "/flows/Wait/threads", body).await;
    gate.begun.notified().await;
    let mut body = json!({ "input": { "text": "two" } });
    let queued = call(&router, "POST", "/threads/Wait:a/turns", body.clone()).await;
    assert_eq!(queued.json()["message"], "enqueued");
    body["multitask_strategy"] = "steer".into();
    let refused = call(&router, "POST", "/threads/Wait:a/turns", body).await;
    assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
    gate.go.notify_one();
    gate.begun.notified().await;
    gate.go.notify_one();
    loop {
        let view = get(&router, "/threads/Wait:a").await.json();
        if view["state"]["said"] == json!(["one", "two"]) && view["status"] == "finished" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[test]
fn f43_only_agents_are_steered() {
    let flow = ServedFlow::new(Wait::new().manage(Gate::default()));
    let server = Server::builder(&InMemoryStore::new());
    let server = server.serve_flow(flow.multitask(MultitaskStrategy::Steer));
    let errors: SetupErrors = server.build().expect_err("it is no agent");
    assert!(
        errors.to_string().contains("`Wait` is no agent"),
        "{errors}"
    );
}
