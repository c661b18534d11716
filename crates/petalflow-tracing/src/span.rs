//! Helpers for all spans, and the span of an agent.

use std::error::Error;

use petalflow::RunError;
#[cfg(feature = "tool")]
use petalflow::tool::{InvokeError, ToolError};
#[cfg(feature = "llm")]
use petalflow_llm::{LlmError, LlmErrorKind};
use tracing::{Span, field};

/// The status of a failed span whose error may quote content.
const NOT_RECORDED: &str =
    "the message of the error may quote content; record it with `with_content`";

/// Marks a span as failed. The span must have declared `error.type` and the status fields. Without `content`, the status
/// has no message that may quote content.
pub(super) fn record_failure(
    span: &Span,
    kind: &str,
    error: &(dyn Error + 'static),
    content: bool,
) {
    if span.is_disabled() {
        return;
    }
    span.record("error.type", kind);
    span.record("otel.status_code", "ERROR");
    let message =
        (content || !quotes_content(error)).then(|| petalflow::error::message_with_sources(error));
    span.record(
        "otel.status_description",
        message.as_deref().unwrap_or(NOT_RECORDED),
    );
}

/// Whether the error, or one of its sources, may quote arguments, results or answers. The message of a tool's error is
/// written for the model, as its result is.
fn quotes_content(error: &(dyn Error + 'static)) -> bool {
    std::iter::successors(Some(error), |&error| cause(error)).any(|error| {
        #[cfg(feature = "tool")]
        if let Some(error) = match error.downcast_ref() {
            Some(InvokeError(error)) => Some(error),
            None => error.downcast_ref(),
        } {
            return matches!(error, ToolError::Arguments(_) | ToolError::Failed(_));
        }
        #[cfg(feature = "llm")]
        if let Some(LlmError { kind, .. }) = error.downcast_ref() {
            return matches!(
                kind,
                LlmErrorKind::Arguments { .. } | LlmErrorKind::Malformed
            );
        }
        let _ = error;
        false
    })
}

/// The source of an error. The message of a run's error has the text of its cause, so that it has no source.
fn cause<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match error.downcast_ref().and_then(RunError::get_ref) {
        Some(cause) => Some(cause),
        None => error.source(),
    }
}

/// Converts a number for an attribute. OpenTelemetry exports an unsigned number as text.
pub(super) fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Marks a span as cancelled.
#[cfg(feature = "tool")]
pub(super) fn record_cancelled(span: &Span) {
    span.record("error.type", "cancelled");
    span.record("otel.status_code", "ERROR");
}

/// Records a list. OpenTelemetry attributes can be lists. Without OpenTelemetry the list is written as text.
#[cfg(feature = "llm")]
pub(super) fn list(span: &Span, name: &'static str, values: impl IntoIterator<Item = String>) {
    if span.is_disabled() {
        return;
    }
    let values: Vec<String> = values.into_iter().collect();
    if values.is_empty() {
        return;
    }
    #[cfg(feature = "otel")]
    {
        use opentelemetry::{Array, StringValue, Value};
        use tracing_opentelemetry::OpenTelemetrySpanExt as _;

        let values = values.into_iter().map(StringValue::from).collect();
        span.set_attribute(name, Value::Array(Array::String(values)));
    }
    #[cfg(not(feature = "otel"))]
    span.record(name, field::debug(values));
}

/// The span of one invocation of an agent, `invoke_agent {name}`. The thread is the conversation.
///
/// Use it for your own loop around a model. Run the agent's work inside it, for example with
/// [`Instrument`](https://docs.rs/tracing/latest/tracing/trait.Instrument.html).
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use petalflow_tracing::agent_span;
/// use tracing::Instrument;
///
/// let answer = async { 42 };
/// assert_eq!(answer.instrument(agent_span("thinker", None, Some("ann"))).await, 42);
/// # }
/// ```
pub fn agent_span(name: &str, description: Option<&str>, thread: Option<&str>) -> Span {
    tracing::info_span!(
        target: "petalflow",
        "invoke_agent",
        otel.name = format!("invoke_agent {name}"),
        otel.kind = "internal",
        otel.status_code = field::Empty,
        otel.status_description = field::Empty,
        "error.type" = field::Empty,
        gen_ai.operation.name = "invoke_agent",
        gen_ai.agent.name = name,
        gen_ai.agent.description = description,
        gen_ai.conversation.id = thread,
    )
}

#[cfg(all(test, feature = "tool"))]
mod tests {
    use super::*;

    #[test]
    fn errors_of_tools_are_found_in_the_errors_around_them() {
        let failed = || ToolError::failed("no book `My diary`");
        assert!(quotes_content(&failed()));
        assert!(quotes_content(&InvokeError(failed())));
        let timeout = ToolError::Timeout("find".into(), std::time::Duration::from_secs(1));
        assert!(!quotes_content(&InvokeError(timeout)));
        assert!(!quotes_content(&std::io::Error::other("the disk is full")));
    }
}
