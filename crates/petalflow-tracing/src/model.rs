//! The span of a model call, and the clients that make one.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use futures_core::Stream;
use tracing::{Instrument as _, Span, field};

use super::conventions::{error_type, provider_name};
use super::span::{int, list, record_cancelled, record_failure};
use super::{Traced, content, scope};
use petalflow::async_trait;
use petalflow_llm::usage::{Price, TokenCount};
use petalflow_llm::{
    Capabilities, LlmClient, LlmError, LlmErrorKind, LlmRequest, LlmResponse, LlmStream,
};

/// The span of one model call, `chat {model}`, for callers that do not use [`Traced`].
///
/// A span that is dropped before [`end`](Self::end) is marked as cancelled.
///
/// ```
/// use petalflow_llm::{LlmClient, LlmError, LlmRequest, LlmResponse};
/// use petalflow_tracing::ModelSpan;
/// use tracing::Instrument;
///
/// async fn ask(model: &dyn LlmClient, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
///     let span = ModelSpan::start(model, request, false);
///     let result = model.complete(request).instrument(span.span().clone()).await;
///     span.end(result.as_ref());
///     result
/// }
/// ```
#[derive(Debug)]
pub struct ModelSpan {
    span: Span,
    content: bool,
    ended: bool,
}

impl ModelSpan {
    /// Starts the span of a call of this client. The conversation is recorded only with `content`, or in a run with
    /// [`Spans::with_content`](super::Spans::with_content).
    pub fn start(client: &dyn LlmClient, request: &LlmRequest, content: bool) -> Self {
        Self::begin(client, request, content, false)
    }

    fn begin(client: &dyn LlmClient, request: &LlmRequest, content: bool, streams: bool) -> Self {
        let model = request.model.as_deref().or_else(|| client.model());
        let span = tracing::info_span!(
            target: "petalflow",
            "chat",
            otel.name = model.map_or_else(|| "chat".to_string(), |model| format!("chat {model}")),
            otel.kind = "client",
            otel.status_code = field::Empty,
            otel.status_description = field::Empty,
            "error.type" = field::Empty,
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = provider_name(client.name()),
            "gen_ai.output.type" = request.json_schema.as_ref().map(|_| "json"),
            gen_ai.request.model = model,
            gen_ai.request.stream = streams.then_some(true),
            gen_ai.request.max_tokens = request.max_tokens.map(i64::from),
            gen_ai.request.seed = request.seed.map(int),
            gen_ai.request.temperature = request.temperature.map(f64::from),
            gen_ai.request.top_p = request.top_p.map(f64::from),
            gen_ai.request.stop_sequences = field::Empty,
            gen_ai.response.id = field::Empty,
            gen_ai.response.model = field::Empty,
            gen_ai.response.finish_reasons = field::Empty,
            gen_ai.response.time_to_first_chunk = field::Empty,
            gen_ai.usage.input_tokens = field::Empty,
            gen_ai.usage.output_tokens = field::Empty,
            gen_ai.usage.cache_read.input_tokens = field::Empty,
            gen_ai.usage.reasoning.output_tokens = field::Empty,
            petalflow.usage.cost = field::Empty,
            gen_ai.system_instructions = field::Empty,
            gen_ai.input.messages = field::Empty,
            gen_ai.output.messages = field::Empty,
            gen_ai.tool.definitions = field::Empty,
        );
        list(
            &span,
            "gen_ai.request.stop_sequences",
            request.stop.iter().cloned(),
        );
        let content = (content || scope::records_content()) && !span.is_disabled();
        if content {
            span.record(
                "gen_ai.system_instructions",
                content::instructions(request).as_deref(),
            );
            span.record("gen_ai.input.messages", content::input(request).as_str());
            span.record(
                "gen_ai.tool.definitions",
                content::tools(request).as_deref(),
            );
        }
        ModelSpan {
            span,
            content,
            ended: false,
        }
    }

    /// Returns the span. Run the client's work inside it.
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// Ends the span.
    pub fn end(mut self, result: Result<&LlmResponse, &LlmError>) {
        match result {
            Ok(response) => self.record_response(response),
            Err(error) => self.record_error(error),
        }
    }

    fn record_response(&mut self, response: &LlmResponse) {
        self.ended = true;
        if self.span.is_disabled() {
            return;
        }
        let span = &self.span;
        let non_empty = |text: &'_ str| (!text.is_empty()).then(|| text.to_string());
        span.record("gen_ai.response.id", non_empty(&response.id));
        span.record("gen_ai.response.model", non_empty(&response.model));
        list(
            span,
            "gen_ai.response.finish_reasons",
            response
                .finish
                .iter()
                .map(|finish| content::finish_reason(finish).to_string()),
        );
        let usage = &response.usage;
        span.record("gen_ai.usage.input_tokens", int(usage.input));
        span.record("gen_ai.usage.output_tokens", int(usage.output));
        let some = |tokens: u64| (tokens > 0).then_some(int(tokens));
        span.record("gen_ai.usage.cache_read.input_tokens", some(usage.cached));
        span.record(
            "gen_ai.usage.reasoning.output_tokens",
            some(usage.reasoning),
        );
        span.record(
            "petalflow.usage.cost",
            (usage.cost > 0.0).then_some(usage.cost),
        );
        if self.content {
            span.record("gen_ai.output.messages", content::output(response).as_str());
        }
    }

    fn record_error(&mut self, error: &LlmError) {
        // A response with an unreadable tool call or a blocked prompt is recorded: it was paid for.
        if let LlmErrorKind::Arguments { response } | LlmErrorKind::Blocked { response } =
            &error.kind
        {
            self.record_response(response);
        }
        self.ended = true;
        record_failure(&self.span, &error_type(&error.kind), error, self.content);
    }
}

impl Drop for ModelSpan {
    fn drop(&mut self) {
        if !self.ended {
            record_cancelled(&self.span);
        }
    }
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl<C: LlmClient> LlmClient for Traced<C> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn model(&self) -> Option<&str> {
        self.inner.model()
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn price(&self, model: &str) -> Option<Price> {
        self.inner.price(model)
    }

    async fn count_tokens(&self, request: &LlmRequest) -> Result<TokenCount, LlmError> {
        self.inner.count_tokens(request).await
    }

    async fn complete(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        let span = ModelSpan::start(&self.inner, request, self.content);
        let call = self.inner.complete(request);
        let result = call.instrument(span.span().clone()).await;
        span.end(result.as_ref());
        result
    }

    async fn stream(&self, request: &LlmRequest) -> Result<LlmStream, LlmError> {
        let span = ModelSpan::begin(&self.inner, request, self.content, true);
        let started = Instant::now();
        let call = self.inner.stream(request);
        match call.instrument(span.span().clone()).await {
            Ok(stream) => Ok(traced(stream, span, started)),
            Err(error) => {
                span.end(Err(&error));
                Err(error)
            }
        }
    }
}

/// A stream with a span. The span ends with the last chunk, or when the stream is dropped.
fn traced(stream: LlmStream, span: ModelSpan, started: Instant) -> LlmStream {
    let events_span = span.span().clone();
    let mut started = Some(started);
    let mut span = Some(span);
    let stream = stream.wrap_source(|events| InSpan {
        events,
        span: events_span,
    });
    stream.with_observer(move |chunk| {
        if let Some(started) = started.take()
            && let Some(span) = &span
        {
            let seconds = started.elapsed().as_secs_f64();
            let span = span.span();
            span.record("gen_ai.response.time_to_first_chunk", seconds);
        }
        if chunk.done
            && let Some(span) = span.take()
        {
            match (&chunk.error, &chunk.response) {
                (Some(error), _) => span.end(Err(error)),
                (None, Some(response)) => span.end(Ok(response)),
                (None, None) => span.end(Ok(&LlmResponse::default())),
            }
        }
    })
}

/// A stream that is polled inside a span.
struct InSpan<S> {
    events: S,
    span: Span,
}

impl<S: Stream + Unpin> Stream for InSpan<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let this = &mut *self;
        this.span
            .in_scope(|| Pin::new(&mut this.events).poll_next(cx))
    }
}
