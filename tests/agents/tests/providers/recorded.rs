//! Recordings of Gemini, through the real code.

use futures_util::StreamExt;
use petalflow::llm::{ChatMessage, Delta, FinishReason, LlmClient, LlmRequest, TokenUsage};

use crate::support::replay::Replay;

fn capital() -> LlmRequest {
    LlmRequest {
        temperature: Some(0.0),
        ..LlmRequest::new(vec![ChatMessage::user(
            "What is the capital of France? One word.",
        )])
    }
}

#[tokio::test]
async fn a_recorded_answer_is_read_whole() {
    let Some(replay) = Replay::of("adk/model/gemini/testdata/TestModel_Generate_ok.httprr").await
    else {
        return;
    };
    let model = replay.model("gemini-2.5-flash");
    let response = model.complete(&capital()).await.unwrap();
    assert_eq!(response.text(), "Paris");
    assert_eq!(response.finish, Some(FinishReason::Stop));
    assert_eq!(
        (response.provider.as_str(), response.model.as_str()),
        ("gemini", "gemini-2.5-flash")
    );
    assert!(!response.id.is_empty());
    assert_eq!(response.usage.input, 10);
    assert_eq!(
        response.usage.total,
        response.usage.input + response.usage.output
    );
    assert_eq!(replay.left(), 0);
    let asked = &replay.server.asked()[0];
    assert_eq!(asked.body["generationConfig"]["temperature"], 0.0);
    assert_eq!(asked.body["contents"][0]["role"], "user");
}

#[tokio::test]
async fn a_recorded_answer_is_read_as_a_stream() {
    let Some(replay) =
        Replay::of("adk/model/gemini/testdata/TestModel_GenerateStream_ok.httprr").await
    else {
        return;
    };
    let model = replay.model("gemini-2.5-flash");
    let stream = model.stream(&capital()).await.unwrap();
    let chunks: Vec<_> = stream.collect().await;
    assert_eq!(chunks[0].delta, Delta::Text("Paris".into()));
    let response = chunks.last().unwrap().response.as_ref().unwrap();
    assert_eq!(response.text(), "Paris");
    assert_eq!(response.id, "yFWYabnBB8Wg1e8P3ZTdiAY");
    assert_eq!(
        response.usage,
        TokenUsage {
            input: 11,
            output: 34,
            total: 45,
            reasoning: 33,
            ..TokenUsage::default()
        }
    );
}
