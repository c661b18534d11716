//! A real model, recorded once.

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::StreamExt;
use petalflow::tool::ToolSpec;
use petalflow::tool::{ToolCall, ToolResult};
use petalflow_llm::stream::Delta;
use petalflow_llm::testing::Cassette;
use petalflow_llm::{
    ChatMessage, LlmClient, LlmError, LlmErrorKind, LlmRequest, Part, Reply, Role, ScriptedModel,
};
use petalflow_test_support::{assert_contains, assert_starts_with};
use serde_json::json;

/// A file that is gone when the test is over.
pub(super) struct File(pub(super) PathBuf);

impl File {
    pub(super) fn new(name: &str) -> Self {
        let name = format!("petalflow-{}-{name}.json", std::process::id());
        File(std::env::temp_dir().join(name))
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.0).unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn none() -> Result<ScriptedModel, LlmError> {
    panic!("there is a recording")
}

#[tokio::test]
async fn a_recording_is_replayed_without_the_model() {
    let file = File::new("both");
    let ask = LlmRequest::prompt;
    let model = || Ok(ScriptedModel::new(["Paris", "Rome"]).with_name("real"));
    let recording = Cassette::open(&file.0, model).unwrap();
    assert!(recording.is_recording());
    let first = recording.complete(&ask("France?")).await.unwrap();
    let second = recording.complete(&ask("Italy?")).await.unwrap();

    let replaying = Cassette::open(&file.0, none).unwrap();
    assert_eq!((replaying.name(), replaying.remaining()), ("real", 2));
    // In another order, and one of them as a stream.
    assert_eq!(replaying.complete(&ask("Italy?")).await.unwrap(), second);
    let stream = replaying.stream(&ask("France?")).await.unwrap();
    assert_eq!(stream.into_response().await.unwrap(), first);
    assert_eq!(replaying.remaining(), 0);
}

#[tokio::test]
async fn a_recorded_stream_has_the_same_deltas() {
    let file = File::new("stream");
    let pieces = || {
        let call = Delta::Call {
            index: 0,
            id: Some("1".into()),
            name: Some("sum".into()),
            arguments: "{}".into(),
        };
        Reply::chunks([Delta::from("Pa"), Delta::from("ris"), call])
    };
    let request = LlmRequest::prompt("France?");
    let recording = Cassette::open(&file.0, || Ok(ScriptedModel::new([pieces()]))).unwrap();
    let stream = recording.stream(&request).await.unwrap();
    let recorded: Vec<_> = stream
        .map(|chunk| (chunk.delta, chunk.response))
        .collect()
        .await;
    let replaying = Cassette::replay(&file.0).unwrap();
    let stream = replaying.stream(&request).await.unwrap();
    let replayed: Vec<_> = stream
        .map(|chunk| (chunk.delta, chunk.response))
        .collect()
        .await;
    assert_eq!(replayed, recorded);
    assert_eq!(replayed.len(), 4);
}

#[tokio::test]
async fn the_file_is_the_same_each_time_and_has_no_secrets() {
    let request = || LlmRequest {
        temperature: Some(0.7),
        extra: json!({"api_key": "abc"}).as_object().unwrap().clone(),
        ..LlmRequest::prompt("my key is sk-abcdefghijklmnopqrstuvwxyz and my name is Ada")
    };
    let mut texts = Vec::new();
    for name in ["first", "second"] {
        let file = File::new(name);
        let model = || {
            Ok(ScriptedModel::new([
                "Hello Ada, sk-abcdefghijklmnopqrstuvwxyz",
            ]))
        };
        let recording = Cassette::open(&file.0, model).unwrap().with_secret("Ada");
        recording.complete(&request()).await.unwrap();
        texts.push(file.text());
        let replaying = Cassette::replay(&file.0).unwrap().with_secret("Ada");
        let response = replaying.complete(&request()).await.unwrap();
        assert_eq!(response.text(), "Hello ***, ***");
    }
    assert_eq!(texts[0], texts[1]);
    for secret in ["sk-abc", "Ada", "abc"] {
        assert!(!texts[0].contains(secret), "{secret} in {}", texts[0]);
    }
}

#[tokio::test]
async fn a_secret_that_is_split_into_deltas_is_not_in_the_file() {
    let file = File::new("split");
    let piece = |arguments: &str| Delta::Call {
        index: 0,
        id: Some("1".into()),
        name: Some("sign_in".into()),
        arguments: arguments.into(),
    };
    let pieces = [
        piece(r#"{"refresh_"#),
        piece(r#"token": "hunter"#),
        piece(r#"2x", "n": 1}"#),
    ];
    let model = || Ok(ScriptedModel::new([Reply::chunks(pieces.clone())]));
    let request = LlmRequest::prompt("Use Bearer hunter2x.");
    let recording = Cassette::open(&file.0, model).unwrap();
    let stream = recording.stream(&request).await.unwrap();
    stream.into_response().await.unwrap();
    assert!(!file.text().contains("hunter"), "{}", file.text());

    let replaying = Cassette::replay(&file.0).unwrap();
    let stream = replaying.stream(&request).await.unwrap();
    let response = stream.into_response().await.unwrap();
    let call = response.calls().next().unwrap();
    assert_eq!(call.arguments, json!({"refresh_token": "***", "n": 1}));
}

#[tokio::test]
async fn a_file_that_was_recorded_with_a_token_is_still_replayed() {
    let file = File::new("token");
    let request = LlmRequest {
        extra: json!({"token": "hunter2"}).as_object().unwrap().clone(),
        ..LlmRequest::prompt("hi")
    };
    let recording = Cassette::open(&file.0, || Ok(ScriptedModel::new(["hello"]))).unwrap();
    recording.complete(&request).await.unwrap();
    assert!(!file.text().contains("hunter2"), "{}", file.text());
    let earlier = file
        .text()
        .replace(r#""token": "***""#, r#""token": "hunter2""#);
    assert!(earlier.contains("hunter2"));
    std::fs::write(&file.0, earlier).unwrap();
    let replaying = Cassette::replay(&file.0).unwrap();
    assert_eq!(replaying.complete(&request).await.unwrap().text(), "hello");
}

fn conversation(id: &str, city: &str) -> LlmRequest {
    let call = ToolCall {
        id: id.into(),
        name: "weather".into(),
        arguments: json!({"city": city}),
        ..ToolCall::default()
    };
    let result = ToolResult {
        call_id: id.into(),
        name: "weather".into(),
        content: json!("sunny"),
        is_error: false,
    };
    let mut question = ChatMessage::user("How is the weather?");
    question.id = Some(format!("message-{id}"));
    let tool = ToolSpec::new("weather", "Says how it is", json!({"type": "object"}));
    LlmRequest::new(vec![
        question,
        ChatMessage::new(Role::Assistant, vec![Part::Call(call)]),
        ChatMessage::results([result]),
    ])
    .with_tools([Arc::new(tool)])
}

#[tokio::test]
async fn ids_do_not_count_but_everything_else_does() {
    let file = File::new("ids");
    let recording = Cassette::open(&file.0, || Ok(ScriptedModel::new(["Sunny."]))).unwrap();
    recording
        .complete(&conversation("a", "Rome"))
        .await
        .unwrap();
    let replaying = Cassette::replay(&file.0).unwrap();
    let error = replaying
        .complete(&conversation("b", "Oslo"))
        .await
        .unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Request);
    assert_eq!(
        error.to_string(),
        format!(
            "cassette `{}` has no answer to this request: the most similar of the unused ones, number 1 of 1, differs: \
             `/messages/1/parts/0/call/arguments/city` was recorded as \"Rome\", and is \"Oslo\"; delete the file to \
             record anew",
            file.0.display()
        )
    );
    let answer = replaying
        .complete(&conversation("b", "Rome"))
        .await
        .unwrap();
    assert_eq!(answer.text(), "Sunny.");
    let error = replaying
        .complete(&conversation("b", "Rome"))
        .await
        .unwrap_err();
    assert_contains(&error, "all 1 recorded ones are used");
}

#[tokio::test]
async fn equal_requests_get_their_responses_in_order_and_an_error_is_about_the_most_similar_one() {
    let file = File::new("alike");
    let ask = |city: &str, days: u32| LlmRequest {
        system: Some(format!("You know {city}.")),
        max_tokens: Some(days),
        ..LlmRequest::prompt(city)
    };
    let replies = ["one", "two", "three", "four"];
    let recording = Cassette::open(&file.0, || Ok(ScriptedModel::new(replies))).unwrap();
    for (city, days) in [("Rome", 1), ("Oslo", 1), ("Rome", 1), ("Rome", 2)] {
        recording.complete(&ask(city, days)).await.unwrap();
    }
    let replaying = Cassette::replay(&file.0).unwrap();
    let mut texts = Vec::new();
    for (city, days) in [("Rome", 1), ("Rome", 1), ("Oslo", 1)] {
        texts.push(replaying.complete(&ask(city, days)).await.unwrap().text());
    }
    assert_eq!(texts, ["one", "three", "two"]);

    let replaying = Cassette::replay(&file.0).unwrap();
    let error = replaying.complete(&ask("Oslo", 3)).await.unwrap_err();
    assert_contains(
        &error,
        "number 2 of 4, differs: `/max_tokens` was recorded as 1, and is 3; delete",
    );
    let error = replaying
        .complete(&LlmRequest::default())
        .await
        .unwrap_err();
    assert_contains(
        &error,
        "`/system` was recorded as \"You know Rome.\", and is missing",
    );
}

#[tokio::test]
async fn wrong_arguments_are_recorded_and_other_errors_are_not() {
    let file = File::new("wrong");
    let request = LlmRequest::prompt("Search");
    let model = ScriptedModel::new([
        Reply::from(LlmError::new(LlmErrorKind::Connection, "cut off")),
        Reply::call("search", json!("{oops")),
    ]);
    let recording = Cassette::open(&file.0, || Ok(model)).unwrap();
    let error = recording.complete(&request).await.unwrap_err();
    assert_eq!(error.to_string(), "cut off");
    let recorded = recording.complete(&request).await.unwrap_err();
    let replaying = Cassette::replay(&file.0).unwrap();
    let replayed = replaying.complete(&request).await.unwrap_err();
    assert_eq!(replayed.to_string(), recorded.to_string());
    assert_eq!(replayed.kind, recorded.kind);
}

#[tokio::test]
async fn files_that_are_not_cassettes_are_errors() {
    let file = File::new("broken");
    for (text, why) in [
        ("", "EOF"),
        (
            "{\"version\": 2, \"provider\": \"x\", \"entries\": []}",
            "another version",
        ),
    ] {
        std::fs::write(&file.0, text).unwrap();
        let error = Cassette::replay(&file.0).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    let error = Cassette::replay("no/such/file.json").unwrap_err();
    assert_starts_with(&error, "cassette `no/such/file.json` cannot be read");
}
