//! What a turn waits for, pictures, and conversations of documents, by both interfaces.

use axum::Router;
use axum::http::StatusCode;
use petalflow_agent::Agent;
use petalflow_llm::Part;
use petalflow_llm::message::{Media, MediaSource};
use petalflow_server::ServerBuilder;
use serde_json::{Value, json};

use super::agents::{post, sse};
use crate::asking::{self, DOT, asking_agent};

const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";

fn router(builder: ServerBuilder) -> Router {
    let server = builder.openai().build();
    server.expect("the settings are right").router()
}

fn served(agent: &Agent) -> Router {
    router(asking::builder(agent))
}

async fn sent(router: &Router, path: &str, body: Value) -> Value {
    let response = post(router, path, body).await;
    assert_eq!(response.status, StatusCode::OK, "{response:?}");
    response.json()
}

async fn refused(router: &Router, path: &str, body: Value) -> String {
    let response = post(router, path, body).await;
    assert_eq!(response.status, StatusCode::BAD_REQUEST, "{response:?}");
    let message = &response.json()["error"]["message"];
    message.as_str().expect("a message").to_string()
}

/// The message of a chat completion.
async fn chat(router: &Router, messages: &[Value]) -> Value {
    let body = json!({ "model": "guide", "messages": messages });
    sent(router, CHAT, body).await["choices"][0]["message"].clone()
}

async fn respond(router: &Router, input: Value, previous: Option<&Value>) -> Value {
    let mut body = json!({ "model": "guide", "input": input });
    if let Some(previous) = previous {
        body["previous_response_id"] = previous["id"].clone();
    }
    sent(router, RESPONSES, body).await
}

/// The text of the last message of a response.
fn text(response: &Value) -> &Value {
    let items = response["output"].as_array().into_iter().flatten();
    let message = items.filter(|item| item["type"] == "message").next_back();
    &message.unwrap_or_else(|| panic!("no message: {response}"))["content"][0]["text"]
}

/// The arguments of a call of a function.
fn arguments(function: &Value) -> Value {
    let text = function["arguments"].as_str().expect("a text");
    serde_json::from_str(text).expect("JSON")
}

fn user(content: &Value) -> Value {
    json!({ "role": "user", "content": content })
}

/// What `tool` asks for in a chat: the call, and the messages up to it.
async fn asked_in_chat(router: &Router, tool: &str) -> (Value, Vec<Value>) {
    let mut messages = vec![user(&json!(tool))];
    let message = chat(router, &messages).await;
    let call = message["tool_calls"][0].clone();
    messages.push(message);
    (call, messages)
}

fn tool_result(call: &Value, content: &Value) -> Value {
    json!({ "role": "tool", "tool_call_id": call["id"], "content": content.to_string() })
}

fn output(call: &Value, content: &Value) -> Value {
    json!([{ "type": "function_call_output", "call_id": call["call_id"], "output": content.to_string() }])
}

#[tokio::test]
async fn a_credential_is_a_call() {
    let (agent, model) = asking_agent();
    let router = served(&agent);
    let (call, mut messages) = asked_in_chat(&router, "calendar").await;
    assert_eq!(call["function"]["name"], "adk_request_credential");
    assert_eq!(arguments(&call["function"])["credentialKey"], "calendar");
    messages.push(tool_result(&call, &json!({ "credential": "ann-token" })));
    let answer = chat(&router, &messages).await;
    assert_eq!(answer["content"], r#"I got "ann-token is free"."#);

    let first = respond(&router, json!("calendar"), None).await;
    let call = &first["output"][0];
    assert_eq!(
        (&call["type"], &call["name"]),
        (&json!("function_call"), &json!("adk_request_credential"))
    );
    assert_eq!(arguments(call)["credentialKey"], "calendar");
    let given = output(call, &json!({ "credential": "bob-token" }));
    let second = respond(&router, given, Some(&first)).await;
    assert_eq!(text(&second), r#"I got "bob-token is free"."#);
    // No model reads a credential.
    for request in model.requests() {
        let messages = json!(request.messages).to_string();
        assert!(!messages.contains(r#""ann-token""#), "{messages}");
        assert!(!messages.contains(r#""bob-token""#), "{messages}");
    }
}

#[tokio::test]
async fn a_question_of_a_tool_is_a_call() {
    let router = served(&asking_agent().0);
    let (call, messages) = asked_in_chat(&router, "order").await;
    assert_eq!(call["function"]["name"], "adk_request_input");
    let question = arguments(&call["function"]);
    assert!(
        question.to_string().contains(r#""title":"Emma""#),
        "{question}"
    );
    let with = |content: Value| {
        let mut messages = messages.clone();
        messages.push(tool_result(&call, &content));
        messages
    };
    let unfit = json!({ "model": "guide", "messages": with(json!({ "answer": "perhaps" })) });
    let text_of = refused(&router, CHAT, unfit).await;
    assert!(text_of.contains("must be `true` or `false`"), "{text_of}");
    let answer = chat(&router, &with(json!({ "answer": true }))).await;
    assert_eq!(answer["content"], "I got true.");

    let first = respond(&router, json!("order"), None).await;
    let call = &first["output"][0];
    assert_eq!(call["name"], "adk_request_input");
    let no = output(call, &json!({ "answer": false }));
    assert_eq!(
        text(&respond(&router, no, Some(&first)).await),
        "I got false."
    );
}

#[tokio::test]
async fn pictures_go_both_ways() {
    let (agent, model) = asking_agent();
    let router = served(&agent);
    let url = format!("data:image/gif;base64,{DOT}");
    let content = json!([{ "type": "image_url", "image_url": { "url": url } }]);
    let answer = chat(&router, &[user(&content)]).await;
    // Chat Completions has no form for a picture in an answer.
    assert_eq!(answer["content"], "The same:");

    let content = user(&json!([{ "type": "input_image", "image_url": url }]));
    let first = respond(&router, json!([content]), None).await;
    assert_eq!(text(&first), "The same:");
    let picture = &first["output"][1];
    let mut expected = json!({ "type": "image_generation_call", "status": "completed",
        "output_format": "gif", "result": DOT });
    expected["id"] = picture["id"].clone();
    assert_eq!(*picture, expected);
    let path = format!("{RESPONSES}/{}", first["id"].as_str().expect("an id"));
    let retrieved = crate::kit::get(&router, &path).await.json();
    assert_eq!(retrieved["output"], first["output"]);
    let dot = Part::Media(Media {
        media_type: "image/gif".into(),
        source: MediaSource::Base64(DOT.into()),
        origin: None,
    });
    for request in model.requests() {
        let last = request.messages.last().expect("a message");
        assert!(last.parts.contains(&dot), "{last:?}");
    }

    // A client that has the conversation itself sends the picture again.
    let mut items = vec![content];
    items.extend(first["output"].as_array().expect("items").clone());
    items.push(user(&json!("thanks")));
    let again = respond(&router, json!(items), None).await;
    assert_eq!(text(&again), "You said thanks.");
    let request = model.last_request().expect("it was asked");
    assert_eq!(request.messages[1].parts, [Part::text("The same:"), dot]);
}

#[tokio::test]
async fn a_picture_is_streamed() {
    let router = served(&asking_agent().0);
    let url = format!("data:image/gif;base64,{DOT}");
    let content = user(&json!([{ "type": "input_image", "image_url": url }]));
    let body = json!({ "model": "guide", "input": [content], "stream": true });
    let events = sse(&post(&router, RESPONSES, body).await);
    let events: Vec<Value> = events
        .iter()
        .map(|event| serde_json::from_str(event).expect("JSON"))
        .collect();
    let of_picture = events.iter().filter(|event| event["output_index"] == 1);
    let kinds: Vec<&Value> = of_picture.map(|event| &event["type"]).collect();
    assert_eq!(
        kinds,
        [
            "response.output_item.added",
            "response.image_generation_call.completed",
            "response.output_item.done",
        ]
    );
    let last = events.last().expect("an event");
    assert_eq!(last["type"], "response.completed");
    assert_eq!(last["response"]["output"][1]["result"], DOT);
}

#[tokio::test]
async fn a_conversation_of_a_document_is_a_model() {
    let router = router(asking::conversation(["Hello.", "Hello again.", "Bye."]));
    let answer = chat(&router, &[user(&json!("hi"))]).await;
    assert_eq!(answer["content"], "Hello.");
    let first = respond(&router, json!("hi"), None).await;
    assert_eq!(text(&first), "Hello again.");
    let second = respond(&router, json!("bye"), Some(&first)).await;
    assert_eq!(text(&second), "Bye.");
}
