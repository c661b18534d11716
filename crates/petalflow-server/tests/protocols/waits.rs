//! What a turn waits for, pictures, and conversations of documents, by both protocols.

use axum::Router;
use petalflow_agent::Agent;
use petalflow_llm::Part;
use petalflow_llm::message::{Media, MediaSource};
use petalflow_server::A2a;
use serde_json::{Value, json};

use super::{a2a, ag_ui};
use crate::asking::{self, DOT, asking_agent};

fn served(agent: &Agent) -> Router {
    let builder = asking::builder(agent)
        .a2a(A2a::new("https://example.com"))
        .ag_ui();
    builder.build().expect("the settings are right").router()
}

fn reply(task: &Value, part: Value) -> Value {
    json!({ "messageId": "reply", "taskId": task["id"], "role": "ROLE_USER", "parts": [part] })
}

#[tokio::test]
async fn a_credential_is_required_and_given() {
    let (agent, model) = asking_agent();
    let router = served(&agent);
    let task = a2a::task(&router, a2a::says("m1", "calendar")).await;
    assert_eq!(a2a::state(&task), "TASK_STATE_AUTH_REQUIRED");
    let asked = &task["status"]["message"]["parts"][1]["data"];
    assert_eq!(asked["kind"], "credential");
    assert_eq!(asked["request"]["credentialKey"], "calendar");
    let question = &task["status"]["message"]["parts"][0];
    assert_eq!(question["text"], "Sign in to the calendar.");
    let token = json!({ "data": { "credential": "ann-token" } });
    let done = a2a::task(&router, reply(&task, token)).await;
    assert_eq!(a2a::state(&done), "TASK_STATE_COMPLETED");
    assert_eq!(a2a::answer(&done), r#"I got "ann-token is free"."#);

    let asked = ag_ui::run(&router, ag_ui::says("r1", &[("m1", "calendar")])).await;
    let interrupt = &ag_ui::outcome(&asked)["interrupts"][0];
    assert_eq!(
        interrupt["responseSchema"]["required"],
        json!(["credential"])
    );
    let given = ag_ui::resume("r2", &interrupt["id"], json!({ "credential": "bob-token" }));
    let done = ag_ui::run(&router, given).await;
    assert_eq!(ag_ui::text(&done), r#"I got "bob-token is free"."#);
    // No model reads a credential.
    let requests = json!(
        model
            .requests()
            .iter()
            .map(|it| &it.messages)
            .collect::<Vec<_>>()
    );
    let requests = requests.to_string();
    assert!(!requests.contains(r#""ann-token""#), "{requests}");
}

#[tokio::test]
async fn a_question_of_a_tool_is_answered_by_its_schema() {
    let router = served(&asking_agent().0);
    let task = a2a::task(&router, a2a::says("m1", "order")).await;
    assert_eq!(a2a::state(&task), "TASK_STATE_INPUT_REQUIRED");
    let asked = &task["status"]["message"]["parts"][1]["data"];
    assert_eq!(
        (
            &asked["kind"],
            &asked["schema"]["properties"]["answer"]["type"]
        ),
        (&json!("question"), &json!("boolean"))
    );
    assert_eq!(asked["request"]["question"]["title"], "Emma");
    let unfit = json!({ "message": reply(&task, json!({ "data": { "answer": "perhaps" } })) });
    let (code, text) = a2a::error(&router, "SendMessage", unfit).await;
    assert!(
        code == -32602 && text.contains("must be `true` or `false`"),
        "{code} {text}"
    );
    let yes = json!({ "data": { "answer": true } });
    let done = a2a::task(&router, reply(&task, yes)).await;
    assert_eq!(
        (a2a::state(&done), &*a2a::answer(&done)),
        ("TASK_STATE_COMPLETED", "I got true.")
    );

    let asked = ag_ui::run(&router, ag_ui::says("r1", &[("m1", "order")])).await;
    let interrupt = &ag_ui::outcome(&asked)["interrupts"][0];
    assert_eq!(
        interrupt["responseSchema"]["properties"]["answer"]["type"],
        "boolean"
    );
    let no = ag_ui::resume("r2", &interrupt["id"], json!({ "answer": false }));
    let done = ag_ui::run(&router, no).await;
    assert_eq!(ag_ui::text(&done), "I got false.");
}

#[tokio::test]
async fn a_cancelled_task_ends_questions_and_credentials() {
    for tool in ["order", "calendar"] {
        let (agent, model) = asking_agent();
        let router = served(&agent);
        let task = a2a::task(&router, a2a::says("m1", tool)).await;
        let cancelled = a2a::rpc(&router, "CancelTask", json!({ "id": task["id"] })).await;
        assert_eq!(a2a::state(&cancelled["result"]), "TASK_STATE_CANCELED");
        let mut next = a2a::says("m2", "hello");
        next["contextId"] = task["contextId"].clone();
        let next = a2a::task(&router, next).await;
        assert_eq!(a2a::state(&next), "TASK_STATE_COMPLETED", "{tool}: {next}");
        let last = model.last_request().expect("it was asked");
        assert_eq!(
            last.messages.last().map(petalflow_llm::ChatMessage::text),
            Some("hello".into())
        );
        // The call has a result, as providers need.
        let calls = last
            .messages
            .iter()
            .flat_map(petalflow_llm::ChatMessage::calls)
            .count();
        let results = last
            .messages
            .iter()
            .flat_map(petalflow_llm::ChatMessage::tool_results);
        assert_eq!(results.count(), calls);
    }
}

#[tokio::test]
async fn pictures_go_both_ways() {
    let (agent, model) = asking_agent();
    let router = served(&agent);
    let picture = json!({ "raw": DOT, "mediaType": "image/gif", "filename": "dot.gif" });
    let message = json!({ "messageId": "m1", "role": "ROLE_USER", "parts": [{ "text": "What is it?" }, picture] });
    let task = a2a::task(&router, message).await;
    let parts = &task["artifacts"][0]["parts"];
    assert_eq!(parts[0], json!({ "text": "The same:" }));
    assert_eq!(parts[1], json!({ "raw": DOT, "mediaType": "image/gif" }));
    assert_eq!(task["history"][0]["parts"][1], picture);

    let mut input = ag_ui::says("r1", &[]);
    let source = json!({ "type": "data", "value": DOT, "mimeType": "image/gif" });
    input["messages"] =
        json!([{ "id": "m1", "role": "user", "content": [{ "type": "image", "source": source }] }]);
    let events = ag_ui::run(&router, input).await;
    let shown = events.iter().find(|event| event["name"] == "media");
    assert_eq!(
        shown.expect("a picture")["value"]["media_type"],
        "image/gif"
    );
    let dot = Media {
        media_type: "image/gif".into(),
        source: MediaSource::Base64(DOT.into()),
        origin: None,
    };
    for request in model.requests() {
        let last = request.messages.last().expect("a message");
        assert!(last.parts.contains(&Part::Media(dot.clone())), "{last:?}");
    }
}

#[tokio::test]
async fn a_conversation_of_a_document_is_an_agent() {
    let answers = ["Hello.", "Bye.", "Hello again.", "Bye again."];
    let router = asking::conversation(answers)
        .a2a(A2a::new("https://example.com"))
        .ag_ui()
        .build()
        .expect("the settings are right")
        .router();
    let task = a2a::task(&router, a2a::says("m1", "hi")).await;
    assert_eq!(a2a::answer(&task), "Hello.");
    let mut next = a2a::says("m2", "bye");
    next["contextId"] = task["contextId"].clone();
    assert_eq!(a2a::answer(&a2a::task(&router, next).await), "Bye.");

    let first = ag_ui::run(&router, ag_ui::says("r1", &[("m1", "hi")])).await;
    assert_eq!(ag_ui::text(&first), "Hello again.");
    let second = ag_ui::run(&router, ag_ui::says("r2", &[("m1", "hi"), ("m2", "bye")])).await;
    assert_eq!(ag_ui::text(&second), "Bye again.");
}
