//! `HumanNode`, rows P169 to P175.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use petalflow::checkpoint::InMemoryStore;
use petalflow::interrupt::InterruptKind;
use petalflow::prelude::*;
use petalflow_documents::kinds::{
    AutoHandler, ChannelHandler, FuncHandler, HumanConfig, HumanNode, HumanQuestion, HumanRequest,
    HumanResponse, QueuedHandler, RequestType, ThreadHandler,
};
use petalflow_documents::{Envelope, Trace};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::{run, settings, settings_error, var, vars};

fn human(config: Value) -> HumanNode {
    HumanNode::new(settings(config)).expect("they are settings")
}

/// A handler that never answers.
fn pending_handler() -> FuncHandler {
    FuncHandler::new(|_| std::future::pending())
}

/// A handler that approves, and stores the requests.
fn recording() -> (FuncHandler, Arc<Mutex<Vec<HumanRequest>>>) {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let recorded = Arc::clone(&requests);
    let handler = FuncHandler::new(move |request| {
        recorded.lock().expect("no test panics here").push(request);
        async {
            Ok(HumanResponse {
                approved: true,
                ..HumanResponse::default()
            })
        }
    });
    (handler, requests)
}

#[tokio::test]
async fn p169_types_and_the_missing_handler() {
    for (name, mode) in [
        ("approval", RequestType::Approval),
        ("choice", RequestType::Choice),
        ("edit", RequestType::Edit),
        ("input", RequestType::Input),
        ("review", RequestType::Review),
    ] {
        let config: HumanConfig = settings(json!({ "mode": name }));
        assert_eq!(config.mode, mode);
    }
    assert_eq!(HumanConfig::default().mode, RequestType::Approval);
    assert!(settings_error::<HumanConfig>(json!({ "mode": "guess" })).contains("guess"));
    let error = run(human(json!({})), Envelope::new())
        .await
        .expect_err("no handler");
    assert_eq!(
        error,
        "human node `n`: it has no handler: set one with `.handler(..)`"
    );
    let failing = FuncHandler::new(|_| async { Err("offline".into()) });
    let error = run(human(json!({})).handler(failing), Envelope::new())
        .await
        .expect_err("it fails");
    assert_eq!(error, "human node `n`: the handler failed: offline");
}

#[tokio::test]
async fn p170_an_approval_has_a_variable_of_its_own() {
    for (handler, approved) in [
        (AutoHandler::approve(), true),
        (AutoHandler::reject(), false),
    ] {
        let node = human(json!({ "output_var": "r" })).handler(handler.clone());
        let envelope = run(node, Envelope::new()).await.expect("it answers");
        assert_eq!(var(&envelope, "r_approved"), json!(approved));
        assert_eq!(var(&envelope, "r")["approved"], json!(approved));
        let envelope = run(human(json!({})).handler(handler.clone()), Envelope::new()).await;
        assert_eq!(
            envelope.expect("it answers").vars,
            vars(json!({ "_approved": approved })).vars
        );
        let node = human(json!({ "mode": "review", "output_var": "r" })).handler(handler);
        let envelope = run(node, Envelope::new()).await.expect("it answers");
        assert_eq!(envelope.get_var("r_approved"), None);
    }
}

#[tokio::test]
async fn p171_an_edit_changes_variables() {
    let handler = AutoHandler::approve().data(json!({ "title": "new", "more": [1] }));
    let node = human(json!({ "mode": "edit" })).handler(handler.clone());
    let envelope = run(node, vars(json!({ "title": "old", "kept": 1 })))
        .await
        .expect("it answers");
    assert_eq!(
        Value::Object(envelope.vars),
        json!({ "title": "new", "more": [1], "kept": 1 })
    );
    let node = human(json!({ "mode": "review" })).handler(handler);
    let envelope = run(node, vars(json!({ "title": "old" })))
        .await
        .expect("it answers");
    assert_eq!(Value::Object(envelope.vars), json!({ "title": "old" }));
}

#[tokio::test(start_paused = true)]
async fn p172_timeouts() {
    let config = |action: &str| json!({ "output_var": "r", "timeout": "5s", "on_timeout": action, "default_option": "yes" });
    let begun = Instant::now();
    let error = run(
        human(json!({ "timeout": "5s" })).handler(pending_handler()),
        Envelope::new(),
    )
    .await;
    assert_eq!(
        error.expect_err("it is late"),
        "human node `n`: nobody answered within 5s"
    );
    assert_eq!(begun.elapsed(), Duration::from_secs(5));

    let envelope = run(
        human(config("default")).handler(pending_handler()),
        Envelope::new(),
    )
    .await;
    let response = var(&envelope.expect("it goes on"), "r");
    assert_eq!(
        (&response["choice"], &response["approved"]),
        (&json!("yes"), &json!(true))
    );
    assert_eq!(
        response["meta"],
        json!({ "timeout": true, "default": true })
    );
    for (option, approved) in [("approve", true), ("no", false), ("Yes", false)] {
        let mut config = config("default");
        config["default_option"] = json!(option);
        let envelope = run(human(config).handler(pending_handler()), Envelope::new())
            .await
            .expect("it goes on");
        assert_eq!(var(&envelope, "r")["approved"], json!(approved), "{option}");
    }
    let envelope = run(
        human(config("skip")).handler(pending_handler()),
        Envelope::new(),
    )
    .await;
    let envelope = envelope.expect("it goes on");
    assert_eq!(
        var(&envelope, "r")["meta"],
        json!({ "timeout": true, "skipped": true })
    );
    assert_eq!(envelope.get_var("r_approved"), None);
    let error = HumanNode::new(settings(json!({ "on_timeout": "default" })));
    assert_eq!(error.expect_err("no option").field, "default_option");
    let choice = json!({ "mode": "choice", "options": [{ "id": "a" }], "default_option": "b" });
    let error = HumanNode::new(settings(choice));
    assert_eq!(error.expect_err("unknown option").field, "default_option");
    let error = HumanNode::new(settings(json!({ "mode": "choice" })));
    assert_eq!(error.expect_err("no options").field, "options");
    let slow = AutoHandler::approve().delay(Duration::from_secs(4));
    let envelope = run(human(config("fail")).handler(slow), Envelope::new()).await;
    assert_eq!(
        var(&envelope.expect("it is in time"), "r_approved"),
        json!(true)
    );
}

#[tokio::test(start_paused = true)]
async fn p173_a_default_approves_too() {
    // Upstream the variable is not set after a timeout.
    for (option, approved) in [("approve", true), ("reject", false)] {
        let config = json!({ "output_var": "r", "timeout": 1, "on_timeout": "default", "default_option": option });
        let envelope = run(human(config).handler(pending_handler()), Envelope::new())
            .await
            .expect("it goes on");
        assert_eq!(var(&envelope, "r_approved"), json!(approved));
    }
}

#[tokio::test]
async fn p174_the_request_has_the_selected_variables() {
    let (handler, requests) = recording();
    let node = human(json!({
        "mode": "choice",
        "prompt": "not used",
        "prompt_template": "{{.vars.name}} {{.input.q}} {{.trace.run_id}}",
        "input_vars": ["name", "missing"],
        "options": [{ "id": "a", "label": "A" }],
        "timeout": "1m",
    }));
    let node = node.handler(handler.clone());
    let mut input = vars(json!({ "name": "ann", "secret": 1 })).with_input(json!({ "q": 7 }));
    input.trace = Trace {
        run_id: "run-1".into(),
        ..Trace::now()
    };
    run(node.clone(), input.clone()).await.expect("it answers");
    run(node, input.clone()).await.expect("it answers");
    run(human(json!({ "prompt": "Well?" })).handler(handler), input)
        .await
        .expect("it answers");
    let requests = requests.lock().expect("no test panics here");
    let [first, second, plain] = &requests[..] else {
        panic!("three requests")
    };
    assert_eq!(first.prompt, "ann 7 run-1");
    assert_eq!(Value::Object(first.data.clone()), json!({ "name": "ann" }));
    assert_eq!((first.run_id.as_str(), first.node.as_str()), ("run-1", "n"));
    assert_eq!((first.kind, first.options.len()), (RequestType::Choice, 1));
    assert_ne!(first.id, second.id);
    assert_eq!(plain.prompt, "Well?");
    assert_eq!(
        Value::Object(plain.data.clone()),
        json!({ "name": "ann", "secret": 1 })
    );
    let json = serde_json::to_value(first).expect("it is JSON");
    assert_eq!(
        (&json["type"], &json["timeout"]),
        (&json!("choice"), &json!("1m"))
    );
}

#[tokio::test]
async fn a_prompt_names_variables_with_and_without_vars() {
    let prompt = async |template: &str, values: Value| {
        let (handler, requests) = recording();
        let node = human(json!({ "prompt_template": template })).handler(handler);
        run(node, vars(values).with_input("the input")).await?;
        let requests = requests.lock().expect("no test panics here");
        Ok::<_, String>(requests[0].prompt.clone())
    };
    let both = prompt("{{.name}} {{.vars.name}}", json!({ "name": "ann" })).await;
    assert_eq!(both.as_deref(), Ok("ann ann"));
    // A variable does not hide a part of the envelope.
    let part = prompt("{{.input}} {{.vars.input}}", json!({ "input": "mine" })).await;
    assert_eq!(part.as_deref(), Ok("the input mine"));
    let error = prompt("{{.nmae}}", json!({ "name": "ann" })).await;
    let error = error.expect_err("it has no value");
    assert!(error.ends_with("`nmae` has no value"), "{error}");
}

/// Waits until a request is open.
async fn wait_for_request(queue: &QueuedHandler) -> String {
    loop {
        if let Some(id) = queue.pending().first() {
            return id.clone();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn p175_queued_requests_are_answered_once() {
    let queue = QueuedHandler::new();
    let node = human(json!({ "output_var": "r" })).handler(queue.clone());
    let answer = async {
        let id = wait_for_request(&queue).await;
        assert_eq!(queue.get(&id).expect("it is open").node, "n");
        let response = HumanResponse {
            approved: true,
            ..HumanResponse::default()
        };
        queue.respond(&id, response.clone()).expect("it is open");
        let twice = queue
            .respond(&id, response.clone())
            .expect_err("it has a response");
        assert!(
            twice.to_string().contains("already has a response"),
            "{twice}"
        );
        let unknown = queue
            .respond("unknown", response)
            .expect_err("no such request");
        assert!(
            unknown.to_string().contains("no open request `unknown`"),
            "{unknown}"
        );
        id
    };
    let (envelope, id) = tokio::join!(run(node, Envelope::new()), answer);
    let response = var(&envelope.expect("it answers"), "r");
    assert_eq!(response["request_id"], json!(id));
    assert!(
        response["responded_at"]
            .as_str()
            .is_some_and(|time| time.ends_with('Z'))
    );
    assert!(queue.pending().is_empty());
}

#[tokio::test(start_paused = true)]
async fn p175_a_request_closes_when_the_node_does_not_wait_any_more() {
    let queue = QueuedHandler::new();
    let node = human(json!({ "timeout": 1 })).handler(queue.clone());
    run(node, Envelope::new()).await.expect_err("it is late");
    assert!(queue.pending().is_empty());
}

#[tokio::test]
async fn p175_a_channel_carries_the_requests() {
    let (handler, mut requests) = ChannelHandler::new(1);
    let node = human(json!({ "prompt": "Well?", "output_var": "r" })).handler(handler.clone());
    let answer = async {
        let request = requests.recv().await.expect("it asks");
        assert_eq!(request.prompt, "Well?");
        let response = HumanResponse {
            request_id: request.id,
            choice: "b".into(),
            ..HumanResponse::default()
        };
        handler.respond(response.clone()).expect("it is open");
        assert!(handler.respond(response).is_err());
    };
    let (envelope, ()) = tokio::join!(run(node, Envelope::new()), answer);
    assert_eq!(
        var(&envelope.expect("it answers"), "r")["choice"],
        json!("b")
    );
    let (handler, requests) = ChannelHandler::new(1);
    drop(requests);
    let error = run(human(json!({})).handler(handler), Envelope::new())
        .await
        .expect_err("nobody is there");
    assert!(error.contains("nobody receives the requests"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn p175_automatic_answers() {
    let begun = Instant::now();
    let handler = AutoHandler::reject()
        .delay(Duration::from_secs(3))
        .notes("no");
    let node = human(json!({ "output_var": "r" })).handler(handler);
    let envelope = run(node, Envelope::new()).await.expect("it answers");
    let response = var(&envelope, "r");
    assert_eq!(begun.elapsed(), Duration::from_secs(3));
    assert_eq!(
        [
            &response["choice"],
            &response["responded_by"],
            &response["notes"]
        ],
        [&json!("reject"), &json!("auto"), &json!("no")]
    );
    let node = human(json!({ "output_var": "r" })).handler(AutoHandler::approve());
    let envelope = run(node, Envelope::new()).await.expect("it answers");
    assert_eq!(var(&envelope, "r")["choice"], json!("approve"));
}

#[tokio::test]
async fn a_thread_waits_for_the_answer() {
    let node = human(json!({ "prompt": "Publish?", "output_var": "r" })).handler(ThreadHandler);
    let flow = Graph::<Envelope>::builder("review")
        .node_as("n", node)
        .build()
        .expect("it is a graph");
    let thread = flow.store(&InMemoryStore::new()).thread("t");
    let outcome = thread.run(Envelope::new()).await.expect("it stops");
    let interrupts = outcome.interrupts();
    let [interrupt] = interrupts else {
        panic!("one question: {interrupts:?}")
    };
    let InterruptKind::Ask { question, .. } = &interrupt.kind else {
        panic!("a question")
    };
    let question = serde_json::to_value(question).expect("it is JSON");
    assert_eq!(question["prompt"], json!("Publish?"));
    let response = HumanResponse {
        approved: true,
        responded_by: "ann".into(),
        ..HumanResponse::default()
    };
    let answer = interrupt
        .answer::<HumanQuestion>(Some(response))
        .expect("it is the question");
    let outcome = thread.resume(answer).await.expect("it resumes");
    let envelope = outcome.into_finished().expect("it ends");
    assert_eq!(var(&envelope, "r_approved"), json!(true));
    let response = var(&envelope, "r");
    assert_eq!(response["responded_by"], json!("ann"));
    assert_eq!(response["request_id"], question["id"]);
}
