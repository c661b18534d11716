//! Spans as OpenTelemetry receives them, and totals.

mod calls;
mod metrics;
mod runs;
mod totals;
mod wrappers;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use futures_util::{StreamExt, stream};
use opentelemetry::Value;
use opentelemetry::trace::Status;
use opentelemetry_sdk::trace::SpanData;
use petalflow::async_trait;
use petalflow::tool::{Tool, ToolContext, ToolError, ToolSpec};
use petalflow_llm::stream::{Delta, StreamEvent};
use petalflow_llm::{LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, LlmStream};
use serde_json::json;

/// A span's attribute. Fails if there are two of this name.
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
            n => Err(ToolError::Arguments(format!("`n`: {n} is not a number"))),
        }
    }
}
