//! The scripted model.

use std::time::Duration;

use petalflow::tool::ToolCall;
use petalflow_llm::stream::Delta;
use petalflow_llm::{
    ChatMessage, LlmClient, LlmError, LlmErrorKind, LlmRequest, Part, Reply, ScriptedModel,
};
use serde_json::json;
use tokio::time::Instant;

#[tokio::test]
async fn it_answers_in_order_and_records_its_requests() {
    let model = ScriptedModel::new(["one", "two"]);
    let ask = |text: &str| LlmRequest::prompt(text);
    assert_eq!(model.complete(&ask("a")).await.unwrap().text(), "one");
    assert_eq!(model.complete(&ask("b")).await.unwrap().text(), "two");
    assert_eq!(model.requests(), [ask("a"), ask("b")]);
}

#[tokio::test]
async fn the_end_of_a_script_is_an_error_each_time() {
    let model = ScriptedModel::new(["one"]).with_name("tiny");
    let request = LlmRequest::default();
    model.complete(&request).await.unwrap();
    let error = model.complete(&request).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the script of model `tiny` has 1 reply, and this is request 2; add a reply"
    );
    let error = model.stream(&request).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the script of model `tiny` has 1 reply, and this is request 3; add a reply"
    );
    assert!(!error.is_transient());
}

#[tokio::test]
async fn a_function_sees_the_request() {
    let model = ScriptedModel::from_fn(|request| match request.messages.len() {
        0 => Reply::from(LlmError::request("say something")),
        1 => Reply::call("search", json!({"for": "petals"})),
        _ => Reply::text("enough"),
    });
    let ask = |n: usize| LlmRequest::new(vec![ChatMessage::user("hi"); n]);
    let error = model.complete(&ask(0)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        LlmError::request("say something").to_string()
    );
    let called = model.complete(&ask(1)).await.unwrap();
    assert_eq!(
        called.calls().next().unwrap().arguments,
        json!({"for": "petals"})
    );
    assert_eq!(model.complete(&ask(2)).await.unwrap().text(), "enough");
}

#[tokio::test(start_paused = true)]
async fn deltas_have_their_waits() {
    let model = ScriptedModel::new([Reply::chunks(["He", "llo"])
        .after(Duration::from_secs(5))
        .every(Duration::from_secs(2))]);
    let start = Instant::now();
    let request = LlmRequest::default();
    let mut stream = model.stream(&request).await.unwrap();
    let mut seen = Vec::new();
    while let Some(chunk) = stream.next().await {
        seen.push((
            chunk.index,
            start.elapsed().as_secs(),
            chunk.delta,
            chunk.done,
        ));
    }
    assert_eq!(
        seen,
        [
            (0, 5, Delta::Text("He".into()), false),
            (1, 7, Delta::Text("llo".into()), false),
            (2, 9, Delta::None, true),
        ]
    );
}

#[tokio::test]
async fn a_reply_is_the_same_with_and_without_streaming() {
    let call = ToolCall {
        id: "1".into(),
        name: "search".into(),
        arguments: json!({"for": "petals"}),
        signature: Some("s".into()),
        ..ToolCall::default()
    };
    let reply = || Reply::text("Let me see.").and(Part::Call(call.clone()));
    let model = ScriptedModel::new([reply(), reply()]);
    let request = LlmRequest::default();
    let whole = model.complete(&request).await.unwrap();
    let pieces = model.stream(&request).await.unwrap();
    assert_eq!(pieces.into_response().await.unwrap(), whole);
}

#[tokio::test]
async fn wrong_arguments_can_be_scripted() {
    let wrong = || Reply::call("search", json!("{oops"));
    let model = ScriptedModel::new([wrong(), wrong()]);
    let request = LlmRequest::default();
    let whole = model.complete(&request).await.unwrap_err();
    let pieces = model.stream(&request).await.unwrap().into_response().await;
    for error in [whole, pieces.unwrap_err()] {
        assert!(
            matches!(error.kind, LlmErrorKind::Arguments { .. }),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_forgetful_model_leaves_the_conversation_unshared() {
    let model = ScriptedModel::new(["one"]).without_recording();
    let mut request = LlmRequest::new(vec![ChatMessage::user("hi")]);
    model.complete(&request).await.unwrap();
    assert!(std::sync::Arc::get_mut(&mut request.messages).is_some());
}
