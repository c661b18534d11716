//! The span of a tool call.

use serde_json::Value;
use tracing::{Span, field};

use super::scope;
use super::span::{record_cancelled, record_failure};
use petalflow::tool::{ToolError, ToolResult, ToolSpec};

/// The span of one tool call, `execute_tool {tool}`, for callers that do not use [`Traced`](super::Traced).
///
/// A span that is dropped before [`end`](Self::end) is marked as cancelled.
///
/// ```
/// use petalflow_tracing::ToolSpan;
/// use petalflow::tool::ToolSpec;
/// use serde_json::json;
///
/// let spec = ToolSpec::new("clock", "What time it is.", json!({ "type": "object" }));
/// let span = ToolSpan::start(&spec, "call-1", &json!({}), false);
/// let time = span.span().in_scope(|| json!("12:00"));
/// span.end(Ok(&time));
/// ```
#[derive(Debug)]
pub struct ToolSpan {
    span: Span,
    content: bool,
    ended: bool,
}

impl ToolSpan {
    /// Starts the span of a call. The arguments, the result and the message of an error are recorded only with
    /// `content`, or in a run with [`Spans::with_content`](super::Spans::with_content).
    pub fn start(spec: &ToolSpec, call_id: &str, arguments: &Value, content: bool) -> Self {
        let name = spec.name.as_str();
        let span = tracing::info_span!(
            target: "petalflow",
            "execute_tool",
            otel.name = format!("execute_tool {name}"),
            otel.kind = "internal",
            otel.status_code = field::Empty,
            otel.status_description = field::Empty,
            "error.type" = field::Empty,
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = name,
            "gen_ai.tool.type" = "function",
            gen_ai.tool.description = spec.description.as_str(),
            gen_ai.tool.call.id = call_id,
            gen_ai.tool.call.arguments = field::Empty,
            gen_ai.tool.call.result = field::Empty,
        );
        let content = (content || scope::records_content()) && !span.is_disabled();
        if content {
            span.record("gen_ai.tool.call.arguments", field::display(arguments));
        }
        ToolSpan {
            span,
            content,
            ended: false,
        }
    }

    /// Returns the span. Run the tool's work inside it.
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// Ends the span.
    pub fn end(mut self, result: Result<&Value, &ToolError>) {
        self.ended = true;
        match result {
            Ok(value) if self.content => {
                self.span
                    .record("gen_ai.tool.call.result", field::display(value));
            }
            Ok(_) => {}
            Err(error) => record_failure(&self.span, kind(error), error, self.content),
        }
    }
}

impl Drop for ToolSpan {
    fn drop(&mut self) {
        if !self.ended {
            record_cancelled(&self.span);
        }
    }
}

/// Records that the results of several calls in one answer were merged: a span `execute_tool (merged)` that ends at
/// once. It makes no span for fewer than two results.
///
/// ```
/// use petalflow_tracing::merged_span;
///
/// merged_span([], "event-1", false);
/// ```
pub fn merged_span<'a>(
    results: impl IntoIterator<Item = &'a ToolResult>,
    event_id: &str,
    content: bool,
) {
    let results: Vec<&ToolResult> = results.into_iter().collect();
    if results.len() < 2 {
        return;
    }
    let span = tracing::info_span!(
        target: "petalflow",
        "execute_tool",
        otel.name = "execute_tool (merged)",
        otel.kind = "internal",
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = "(merged tools)",
        gen_ai.tool.call.id = event_id,
        gen_ai.tool.call.result = field::Empty,
    );
    if (content || scope::records_content()) && !span.is_disabled() {
        let contents: Vec<&Value> = results.iter().map(|result| &result.content).collect();
        let text = serde_json::to_string(&contents).unwrap_or_default();
        span.record("gen_ai.tool.call.result", text.as_str());
    }
}

fn kind(error: &ToolError) -> &'static str {
    match error {
        ToolError::Arguments(_) => "arguments",
        ToolError::Timeout(..) => "timeout",
        _ => "failed",
    }
}
