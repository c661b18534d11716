//! The spans of a turn.

use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use petalflow_llm::Reply;
use petalflow_tracing::otel;
use serde_json::json;
use tracing_subscriber::layer::SubscriberExt as _;

use super::kit::{returns, scripted};

/// The spans of one turn, in the order in which they ended.
async fn spans(replies: impl IntoIterator<Item = Reply>) -> Vec<SpanData> {
    crate::support::take_spans();
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(exporter.clone())
        .build();
    let subscriber = tracing_subscriber::registry().with(otel::layer(&provider));
    let _default = tracing::subscriber::set_default(subscriber);
    let (agent, _) = scripted(replies);
    let agent = agent.name("guide").tool(returns("look", json!(1)));
    agent.run("go").await.unwrap();
    exporter.get_finished_spans().unwrap()
}

fn names(spans: &[SpanData]) -> Vec<&str> {
    spans.iter().map(|span| &*span.name).collect()
}

#[tokio::test]
async fn a065_one_span_per_call_of_a_model_or_a_tool_within_that_of_the_agent() {
    let one = spans([Reply::call("look", json!({})), "done".into()]).await;
    assert_eq!(
        names(&one),
        ["chat", "execute_tool look", "chat", "invoke_agent guide"]
    );
    let agent = one.last().unwrap().span_context.span_id();
    assert!(one[..3].iter().all(|span| span.parent_span_id == agent));
}

#[tokio::test]
async fn a065_the_results_of_several_calls_have_a_span_of_their_own() {
    let both = Reply::call("look", json!({})).and_call("look", json!({}));
    let two = spans([both, "done".into()]).await;
    assert_eq!(
        names(&two),
        [
            "chat",
            "execute_tool look",
            "execute_tool look",
            "execute_tool (merged)",
            "chat",
            "invoke_agent guide"
        ]
    );
}
