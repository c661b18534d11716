//! Who may call the tools, and how many.

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{Request, StatusCode};
use petalflow_mcp::McpClient;
use petalflow_server::{Access, Limits};
use petalflow_test_support::assert_contains;
use serde_json::{Value, json};

use super::kit::{Served, Slow, builder, call, try_call};
use crate::kit::{Response, send};

fn user(request: &Parts) -> Access {
    let user = request.headers.get("x-user");
    match user.and_then(|user| user.to_str().ok()) {
        Some(user) => Access::label("user", user),
        None => Access::None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_callers_have_the_same_access_as_at_other_addresses() {
    let served = Served::start(builder(&Slow::default()).access(user)).await;
    let as_user = |user: &str| {
        let url = format!("{}/mcp", served.url);
        McpClient::http(url, [("x-token", "secret"), ("x-user", user)])
    };
    let (ann, bob) = (as_user("ann"), as_user("bob"));
    let waiting = call(&ann, "refunds", json!({ "cents": 7 })).await;
    let answer = json!({
        "thread": waiting["thread"],
        "question": waiting["waits"][0]["id"],
        "answer": { "answer": { "pays": true } },
    });
    let refused = try_call(&bob, "answer", answer.clone()).await;
    assert_contains(
        &refused.expect_err("it is the thread of ann").to_string(),
        "there is no such thread",
    );
    let done = call(&ann, "answer", answer).await;
    assert_eq!(done["status"], "finished");
    // Nobody: no token, a wrong one, no user.
    let url = format!("{}/mcp", served.url);
    for headers in [
        [("x-user", "ann"), ("accept-language", "en")],
        [("x-user", "ann"), ("authorization", "Bearer wrong")],
        [("x-token", "secret"), ("accept-language", "en")],
    ] {
        let nobody = McpClient::http(url.clone(), headers);
        assert!(nobody.tools().await.is_err(), "{headers:?}");
    }
}

/// Sends a message to the address, as a client of the newest version of the protocol does: without a session.
async fn post(served: &Served, method: &str, mut params: Value) -> Response {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    });
    let name = params["name"].as_str().unwrap_or_default().to_string();
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = Request::post("/mcp")
        .header("host", "localhost")
        .header("x-token", "secret")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method);
    let request = if name.is_empty() {
        request
    } else {
        request.header("mcp-name", name)
    };
    let body = Body::from(message.to_string());
    send(
        &served.server.router(),
        request.body(body).expect("a request"),
    )
    .await
}

/// The result in the only message of a stream.
fn result(response: &Response) -> Value {
    assert_eq!(response.status, StatusCode::OK, "{response:?}");
    let data = response
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("data:"));
    let mut messages = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let mut message = messages
        .find(|message| message.get("result").is_some())
        .unwrap_or_else(|| panic!("{response:?}"));
    message["result"].take()
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_without_sessions_a_client_asks_and_calls_again() {
    let served = Served::start(builder(&Slow::default())).await;
    let listed = result(&post(&served, "tools/list", json!({})).await);
    let tools = listed["tools"].as_array().expect("a list");
    let refunds = tools.iter().find(|tool| tool["name"] == "refunds");
    let output = &refunds.expect("it is there")["outputSchema"];
    assert_eq!(output["required"], json!(["thread", "status"]));
    let state = &output["properties"]["state"]["properties"];
    assert_eq!(state["account"], json!({ "type": "null" }));
    assert_eq!(state["paid"]["type"], "boolean");

    let arguments = json!({ "name": "refunds", "arguments": { "cents": 7 } });
    let asked = result(&post(&served, "tools/call", arguments.clone()).await);
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let requests = asked["inputRequests"].as_object().expect("requests");
    let (question, request) = requests.iter().next().expect("one");
    let schema = &request["params"]["requestedSchema"];
    assert_eq!(schema["properties"]["pays"]["type"], "boolean");
    let mut again = arguments;
    again["requestState"] = asked["requestState"].clone();
    again["inputResponses"] =
        json!({ question.as_str(): { "action": "accept", "content": { "pays": true } } });
    let done = result(&post(&served, "tools/call", again.clone()).await);
    let done = &done["structuredContent"];
    assert_eq!(
        (&done["status"], &done["state"]["paid"]),
        (&json!("finished"), &json!(true))
    );
    assert_eq!(done["thread"], asked["requestState"]);
    // What a client sends back is not trusted.
    again["requestState"] = "helper:none".into();
    let refused = result(&post(&served, "tools/call", again).await);
    assert_eq!(refused["isError"], true, "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn f43_sessions_and_bodies_are_limited() {
    let limits = Limits {
        max_streams: 1,
        max_input_bytes: 400,
        ..Limits::default()
    };
    let served = Served::start(builder(&Slow::default()).limits(limits)).await;
    let first = served.client();
    assert!(!first.tools().await.expect("a session is free").is_empty());
    let second = served.client();
    assert!(second.tools().await.is_err(), "no session is free");
    let large = json!({ "name": "helper", "arguments": { "text": "x".repeat(500) } });
    let refused = post(&served, "tools/call", large).await;
    assert_eq!(refused.status, StatusCode::PAYLOAD_TOO_LARGE, "{refused:?}");
    let unknown = post(
        &served,
        "tools/call",
        json!({ "name": "none", "arguments": {} }),
    )
    .await;
    assert_contains(
        &unknown.text,
        "unknown tool `none`; there are `refunds`, `DoWork`, `helper`, `answer`",
    );
}
