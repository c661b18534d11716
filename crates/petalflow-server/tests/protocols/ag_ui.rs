//! AG-UI without a client of others.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use petalflow::checkpoint::InMemoryStore;
use petalflow::tool::{FuncTool, ToolContext};
use petalflow_agent::Agent;
use petalflow_llm::{Reply, ScriptedModel};
use petalflow_server::Access;
use serde_json::{Value, json};

use super::guide::{Guide, builder, guide};
use crate::kit::{Response, call, send};

fn served(agent: &Agent) -> Router {
    let server = builder(&InMemoryStore::new(), agent).ag_ui().build();
    server.expect("the settings are right").router()
}

async fn post(router: &Router, input: Value) -> Response {
    call(router, "POST", "/ag-ui/guide", input).await
}

/// The events of a run.
pub(crate) async fn run(router: &Router, input: Value) -> Vec<Value> {
    let response = post(router, input).await;
    assert_eq!(response.status, StatusCode::OK, "{response:?}");
    let data = response
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("data:"));
    data.map(|data| serde_json::from_str(data).expect("JSON"))
        .collect()
}

pub(crate) fn says(run: &str, messages: &[(&str, &str)]) -> Value {
    let messages: Vec<Value> = messages
        .iter()
        .map(|(id, text)| json!({ "id": id, "role": "user", "content": text }))
        .collect();
    json!({ "threadId": "t", "runId": run, "messages": messages, "state": {} })
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .filter_map(|event| event["type"].as_str())
        .collect()
}

pub(crate) fn text(events: &[Value]) -> String {
    let pieces = events
        .iter()
        .filter(|event| event["type"] == "TEXT_MESSAGE_CONTENT");
    pieces.filter_map(|event| event["delta"].as_str()).collect()
}

pub(crate) fn outcome(events: &[Value]) -> &Value {
    let last = events.last().expect("there is an event");
    assert_eq!(last["type"], "RUN_FINISHED", "{last}");
    &last["outcome"]
}

/// The input that answers an interrupt.
pub(crate) fn resume(run: &str, interrupt: &Value, payload: Value) -> Value {
    let entry = json!({ "interruptId": interrupt, "status": "resolved", "payload": payload });
    json!({ "threadId": "t", "runId": run, "messages": [], "resume": [entry] })
}

#[tokio::test]
async fn a_run_has_steps_messages_and_calls() {
    let Guide { agent, .. } = guide();
    let router = served(&agent);
    let events = run(&router, says("r1", &[("m1", "look")])).await;
    let shown: Vec<&str> = kinds(&events)
        .into_iter()
        .filter(|kind| *kind != "TEXT_MESSAGE_CONTENT")
        .collect();
    assert_eq!(
        shown,
        [
            "RUN_STARTED",
            "STATE_SNAPSHOT",
            "STEP_STARTED",
            "TOOL_CALL_START",
            "TOOL_CALL_ARGS",
            "TOOL_CALL_END",
            "TOOL_CALL_RESULT",
            "TEXT_MESSAGE_START",
            "TEXT_MESSAGE_END",
            "STEP_FINISHED",
            "RUN_FINISHED"
        ]
    );
    assert_eq!(text(&events), "I got a river.");
    assert_eq!(outcome(&events)["type"], "success");
}

#[tokio::test]
async fn a_repeated_run_does_not_run_twice_and_known_messages_are_not_added() {
    let guide = guide();
    let router = served(&guide.agent);
    let first = run(&router, says("r1", &[("m1", "hello")])).await;
    let again = run(&router, says("r1", &[("m1", "hello")])).await;
    assert_eq!(
        (text(&again), guide.model.requests().len()),
        (text(&first), 1)
    );
    let ids = |events: &[Value]| events[3]["messageId"].clone();
    assert_eq!(ids(&again), ids(&first));
    let next = run(&router, says("r2", &[("m1", "hello"), ("m2", "count")])).await;
    assert_eq!(text(&next), "3");
    let nothing = post(&router, says("r3", &[("m1", "hello"), ("m2", "count")])).await;
    assert_eq!(nothing.status, 422, "{nothing:?}");
    let other = post(&router, says("r2", &[("m3", "another")])).await;
    assert!(
        other.error().contains("another request had the id"),
        "{other:?}"
    );
}

#[tokio::test]
async fn a_confirmation_is_an_interrupt_that_resume_answers() {
    let guide = guide();
    let router = served(&guide.agent);
    let asked = run(&router, says("r1", &[("m1", "wipe")])).await;
    let interrupts = outcome(&asked)["interrupts"]
        .as_array()
        .expect("it is one")
        .clone();
    let [interrupt] = &interrupts[..] else {
        panic!("{interrupts:?}")
    };
    assert_eq!(interrupt["message"], "Delete all files?");
    assert_eq!(interrupt["responseSchema"]["required"], json!(["approve"]));
    let call = asked
        .iter()
        .find(|it| it["type"] == "TOOL_CALL_START")
        .expect("a call");
    assert_eq!(interrupt["toolCallId"], call["toolCallId"]);

    // A message does not pass over it, and a client that comes later sees it.
    let past = post(&router, says("r2", &[("m1", "wipe"), ("m2", "hello")])).await;
    assert!(past.error().contains("waits for answers"), "{past:?}");
    let shown = run(&router, says("r3", &[])).await;
    assert_eq!(outcome(&shown)["interrupts"][0]["id"], interrupt["id"]);
    assert_eq!(
        shown[2]["messages"][0],
        json!({ "id": "m1", "role": "user", "content": "wipe" })
    );

    let resume = |status: &str, payload: Value| {
        let entry = json!({ "interruptId": interrupt["id"], "status": status, "payload": payload });
        json!({ "threadId": "t", "runId": format!("r-{status}"), "messages": [], "resume": [entry] })
    };
    let unclear = post(&router, resume("resolved", json!("perhaps"))).await;
    assert!(unclear.error().contains("no decision"), "{unclear:?}");
    let done = run(&router, resume("resolved", json!({ "approve": true }))).await;
    assert_eq!(text(&done), "I got gone.");
    assert_eq!(outcome(&done)["type"], "success");
    let late = post(&router, resume("cancelled", Value::Null)).await;
    assert!(late.error().contains("waits for nothing"), "{late:?}");
}

#[tokio::test]
async fn a_tool_of_the_client_ends_the_run_until_its_result_comes() {
    let guide = guide();
    let router = served(&guide.agent);
    let tools = json!([{ "name": "locate", "description": "Where the person is.", "parameters": { "type": "object" } }]);
    let mut input = says("r1", &[("m1", "where")]);
    input["tools"] = tools.clone();
    let called = run(&router, input).await;
    let id = outcome(&called)["pendingToolCallIds"][0].clone();
    assert!(id.is_string(), "{called:?}");
    let mut input = says("r2", &[("m1", "where")]);
    input["tools"] = tools;
    let messages = input["messages"].as_array_mut().expect("a list");
    messages.push(json!({ "id": "a", "role": "assistant", "toolCalls": [
        { "id": id, "type": "function", "function": { "name": "locate", "arguments": "{}" } },
    ] }));
    messages.push(json!({ "id": "x", "role": "tool", "toolCallId": id, "content": "Kyoto" }));
    let done = run(&router, input).await;
    assert_eq!(text(&done), "I got Kyoto.");
}

#[tokio::test]
async fn changes_of_the_state_are_differences() {
    let model = ScriptedModel::new([Reply::call("save", json!({})), Reply::from("Saved.")]);
    let save = FuncTool::with_context("save", "Saves.", |_: Value, cx: ToolContext| async move {
        cx.actions().state_delta.insert("saved".into(), json!(1));
        Ok("ok")
    });
    let router = served(&Agent::new(model).tool(save));
    let mut input = says("r1", &[("m1", "hello")]);
    input["state"] = json!({ "flower": "rose" });
    let events = run(&router, input).await;
    let mut state = json!({});
    for event in &events {
        match event["type"].as_str() {
            Some("STATE_SNAPSHOT") => state = event["snapshot"].clone(),
            Some("STATE_DELTA") => {
                let delta: json_patch::Patch =
                    serde_json::from_value(event["delta"].clone()).expect("a patch");
                json_patch::patch(&mut state, &delta).expect("it fits");
            }
            _ => {}
        }
    }
    assert_eq!(state, json!({ "flower": "rose", "saved": 1 }));
}

#[tokio::test]
async fn callers_run_only_on_their_own_threads() {
    let guide = guide();
    let server = builder(&InMemoryStore::new(), &guide.agent)
        .ag_ui()
        .access(|parts| {
            let user = parts.headers.get("x-user").and_then(|it| it.to_str().ok());
            user.map_or(Access::None, |user| Access::label("user", user))
        });
    let router = server.build().expect("the settings are right").router();
    let status = async |user: &str, input: Value| {
        let request = Request::post("/ag-ui/guide").header("x-user", user);
        let request = request.body(Body::from(input.to_string()));
        send(&router, request.expect("a request")).await.status
    };
    assert_eq!(status("ann", says("r1", &[("m1", "hello")])).await, 200);
    // Two callers may choose the same ids: each has a thread of its own.
    for input in [
        says("r1", &[("m1", "hello")]),
        says("r1", &[("m1", "hello")]),
        says("r2", &[("m1", "hello"), ("m2", "more")]),
        says("r3", &[]),
    ] {
        assert_eq!(status("bob", input).await, 200);
    }
    let asked = guide.model.requests();
    let lengths: Vec<usize> = asked.iter().map(|it| it.messages.len()).collect();
    assert_eq!(lengths, [1, 1, 3], "bob's turns follow his own");
}

#[tokio::test]
async fn f42_answers_that_nothing_waits_for_are_conflicts() {
    let router = served(&guide().agent);
    let unknown = resume("r0", &json!("q"), json!({ "approve": true }));
    assert_eq!(post(&router, unknown).await.status, 404);
    run(&router, says("r1", &[("m1", "wipe")])).await;
    let past = post(&router, says("r2", &[("m1", "wipe"), ("m2", "hello")])).await;
    assert_eq!(past.status, StatusCode::CONFLICT, "{past:?}");
    let other = post(&router, resume("r3", &json!("q"), json!(true))).await;
    assert_eq!(other.status, StatusCode::CONFLICT, "{other:?}");
}

#[tokio::test]
async fn failures_are_errors_of_the_run() {
    let guide = guide();
    let router = served(&guide.agent);
    let failed = run(&router, says("r1", &[("m1", "fail")])).await;
    let last = failed.last().expect("there is an event");
    assert_eq!(last["type"], "RUN_ERROR");
    assert!(
        last["message"].to_string().contains("the model is down"),
        "{last}"
    );
    let mut unknown = says("r2", &[]);
    unknown["messages"] = json!([{ "id": "m", "role": "user", "content": [{ "type": "image", "source": { "type": "file", "value": "f" } }] }]);
    unknown["threadId"] = "other".into();
    assert_eq!(post(&router, unknown).await.status, 422);
    let nobody = call(&router, "POST", "/ag-ui/nobody", says("r", &[])).await;
    assert_eq!(nobody.status, 404);
}
