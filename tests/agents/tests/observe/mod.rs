//! Spans as OpenTelemetry gets them, and totals.

mod calls;
mod runs;
mod totals;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures_util::{StreamExt, stream};
use opentelemetry::Value;
use opentelemetry::trace::Status;
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use petalflow::async_trait;
use petalflow::tool::{Tool, ToolContext, ToolError, ToolSpec};
use petalflow_llm::{
    Delta, LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, LlmStream, StreamEvent,
};
use petalflow_tracing::otel;
use serde_json::json;
use tracing_subscriber::layer::SubscriberExt;

/// Takes the spans of one test.
struct Seen {
    exporter: InMemorySpanExporter,
    _provider: SdkTracerProvider,
    _default: tracing::subscriber::DefaultGuard,
}

impl Seen {
    /// Takes the spans that this thread makes from now on.
    fn watch() -> Self {
        crate::support::take_spans();
        let exporter = InMemorySpanExporter::default();
        let provider = SdkTracerProvider::builder()
            .with_simple_exporter(exporter.clone())
            .build();
        let subscriber = tracing_subscriber::registry().with(otel::layer(&provider));
        Seen {
            exporter,
            _provider: provider,
            _default: tracing::subscriber::set_default(subscriber),
        }
    }

    /// The spans that have ended, in the order in which they did.
    fn ended(&self) -> Vec<SpanData> {
        self.exporter.get_finished_spans().unwrap()
    }

    fn names(&self) -> Vec<String> {
        let spans = self.ended();
        spans.iter().map(|span| span.name.to_string()).collect()
    }

    fn span(&self, name: &str) -> SpanData {
        let mut named: Vec<_> = self.ended();
        named.retain(|span| span.name == name);
        assert_eq!(named.len(), 1, "{name} in {:?}", self.names());
        named.remove(0)
    }

    /// The name of the span around this one.
    fn around(&self, name: &str) -> Option<String> {
        let parent = self.span(name).parent_span_id;
        let spans = self.ended();
        let around = spans
            .iter()
            .find(|span| span.span_context.span_id() == parent);
        around.map(|span| span.name.to_string())
    }
}

/// A span's attribute; there is at most one of each name.
fn attribute(span: &SpanData, name: &str) -> Option<Value> {
    let mut found = span
        .attributes
        .iter()
        .filter(|attribute| attribute.key.as_str() == name);
    let value = found.next().map(|attribute| attribute.value.clone());
    assert!(found.next().is_none(), "{name} is there twice: {span:?}");
    value
}

fn text(span: &SpanData, name: &str) -> Option<String> {
    attribute(span, name).map(|value| value.to_string())
}

fn description(span: &SpanData) -> Option<&str> {
    match &span.status {
        Status::Error { description } => Some(description),
        _ => None,
    }
}

/// A model that gives these answers, one after the other.
struct Model(Mutex<VecDeque<Result<LlmResponse, LlmError>>>);

impl Model {
    fn new(answers: impl IntoIterator<Item = Result<LlmResponse, LlmError>>) -> Self {
        Model(Mutex::new(answers.into_iter().collect()))
    }

    fn next(&self) -> Result<LlmResponse, LlmError> {
        let next = self.0.lock().unwrap().pop_front();
        next.unwrap_or_else(|| Err(LlmError::request("nothing left to say")))
    }
}

#[async_trait]
impl LlmClient for Model {
    fn name(&self) -> &'static str {
        "gemini"
    }

    async fn complete(&self, _: &LlmRequest) -> Result<LlmResponse, LlmError> {
        let _inside = tracing::info_span!("on the wire");
        self.next()
    }

    /// Two pieces: the words, and the end.
    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        let pieces = match self.next() {
            Err(error) if error.kind == LlmErrorKind::Auth => return Err(error),
            Ok(mut response) => {
                let words = Delta::Text(response.text());
                response.message = None;
                vec![
                    Ok(StreamEvent::Delta(words)),
                    Ok(StreamEvent::End(Box::new(response))),
                ]
            }
            Err(error) => vec![Err(error)],
        };
        let pieces = stream::iter(pieces).inspect(|_| drop(tracing::info_span!("a piece")));
        Ok(LlmStream::new(request, pieces))
    }
}

/// A tool that doubles a number, waits for ever, or fails.
struct Double(Arc<ToolSpec>);

impl Double {
    fn new() -> Self {
        let parameters = json!({ "type": "object" });
        Double(Arc::new(ToolSpec::new(
            "double",
            "Doubles a number.",
            parameters,
        )))
    }
}

#[async_trait]
impl Tool for Double {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.0
    }

    async fn call(
        &self,
        arguments: serde_json::Value,
        _: &ToolContext,
    ) -> Result<serde_json::Value, ToolError> {
        match &arguments["n"] {
            serde_json::Value::Number(n) => {
                Ok(json!({ "doubled": n.as_i64().unwrap_or_default() * 2 }))
            }
            serde_json::Value::Null => std::future::pending().await,
            _ => Err(ToolError::Arguments("`n`: not a number".into())),
        }
    }
}
