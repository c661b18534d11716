//! Chat completions.

use axum::Router;
use axum::http::StatusCode;
use petalflow_documents::kinds::TriggerAuth;
use petalflow_server::SetupError;
use serde_json::{Value, json};

use super::agents::{builder, guide, locate, open, post, post_with, sse};
use crate::kit::{Response, get};

const CHAT: &str = "/v1/chat/completions";

fn user(text: &str) -> Value {
    json!({ "model": "guide", "messages": [{ "role": "user", "content": text }] })
}

fn with(mut body: Value, more: Value) -> Value {
    let (Value::Object(fields), Value::Object(more)) = (&mut body, more) else {
        panic!()
    };
    fields.extend(more);
    body
}

async fn chat(router: &Router, body: Value) -> Value {
    let response = post(router, CHAT, body).await;
    assert_eq!(response.status, StatusCode::OK, "{response:?}");
    response.json()
}

/// The error of a refused request: its status and its message.
async fn refused(router: &Router, body: Value) -> (u16, String) {
    let response = post(router, CHAT, body).await;
    (response.status.as_u16(), message(&response))
}

fn message(response: &Response) -> String {
    let message = &response.json()["error"]["message"];
    message
        .as_str()
        .unwrap_or_else(|| panic!("{response:?}"))
        .to_string()
}

#[tokio::test]
async fn an_agent_answers_and_its_thread_is_named() {
    let router = open(&guide().0);
    let response = post(&router, CHAT, user("hi")).await;
    let thread = response.headers["x-petalflow-thread"].to_str().unwrap();
    assert!(thread.starts_with("guide:"));
    let shown = get(&router, &format!("/threads/{thread}")).await.json();
    assert_eq!(shown["status"], "finished");
    let answer = response.json();
    assert_eq!(answer["object"], "chat.completion");
    assert_eq!(answer["choices"][0]["message"]["content"], "Good morning.");
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
    assert_eq!(answer["usage"]["total_tokens"], 14);
    assert_eq!(answer["usage"]["prompt_tokens_details"]["cached_tokens"], 3);
    assert_eq!(
        answer["usage"]["completion_tokens_details"]["reasoning_tokens"],
        1
    );
}

#[tokio::test]
async fn f42_a_client_may_ask_for_one_call_at_a_time() {
    let (agent, model) = guide();
    let router = open(&agent);
    let body = json!({ "tools": [locate()], "parallel_tool_calls": false, "presence_penalty": 0 });
    chat(&router, with(user("where"), body)).await;
    let body = json!({ "parallel_tool_calls": true, "frequency_penalty": 0 });
    chat(&router, with(user("hi"), body)).await;
    chat(&router, user("hi")).await;
    let asked: Vec<Option<bool>> = model
        .requests()
        .iter()
        .map(|it| it.parallel_calls)
        .collect();
    assert_eq!(asked, [Some(false), Some(true), None]);
    let body = json!({ "model": "guide", "input": "hi", "parallel_tool_calls": false });
    let response = post(&router, "/v1/responses", body).await.json();
    assert_eq!(response["parallel_tool_calls"], false, "{response}");
}

#[tokio::test]
async fn an_answer_comes_in_chunks() {
    let router = open(&guide().0);
    let body = json!({ "stream": true, "stream_options": { "include_usage": true } });
    let response = post(&router, CHAT, with(user("hi"), body)).await;
    let mut chunks = sse(&response);
    assert_eq!(chunks.pop().unwrap(), "[DONE]");
    let chunks: Vec<Value> = chunks
        .iter()
        .map(|chunk| serde_json::from_str(chunk).unwrap())
        .collect();
    let deltas: Vec<&Value> = chunks
        .iter()
        .filter_map(|chunk| chunk.pointer("/choices/0/delta"))
        .collect();
    assert_eq!(
        json!(deltas),
        json!([
            { "role": "assistant", "content": "", "refusal": null },
            { "content": "Good " },
            { "content": "morning." },
            {},
        ])
    );
    assert!(chunks[..4].iter().all(|chunk| chunk["usage"].is_null()));
    assert_eq!(chunks[3]["choices"][0]["finish_reason"], "stop");
    assert_eq!(chunks[4]["choices"], json!([]));
    assert_eq!(chunks[4]["usage"]["completion_tokens"], 4);
}

#[tokio::test]
async fn the_agents_own_tools_stay_inside() {
    let router = open(&guide().0);
    let answer = chat(&router, user("look")).await;
    assert_eq!(
        answer["choices"][0]["message"]["content"],
        "I got look: a river."
    );
    assert_eq!(answer["choices"][0]["message"].get("tool_calls"), None);
    assert_eq!(answer["usage"]["total_tokens"], 28, "of both model calls");
}

#[tokio::test]
async fn the_client_runs_its_tools_and_the_thread_goes_on() {
    let (agent, model) = guide();
    let router = open(&agent);
    let body = with(user("both"), json!({ "tools": [locate()] }));
    let first = post(&router, CHAT, body.clone()).await;
    let answer = first.json();
    let choice = &answer["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert_eq!(choice["message"]["content"], Value::Null);
    let call = &choice["message"]["tool_calls"][0];
    assert_eq!(call["function"]["name"], "locate");
    let mut body = body;
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(choice["message"].clone());
    messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": "Kyoto" }));
    let second = post(&router, CHAT, body.clone()).await;
    let text = &second.json()["choices"][0]["message"]["content"];
    assert_eq!(
        text, "I got locate: Kyoto and look: a river.",
        "the agent knows its own result too"
    );
    let thread = |response: &Response| response.headers["x-petalflow-thread"].clone();
    assert_eq!(thread(&first), thread(&second));
    assert_eq!(model.last_request().unwrap().tools.len(), 4);
    // The same request again: the client has the conversation itself, and the thread has gone on.
    let third = post(&router, CHAT, body).await;
    assert_ne!(thread(&second), thread(&third));
    assert_eq!(
        third.json()["choices"][0]["message"]["content"],
        "I got locate: Kyoto."
    );
}

#[tokio::test]
async fn calls_come_in_chunks() {
    let router = open(&guide().0);
    let body = json!({ "stream": true, "tools": [locate()] });
    let response = post(&router, CHAT, with(user("where"), body)).await;
    let chunks = sse(&response);
    let calls: Vec<Value> = chunks[..chunks.len() - 1]
        .iter()
        .filter_map(|chunk| {
            let chunk: Value = serde_json::from_str(chunk).unwrap();
            chunk.pointer("/choices/0/delta/tool_calls/0").cloned()
        })
        .collect();
    assert_eq!(
        calls[0]["function"],
        json!({ "name": "locate", "arguments": "" })
    );
    assert_eq!(
        calls[1],
        json!({ "index": 0, "function": { "arguments": r#"{"precise":true}"# } })
    );
}

#[tokio::test]
async fn a_person_confirms_a_call_or_refuses_it() {
    let router = open(&guide().0);
    for (result, expected) in [
        (r#"{"confirmed":true}"#, "I got wipe: gone."),
        (
            r#"{"confirmed":false,"reason":"keep them"}"#,
            r#"I got wipe: {"error":"Tool execution not confirmed: keep them"}."#,
        ),
    ] {
        let mut body = user("wipe");
        let answer = chat(&router, body.clone()).await;
        let message = answer["choices"][0]["message"].clone();
        let call = &message["tool_calls"][0];
        assert_eq!(call["function"]["name"], "adk_request_confirmation");
        let arguments: Value =
            serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
        assert_eq!(arguments["originalFunctionCall"]["name"], "wipe");
        assert_eq!(arguments["toolConfirmation"]["hint"], "Delete all files?");
        let id = call["id"].clone();
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(message);
        messages.push(json!({ "role": "tool", "tool_call_id": id, "content": result }));
        let answer = chat(&router, body.clone()).await;
        assert_eq!(answer["choices"][0]["message"]["content"], expected);
        // A second answer does nothing.
        let (status, text) = refused(&router, body).await;
        assert_eq!(status, 409);
        assert!(text.contains("it was answered before"), "{text}");
    }
}

#[tokio::test]
async fn a_refusal_and_a_cut_are_said() {
    let router = open(&guide().0);
    let answer = chat(&router, user("long")).await;
    assert_eq!(answer["choices"][0]["finish_reason"], "length");
    let (agent, _) = guide();
    let router = open(&agent);
    let answer = chat(&router, user("refuse")).await;
    assert_eq!(
        answer["choices"][0]["message"]["refusal"],
        "I will not say that."
    );
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
}

#[tokio::test]
async fn a_failure_is_not_sent_again() {
    let router = open(&guide().0);
    let response = post(&router, CHAT, user("fail")).await;
    assert_eq!(response.status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(response.headers["x-should-retry"], "false");
    assert!(
        message(&response).contains("the key of the model is wrong"),
        "{response:?}"
    );
    assert_eq!(response.json()["error"]["code"], "agent_failed");
    let response = post(&router, CHAT, with(user("fail"), json!({ "stream": true }))).await;
    let last = sse(&response).pop().unwrap();
    let error: Value = serde_json::from_str(&last).unwrap();
    assert_eq!(error["error"]["type"], "server_error");
}

#[tokio::test]
async fn what_the_client_sends_reaches_the_model() {
    let (agent, model) = guide();
    let router = open(&agent);
    let body = json!({
        "model": "guide",
        "messages": [
            { "role": "developer", "content": "Be brief." },
            { "role": "user", "content": [{ "type": "text", "text": "one" },
                { "type": "image_url", "image_url": { "url": "data:image/gif;base64,R0lGOD", "detail": "low" } }] },
            { "role": "assistant", "content": "1", "refusal": null, "audio": null, "function_call": null },
            { "role": "user", "content": "history" },
        ],
        "temperature": 0.5, "max_completion_tokens": 9, "stop": "END", "seed": 7, "user": "ann",
        "metadata": { "shop": "kyoto" }, "parallel_tool_calls": true, "n": 1, "store": false,
        "response_format": { "type": "json_schema", "json_schema": { "name": "x", "schema": { "type": "object" } } },
    });
    let response = post(&router, CHAT, body).await;
    assert_eq!(
        response.json()["choices"][0]["message"]["content"],
        "3 messages"
    );
    let request = model.last_request().unwrap();
    assert_eq!(request.system.as_deref(), Some("Be brief."));
    assert_eq!(request.messages[0].parts.len(), 2);
    assert_eq!(
        (request.temperature, request.max_tokens, request.seed),
        (Some(0.5), Some(9), Some(7))
    );
    assert_eq!(request.stop, ["END"]);
    assert_eq!(*request.json_schema.unwrap(), json!({ "type": "object" }));
    let thread = response.headers["x-petalflow-thread"].to_str().unwrap();
    let labels = get(&router, &format!("/threads/{thread}")).await.json();
    assert_eq!(labels["labels"], json!({ "shop": "kyoto", "user": "ann" }));
}

#[tokio::test]
async fn what_cannot_be_honoured_is_refused() {
    let router = open(&guide().0);
    for (more, text) in [
        (
            json!({ "n": 2 }),
            "the parameter `n` is decided by the agent",
        ),
        (
            json!({ "audio": { "voice": "x" } }),
            "the parameter `audio` is not supported",
        ),
        (
            json!({ "stream_options": { "include_usage": true } }),
            "`stream_options` is for requests with `stream`",
        ),
        (
            json!({ "response_format": { "type": "json_object" } }),
            "`response_format` is of the type `text`",
        ),
        (
            json!({ "tools": [{ "type": "custom", "custom": { "name": "x" } }] }),
            "`tools[0]` has the type `custom`",
        ),
        (json!({ "tools": [locate(), locate()] }), "given twice"),
        (json!({ "tool_choice": "required" }), "there are no `tools`"),
        (
            json!({ "tool_choice": { "type": "function", "function": { "name": "x" } }, "tools": [locate()] }),
            "which is not in `tools`",
        ),
        (json!({ "messages": [] }), "`messages` is empty"),
        (
            json!({ "messages": [{ "role": "robot", "content": "x" }] }),
            "`messages[0].role` cannot be `robot`",
        ),
        (
            json!({ "messages": [{ "role": "user", "content": [{ "type": "video" }] }] }),
            "has the type `video`",
        ),
        (
            json!({ "messages": [{ "role": "tool", "tool_call_id": "c", "content": "x" }] }),
            "no call `c` comes before",
        ),
        (
            json!({ "metadata": { "a": 1 } }),
            "`metadata.a` is not a text",
        ),
        (
            json!({ "tools": [{ "type": "function", "function": { "name": "look" } }] }),
            "has a tool `look` of its own",
        ),
        (
            json!({ "tools": [{ "type": "function", "function": { "name": "adk_request_input" } }] }),
            "rename it",
        ),
    ] {
        let (status, message) = refused(&router, with(user("hi"), more.clone())).await;
        assert_eq!(status, 400, "{more}: {message}");
        assert!(message.contains(text), "{more}: {message}");
    }
    let (status, text) = refused(&router, with(user("hi"), json!({ "model": "nobody" }))).await;
    assert_eq!(
        (status, &*text),
        (
            404,
            "there is no model `nobody`: `/v1/models` lists the agents and conversations"
        )
    );
}

#[tokio::test]
async fn the_key_of_the_client_is_the_token() {
    let auth = TriggerAuth::HeaderToken {
        header: "X-Token".into(),
        token: "secret".into(),
    };
    let server = builder(&guide().0).threads(auth).openai().build().unwrap();
    let router = server.router();
    for headers in [vec![], vec![("authorization", "Bearer wrong")]] {
        let response = post_with(&router, CHAT, &headers, &user("hi")).await;
        assert_eq!(response.status, StatusCode::UNAUTHORIZED);
        assert_eq!(response.json()["error"]["code"], "invalid_api_key");
    }
    for header in [("authorization", "Bearer secret"), ("x-token", "secret")] {
        let response = post_with(&router, CHAT, &[header], &user("hi")).await;
        assert_eq!(response.status, StatusCode::OK, "{response:?}");
    }
}

#[tokio::test]
async fn a_repeated_request_is_one_thread() {
    let (agent, model) = guide();
    let router = open(&agent);
    let key = [("idempotency-key", "order-1")];
    let first = post_with(&router, CHAT, &key, &user("hi")).await;
    let second = post_with(&router, CHAT, &key, &user("hi")).await;
    assert_eq!(first.json()["id"], second.json()["id"]);
    assert_eq!(
        second.json()["choices"][0]["message"]["content"],
        "Good morning."
    );
    assert_eq!(model.requests().len(), 1);
    let other = post_with(&router, CHAT, &key, &user("look")).await;
    assert_eq!(other.status, StatusCode::BAD_REQUEST);
    assert!(message(&other).contains("had another body"));
}

#[tokio::test]
async fn the_models_are_the_agents() {
    let router = open(&guide().0);
    let models = get(&router, "/v1/models").await.json();
    assert_eq!(models["data"][0]["id"], "guide");
    assert_eq!(
        get(&router, "/v1/models/guide").await.json()["object"],
        "model"
    );
    assert_eq!(
        get(&router, "/v1/models/x").await.json()["error"]["code"],
        "model_not_found"
    );
    assert_eq!(
        get(&router, CHAT).await.status,
        StatusCode::METHOD_NOT_ALLOWED
    );
}

#[test]
fn events_are_needed() {
    let builder = builder(&guide().0).threads(TriggerAuth::None).openai();
    let errors = builder.event_log(0).build().unwrap_err();
    assert_eq!(
        errors.errors(),
        [SetupError::NoEvents {
            protocol: "OpenAI's interface"
        }]
    );
}
