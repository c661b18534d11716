//! Streams as users and providers see them.

use futures_util::{StreamExt, stream};
use petalflow::async_trait;
use petalflow_llm::response::Status;
use petalflow_llm::stream::{Delta, StreamChunk, StreamEvent};
use petalflow_llm::{
    LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, LlmStream, Reply, ScriptedModel,
    TokenUsage,
};
use serde_json::json;

#[expect(clippy::unnecessary_wraps, reason = "pieces are results")]
fn text(words: &str) -> Result<StreamEvent, LlmError> {
    Ok(StreamEvent::Delta(words.into()))
}

fn stream_of(pieces: Vec<Result<StreamEvent, LlmError>>) -> LlmStream {
    LlmStream::new(&LlmRequest::default(), stream::iter(pieces))
}

async fn chunks(stream: LlmStream) -> Vec<StreamChunk> {
    stream.collect().await
}

#[tokio::test]
async fn i016_p032_deltas_are_numbered_accumulate_and_end_with_usage() {
    let usage = TokenUsage {
        total: 7,
        ..TokenUsage::default()
    };
    let end = LlmResponse {
        usage,
        ..LlmResponse::default()
    };
    let mut stream = stream_of(vec![
        text("He"),
        text("llo"),
        Ok(StreamEvent::End(Box::new(end))),
    ]);
    let mut so_far = Vec::new();
    for _ in 0..2 {
        let chunk = stream.next().await.unwrap();
        assert!(!chunk.done && chunk.usage().is_none() && chunk.error.is_none());
        so_far.push((chunk.index, stream.accumulated().into_owned()));
    }
    assert_eq!(so_far, [(0, "He".into()), (1, "Hello".into())]);
    let last = stream.next().await.unwrap();
    assert_eq!(
        (last.index, last.done, last.usage()),
        (2, true, Some(&usage))
    );
    assert_eq!(last.delta, Delta::None);
    assert_eq!(last.into_outcome().unwrap().unwrap().text(), "Hello");
    assert!(stream.next().await.is_none());
    assert_eq!(stream.accumulated(), "Hello");
}

#[tokio::test]
async fn i017_a_failure_before_the_first_delta_is_an_error_without_a_stream() {
    let model = ScriptedModel::new([LlmError::new(LlmErrorKind::Auth, "no key")]);
    let error = model.stream(&LlmRequest::default()).await.unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Auth);
}

#[tokio::test]
async fn i018_a_later_failure_is_the_last_item_with_the_partial_response() {
    let cut = || LlmError::new(LlmErrorKind::Connection, "cut off");
    let mut seen = chunks(stream_of(vec![text("Hel"), Err(cut()), text("lo")])).await;
    assert_eq!(seen.len(), 2);
    let last = seen.pop().unwrap();
    assert!(last.done);
    assert_eq!(last.error.unwrap().to_string(), "cut off");
    let heard = last.response.unwrap();
    assert_eq!(
        (heard.text(), heard.status),
        ("Hel".into(), Status::Incomplete)
    );

    let drained = stream_of(vec![text("Hel"), Err(cut())])
        .into_response()
        .await;
    assert_eq!(drained.unwrap_err().to_string(), "cut off");
}

#[tokio::test]
async fn i019_an_empty_stream_has_one_last_item_without_usage() {
    let seen = chunks(stream_of(vec![])).await;
    assert_eq!(seen.len(), 1);
    assert!(seen[0].done && seen[0].error.is_none() && seen[0].usage().is_none());
    assert_eq!(seen[0].response.as_ref().unwrap().message, None);
}

#[tokio::test]
async fn i019_without_a_final_answer_the_last_item_has_the_text_but_no_usage() {
    let mut seen = chunks(stream_of(vec![text("Hello")])).await;
    let last = seen.pop().unwrap();
    assert!(last.done && last.usage().is_none());
    assert_eq!(last.response.unwrap().text(), "Hello");
}

#[tokio::test]
async fn i021_calls_are_streamed_too() {
    let model = ScriptedModel::new([Reply::call("search", json!({"for": "petals"}))]);
    let stream = model.stream(&LlmRequest::default()).await.unwrap();
    let seen = chunks(stream).await;
    assert!(matches!(&seen[0].delta, Delta::Call { name: Some(name), .. } if name == "search"));
    assert_eq!(seen[1].response.as_ref().unwrap().calls().count(), 1);
}

#[tokio::test]
async fn i029_draining_waits_for_the_end_and_loses_no_error() {
    let ok = stream_of(vec![text("a"), text("b")]).into_response().await;
    assert_eq!(ok.unwrap().text(), "ab");
    let late = LlmError::new(
        LlmErrorKind::Provider {
            status: None,
            retry_after: None,
        },
        "late",
    );
    let error = stream_of(vec![text("a"), text("b"), Err(late)])
        .into_response()
        .await;
    assert_eq!(error.unwrap_err().to_string(), "late");
}

#[tokio::test]
async fn a_stream_reads_json_where_the_request_has_a_schema() {
    let request = LlmRequest::default().with_schema(json!({"type": "object"}));
    let pieces = vec![text("{\"a\""), text(": 1}")];
    let response = LlmStream::new(&request, stream::iter(pieces))
        .into_response()
        .await;
    assert_eq!(response.unwrap().json, Some(json!({"a": 1})));
}

/// Has whole answers only.
struct Whole;

#[async_trait]
impl LlmClient for Whole {
    fn name(&self) -> &'static str {
        "whole"
    }

    async fn complete(&self, _: &LlmRequest) -> Result<LlmResponse, LlmError> {
        Ok(LlmResponse::text_only("all at once"))
    }
}

#[tokio::test]
async fn a_client_without_streaming_streams_whole_answers() {
    let client: Box<dyn LlmClient> = Box::new(Whole);
    let seen = chunks(client.stream(&LlmRequest::default()).await.unwrap()).await;
    assert_eq!(seen[0].delta, Delta::Text("all at once".into()));
    assert!(seen[1].done);
}

/// Has streams only.
struct StreamSource;

#[async_trait]
impl LlmClient for StreamSource {
    fn name(&self) -> &'static str {
        "pieces"
    }

    async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        self.stream(request).await?.into_response().await
    }

    async fn stream(&self, _: &LlmRequest) -> Result<LlmStream, LlmError> {
        Ok(stream_of(vec![text("piece by "), text("piece")]))
    }
}

#[tokio::test]
async fn i026_a_streaming_client_completes_from_its_deltas() {
    let client: std::sync::Arc<dyn LlmClient> = std::sync::Arc::new(StreamSource);
    let response = client.complete(&LlmRequest::default()).await.unwrap();
    assert_eq!(response.text(), "piece by piece");
}

#[tokio::test]
async fn a_response_of_a_stream_that_was_read_is_an_error_and_not_empty() {
    let mut stream = stream_of(vec![text("Hello"), Ok(StreamEvent::End(Box::default()))]);
    while stream.next().await.is_some() {}
    let error = stream.into_response().await.unwrap_err();
    assert_eq!(error.kind, LlmErrorKind::Request);
    assert!(
        error.to_string().contains("was read to its end before"),
        "{error}"
    );
}
