//! Responses.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use petalflow::tool::FuncTool;
use petalflow_agent::Agent;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_llm::{Reply, ScriptedModel};
use petalflow_server::Access;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::agents::{builder, guide, open, post, post_with, sse};
use crate::kit::{Response, call, get};

const RESPONSES: &str = "/v1/responses";

/// The function that the client runs.
fn locate() -> Value {
    json!({ "type": "function", "name": "locate", "description": "Where the person is.",
        "parameters": { "type": "object", "properties": { "precise": { "type": "boolean" } } } })
}

async fn respond(router: &Router, body: Value) -> Value {
    let response = post(router, RESPONSES, body).await;
    assert_eq!(response.status, StatusCode::OK, "{response:?}");
    response.json()
}

async fn refused(router: &Router, body: Value) -> (u16, String) {
    let response = post(router, RESPONSES, body).await;
    let message = response.json()["error"]["message"]
        .as_str()
        .map(String::from);
    (
        response.status.as_u16(),
        message.unwrap_or_else(|| panic!("{response:?}")),
    )
}

fn text(response: &Value) -> &str {
    let message = response["output"].as_array().into_iter().flatten();
    let mut message = message.filter(|item| item["type"] == "message");
    let message = message
        .next()
        .unwrap_or_else(|| panic!("no message: {response}"));
    message["content"][0]["text"].as_str().unwrap()
}

fn events(response: &Response) -> Vec<Value> {
    let data = sse(response);
    data.iter()
        .map(|event| serde_json::from_str(event).unwrap())
        .collect()
}

#[tokio::test]
async fn a_response_is_given_and_retrieved() {
    let router = open(&guide().0);
    let body = json!({ "model": "guide", "input": "hi", "metadata": { "shop": "kyoto" } });
    let response = respond(&router, body).await;
    assert_eq!(response["status"], "completed");
    assert_eq!(text(&response), "Good morning.");
    assert_eq!(
        response["usage"]["input_tokens_details"]["cached_tokens"],
        3
    );
    assert_eq!(response["metadata"], json!({ "shop": "kyoto" }));
    let path = format!("{RESPONSES}/{}", response["id"].as_str().unwrap());
    let mut again = get(&router, &path).await.json();
    again["background"] = json!(false);
    again["created_at"] = response["created_at"].clone();
    assert_eq!(again, response);
    let gone = call(&router, "DELETE", &path, Value::Null).await.json();
    assert_eq!(gone["deleted"], true);
    assert_eq!(get(&router, &path).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_response_is_streamed_with_numbers() {
    let router = open(&guide().0);
    let body = json!({ "model": "guide", "input": "think", "stream": true });
    let response = post(&router, RESPONSES, body).await;
    let all = events(&response);
    let kinds: Vec<&str> = all
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.reasoning_summary_part.added",
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_text.done",
            "response.reasoning_summary_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    let numbers: Vec<u64> = all
        .iter()
        .map(|event| event["sequence_number"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (0..15).collect::<Vec<u64>>());
    let done = &all[14]["response"];
    assert_eq!(done["output"][0]["summary"][0]["text"], "It is a greeting.");
    assert_eq!(text(done), "Hello.");
    // A client that lost the connection gets the rest.
    let path = format!(
        "{RESPONSES}/{}?stream=true&starting_after=12",
        done["id"].as_str().unwrap()
    );
    let rest = events(&get(&router, &path).await);
    assert_eq!(rest[0], all[13]);
    assert_eq!(rest[1]["type"], "response.completed");
}

#[tokio::test]
async fn a_response_continues_the_thread_or_branches_off() {
    let (agent, model) = guide();
    let router = open(&agent);
    let first = respond(&router, json!({ "model": "guide", "input": "hi" })).await;
    let more = json!({ "model": "guide", "input": "history", "previous_response_id": first["id"] });
    let second = respond(&router, more.clone()).await;
    assert_eq!(text(&second), "3 messages");
    assert_eq!(second["previous_response_id"], first["id"]);
    let path = format!("{RESPONSES}/{}", second["id"].as_str().unwrap());
    assert_eq!(
        get(&router, &path).await.json()["previous_response_id"],
        first["id"]
    );
    let third =
        json!({ "model": "guide", "input": "history", "previous_response_id": second["id"] });
    assert_eq!(text(&respond(&router, third).await), "5 messages");
    // The first response again: the thread has gone on, so the turn is in a thread of its own.
    let branch = respond(&router, more).await;
    assert_eq!(text(&branch), "3 messages");
    let branched =
        json!({ "model": "guide", "input": "history", "previous_response_id": branch["id"] });
    assert_eq!(text(&respond(&router, branched).await), "5 messages");
    assert_eq!(model.requests().len(), 5);
    let path = format!("{RESPONSES}/{}", first["id"].as_str().unwrap());
    assert_eq!(text(&get(&router, &path).await.json()), "Good morning.");
}

#[tokio::test]
async fn the_client_runs_functions_with_and_without_the_earlier_response() {
    let router = open(&guide().0);
    let ask = json!({ "model": "guide", "input": "both", "tools": [locate()], "instructions": "Be brief." });
    for continues in [true, false] {
        let first = respond(&router, ask.clone()).await;
        let call = &first["output"][0];
        assert_eq!(call["type"], "function_call", "{first}");
        let result = json!({ "type": "function_call_output", "call_id": call["call_id"], "output": "Kyoto" });
        let mut next = json!({ "model": "guide", "tools": [locate()] });
        if continues {
            next["input"] = json!([result]);
            next["previous_response_id"] = first["id"].clone();
        } else {
            next["input"] = json!([{ "role": "user", "content": "both" }, call, result]);
        }
        let second = respond(&router, next.clone()).await;
        assert_eq!(text(&second), "I got locate: Kyoto and look: a river.");
        if continues {
            let (status, message) = refused(&router, next).await;
            assert_eq!(status, 409);
            assert!(
                message.contains("its calls have their results"),
                "{message}"
            );
        }
    }
}

#[tokio::test]
async fn a_call_is_approved() {
    let router = open(&guide().0);
    for (approve, expected) in [
        (true, "I got wipe: gone."),
        (
            false,
            "I got wipe: {\"error\":\"Tool execution not confirmed: no\"}.",
        ),
    ] {
        let first = respond(&router, json!({ "model": "guide", "input": "wipe" })).await;
        let request = &first["output"][0];
        assert_eq!(request["type"], "mcp_approval_request");
        assert_eq!(
            (&request["name"], &request["text"]),
            (&json!("wipe"), &json!("Delete all files?"))
        );
        let answer = json!({ "type": "mcp_approval_response", "approval_request_id": request["id"],
            "approve": approve, "reason": "no" });
        let next =
            json!({ "model": "guide", "input": [answer], "previous_response_id": first["id"] });
        assert_eq!(text(&respond(&router, next).await), expected);
    }
}

#[tokio::test]
async fn refusals_cuts_and_failures_have_their_status() {
    let router = open(&guide().0);
    let ask = |input: &str| json!({ "model": "guide", "input": input });
    let cut = respond(&router, ask("long")).await;
    assert_eq!(cut["status"], "incomplete");
    assert_eq!(cut["incomplete_details"]["reason"], "max_output_tokens");
    let failed = respond(&router, ask("fail")).await;
    assert_eq!(failed["status"], "failed");
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("the key of the model is wrong"),
        "{message}"
    );
    let plain = Agent::new(ScriptedModel::new([
        Reply::text("I will not.").with_finish(petalflow_llm::response::FinishReason::Refusal)
    ]));
    let refused = respond(&open(&plain), ask("x")).await;
    assert_eq!(
        refused["output"][0]["content"],
        json!([{ "type": "refusal", "refusal": "I will not." }])
    );
}

#[tokio::test]
async fn a_response_in_the_background_is_cancelled() {
    let begun = Arc::new(Notify::new());
    let tool = {
        let begun = Arc::clone(&begun);
        FuncTool::new("wait", "Waits.", move |_: Value| {
            let begun = Arc::clone(&begun);
            async move {
                begun.notify_one();
                std::future::pending::<petalflow::Result<String>>().await
            }
        })
    };
    let model = ScriptedModel::new([Reply::text("One moment.").and_call("wait", json!({}))]);
    let router = open(&Agent::new(model).tool(tool));
    let body = json!({ "model": "guide", "input": "go", "background": true });
    let response = respond(&router, body).await;
    assert_eq!(response["status"], "in_progress");
    begun.notified().await;
    let path = format!("{RESPONSES}/{}", response["id"].as_str().unwrap());
    let now = get(&router, &path).await.json();
    assert_eq!(
        (&now["status"], text(&now)),
        (&json!("in_progress"), "One moment.")
    );
    let more = json!({ "model": "guide", "input": "x", "previous_response_id": response["id"] });
    assert_eq!(refused(&router, more).await.0, 409);
    let cancelled = call(&router, "POST", &format!("{path}/cancel"), json!({}))
        .await
        .json();
    assert_eq!(cancelled["status"], "cancelled");
    assert_eq!(get(&router, &path).await.json()["status"], "cancelled");
    let again = call(&router, "POST", &format!("{path}/cancel"), json!({}))
        .await
        .json();
    assert_eq!(again["status"], "cancelled");
}

#[tokio::test]
async fn what_is_not_stored_is_deleted() {
    let server = builder(&guide().0)
        .threads(TriggerAuth::None)
        .openai()
        .build()
        .unwrap();
    let router = server.router();
    let body = json!({ "model": "guide", "input": "hi", "store": false });
    let response = respond(&router, body).await;
    assert_eq!(response["store"], false);
    server.drain(std::time::Duration::from_secs(10)).await;
    let path = format!("{RESPONSES}/{}", response["id"].as_str().unwrap());
    assert_eq!(get(&router, &path).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn what_cannot_be_honoured_is_refused() {
    let router = open(&guide().0);
    for (more, expected) in [
        (json!({ "input": [] }), "`input` is empty"),
        (
            json!({ "input": [{ "type": "item_reference", "id": "x" }] }),
            "`input[0]` has the type `item_reference`",
        ),
        (
            json!({ "input": [{ "role": "user", "content": [{ "type": "input_image", "file_id": "f" }] }] }),
            "stores no files",
        ),
        (
            json!({ "tools": [{ "type": "web_search" }] }),
            "`tools[0]` has the type `web_search`",
        ),
        (
            json!({ "conversation": "c" }),
            "the parameter `conversation` is not supported",
        ),
        (
            json!({ "max_tool_calls": 3 }),
            "the parameter `max_tool_calls` is not supported",
        ),
        (
            json!({ "background": true, "store": false }),
            "is stored: leave out `store`",
        ),
        (
            json!({ "text": { "format": { "type": "json_object" } } }),
            "`text.format` is of the type",
        ),
        (
            json!({ "previous_response_id": "resp_x" }),
            "this model has no response `resp_x`",
        ),
    ] {
        let mut body = json!({ "model": "guide", "input": "hi" });
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        let (status, message) = refused(&router, body).await;
        assert_eq!(status, 400, "{more}: {message}");
        assert!(message.contains(expected), "{more}: {message}");
    }
    assert_eq!(
        get(&router, "/v1/responses/resp_x").await.status,
        StatusCode::NOT_FOUND
    );
}

/// The guide's example of `.access` decides the label `user`, which the parameter sets otherwise.
#[tokio::test]
async fn f42_the_parameter_user_has_no_effect_if_the_program_decides_the_user() {
    let builder = builder(&guide().0).threads(TriggerAuth::None).openai();
    let builder = builder.access(|request| match request.headers.get("x-user") {
        Some(user) => Access::label("user", user.to_str().unwrap_or_default()),
        None => Access::None,
    });
    let router = builder.build().unwrap().router();
    let of_ann = [("x-user", "ann")];
    let ask = json!({ "model": "guide", "input": "hi", "user": "customer-1" });
    let answered = post_with(&router, RESPONSES, &of_ann, &ask).await;
    assert_eq!(answered.status, StatusCode::OK, "{answered:?}");
    assert_eq!(answered.json()["user"], "ann");
    let chat = json!({
        "model": "guide", "user": "customer-1", "messages": [{ "role": "user", "content": "hi" }]
    });
    let answered = post_with(&router, "/v1/chat/completions", &of_ann, &chat).await;
    assert_eq!(answered.status, StatusCode::OK, "{answered:?}");
    // A label that the client sets by its name is refused as at each other address.
    let stolen = json!({ "model": "guide", "input": "hi", "metadata": { "user": "bob" } });
    let refused = post_with(&router, RESPONSES, &of_ann, &stolen).await;
    assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{refused:?}");
}

#[tokio::test]
async fn a_caller_sees_its_own_responses() {
    let builder = builder(&guide().0).threads(TriggerAuth::None).openai();
    let builder = builder.access(|request| match request.headers.get("x-user") {
        Some(user) => Access::label("owner", user.to_str().unwrap_or_default()),
        None => Access::None,
    });
    let router = builder.build().unwrap().router();
    let ask = json!({ "model": "guide", "input": "wipe" });
    assert_eq!(
        post(&router, RESPONSES, ask.clone()).await.status,
        StatusCode::FORBIDDEN
    );
    let of = async |user: &str, body: &Value| {
        let response = post_with(&router, RESPONSES, &[("x-user", user)], body).await;
        (response.status.as_u16(), response.json())
    };
    let (_, first) = of("ann", &ask).await;
    assert_eq!(first["status"], "completed");
    let more = json!({ "model": "guide", "input": "hi", "previous_response_id": first["id"] });
    assert_eq!(
        of("bob", &more).await.1["error"]["code"],
        "previous_response_not_found"
    );
    // Nor does another caller approve the call.
    let id = first["output"][0]["id"].as_str().unwrap();
    let messages = json!([
        { "role": "user", "content": "wipe" },
        { "role": "assistant", "tool_calls": [{ "id": id.replace("mcpr_", "call_"), "type": "function",
            "function": { "name": "adk_request_confirmation", "arguments": "{}" } }] },
        { "role": "tool", "tool_call_id": id.replace("mcpr_", "call_"), "content": "true" },
    ]);
    let chat = json!({ "model": "guide", "messages": messages });
    let answered = post_with(&router, "/v1/chat/completions", &[("x-user", "bob")], &chat).await;
    assert_eq!(answered.status, StatusCode::CONFLICT);
    assert_eq!(of("ann", &more).await.0, 200);
    // A branch belongs to the same caller.
    let (_, branch) = of("ann", &more).await;
    let more = json!({ "model": "guide", "input": "hi", "previous_response_id": branch["id"] });
    assert_eq!(of("bob", &more).await.0, 400);
    assert_eq!(of("ann", &more).await.0, 200);
}

#[tokio::test]
async fn f43_a_repeated_response_with_a_key_is_the_first_one() {
    let (agent, model) = guide();
    let router = open(&agent);
    let keyed = async |key: &str, body: Value| {
        let headers = [("idempotency-key", key)];
        let response = post_with(&router, RESPONSES, &headers, &body).await;
        (response.status, response.json()["id"].clone())
    };
    let (_, first) = keyed("1", json!({ "model": "guide", "input": "hi" })).await;
    let next = json!({ "model": "guide", "input": "hi", "previous_response_id": first });
    let (status, second) = keyed("2", next.clone()).await;
    assert_eq!(status, StatusCode::OK);
    assert_ne!(second, first);
    assert_eq!(
        keyed("2", next.clone()).await,
        (StatusCode::OK, second.clone())
    );
    // The response was continued, so another request with it has a thread of its own.
    let (_, other) = keyed("3", next.clone()).await;
    assert_ne!(other, second);
    assert_eq!(keyed("3", next.clone()).await, (StatusCode::OK, other));
    assert_eq!(keyed("2", next).await, (StatusCode::OK, second));
    assert_eq!(model.requests().len(), 3);
    let another = json!({ "model": "guide", "input": "no", "previous_response_id": first });
    assert_eq!(keyed("3", another).await.0, StatusCode::BAD_REQUEST);
}
