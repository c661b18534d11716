//! Agents whose threads an engine keeps, by the protocols of agents. `petalflow-restate` has the same with several processes.

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::http::request::Parts;
use petalflow::checkpoint::InMemoryStore;
use petalflow::engine::ThreadEngine;
use petalflow_agent::Agent;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::{A2a, Access, FlowKind, ServedFlow, Server, ServerBuilder};
use serde_json::{Value, json};

use super::engine::Engine;
use crate::kit::{call, get, send};
use crate::protocols::{a2a, ag_ui, guide::guide};

fn builder(
    agent: &Agent,
    served: ServedFlow<petalflow_agent::AgentFlow>,
    logs: bool,
) -> ServerBuilder {
    let engine = ThreadEngine::new(agent.launch());
    let engine = if logs { engine.event_log(100) } else { engine };
    Server::builder(&InMemoryStore::new())
        .serve_remote(served.named("guide"), Engine::new(engine))
        .threads(TriggerAuth::None)
        .openai()
        .ag_ui()
        .a2a(A2a::new("https://example.com"))
}

fn served(agent: &Agent) -> Router {
    let server = builder(agent, ServedFlow::agent(agent), true).build();
    server.expect("its settings are right").router()
}

#[tokio::test]
async fn an_agent_is_a_model_of_openais_interface() {
    let router = served(&guide().agent);
    let chat = json!({ "model": "guide", "messages": [{ "role": "user", "content": "look" }] });
    let chat = call(&router, "POST", "/v1/chat/completions", chat).await;
    assert_eq!(
        chat.json()["choices"][0]["message"]["content"],
        "I got a river."
    );

    let respond = async |input: &str, previous: Option<&Value>| {
        let body = json!({ "model": "guide", "input": input, "previous_response_id": previous });
        call(&router, "POST", "/v1/responses", body).await.json()
    };
    let first = respond("hello", None).await;
    let second = respond("count", Some(&first["id"])).await;
    let text = |response: &Value| response["output"][0]["content"][0]["text"].clone();
    assert_eq!(
        (text(&first), text(&second)),
        (json!("You said hello."), json!("3"))
    );
    // The first one is continued again, in a thread of its own.
    let branch = respond("count", Some(&first["id"])).await;
    assert_eq!(text(&branch), "3", "{branch}");
    let path = format!("/v1/responses/{}", second["id"].as_str().expect("an id"));
    assert_eq!(get(&router, &path).await.json()["output"], second["output"]);
}

#[tokio::test]
async fn a_run_of_ag_ui_is_repeated_from_the_log() {
    let guide = guide();
    let router = served(&guide.agent);
    let first = ag_ui::run(&router, ag_ui::says("r1", &[("m1", "look")])).await;
    let again = ag_ui::run(&router, ag_ui::says("r1", &[("m1", "look")])).await;
    assert_eq!(ag_ui::text(&first), "I got a river.");
    assert_eq!(ag_ui::text(&again), ag_ui::text(&first));
    assert_eq!(guide.model.requests().len(), 2);
}

#[tokio::test]
async fn a_task_of_a2a_waits_for_a_decision_and_is_listed() {
    let router = served(&guide().agent);
    let task = a2a::task(&router, a2a::says("m1", "wipe")).await;
    assert_eq!(a2a::state(&task), "TASK_STATE_INPUT_REQUIRED");
    let answer = json!({ "messageId": "m2", "taskId": task["id"], "role": "ROLE_USER", "parts": [{ "text": "yes" }] });
    let done = a2a::task(&router, answer).await;
    assert_eq!(
        (a2a::state(&done), &*a2a::answer(&done)),
        ("TASK_STATE_COMPLETED", "I got gone.")
    );
    let listed = a2a::rpc(&router, "ListTasks", json!({})).await;
    assert_eq!(listed["result"]["totalSize"], 1);
}

#[tokio::test]
async fn callers_see_their_own_responses() {
    let agent = guide().agent;
    let user = |request: &Parts| match request.headers.get("x-user") {
        Some(user) => Access::label("user", user.to_str().expect("a name")),
        None => Access::None,
    };
    let server = builder(&agent, ServedFlow::agent(&agent), true).access(user);
    let router = server.build().expect("its settings are right").router();
    let request = |user: &str, method: &str, path: &str, body: &Value| {
        let request = Request::builder().method(method).uri(path);
        let request = request.header("content-type", "application/json");
        let request = request.header("x-user", user);
        send(
            &router,
            request
                .body(Body::from(body.to_string()))
                .expect("a request"),
        )
    };
    let body = json!({ "model": "guide", "input": "hello" });
    let response = request("ann", "POST", "/v1/responses", &body).await.json();
    let path = format!("/v1/responses/{}", response["id"].as_str().expect("an id"));
    for (user, status) in [("ann", 200), ("bob", 404)] {
        let found = request(user, "GET", &path, &Value::Null).await;
        assert_eq!(found.status, status, "{user}");
    }
    let next =
        json!({ "model": "guide", "input": "hello", "previous_response_id": response["id"] });
    let refused = request("bob", "POST", "/v1/responses", &next).await;
    assert_eq!(refused.status, 400, "{refused:?}");
}

#[tokio::test]
async fn an_agent_without_a_log_is_refused_unless_it_is_a_plain_flow() {
    let agent = guide().agent;
    let errors = builder(&agent, ServedFlow::agent(&agent), false).build();
    let errors = errors.expect_err("it has no log").to_string();
    assert!(
        errors.contains("cannot serve `guide`: the engine that keeps its threads logs no events"),
        "{errors}"
    );
    let plain = ServedFlow::agent(&agent).kind(FlowKind::Flow);
    let server = builder(&agent, plain, false).build().expect("it is plain");
    let models = get(&server.router(), "/v1/models").await.json();
    assert_eq!(models["data"], json!([]));
}
