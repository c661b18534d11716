//! The spans of one test.

use std::sync::LazyLock;

use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use petalflow_tracing::otel;
use tracing_subscriber::layer::SubscriberExt;

/// Records the spans that this thread makes until it is dropped.
#[derive(Debug)]
pub struct RecordedSpans {
    exporter: InMemorySpanExporter,
    _provider: SdkTracerProvider,
    _default: tracing::subscriber::DefaultGuard,
}

impl RecordedSpans {
    /// Records the spans that this thread makes from now on.
    pub fn start() -> Self {
        // While there is only one subscriber, `tracing` asks the thread that first reaches a span whether anything records
        // it. Another test's thread would answer no for all threads. So there are two subscribers.
        static OTHER: LazyLock<tracing::Dispatch> =
            LazyLock::new(|| tracing::Dispatch::new(tracing_subscriber::registry()));
        LazyLock::force(&OTHER);
        let exporter = InMemorySpanExporter::default();
        let provider = SdkTracerProvider::builder()
            .with_simple_exporter(exporter.clone())
            .build();
        let subscriber = tracing_subscriber::registry().with(otel::layer(&provider));
        RecordedSpans {
            exporter,
            _provider: provider,
            _default: tracing::subscriber::set_default(subscriber),
        }
    }

    /// The spans that have ended, in the order in which they ended.
    ///
    /// # Panics
    ///
    /// If the exporter was shut down.
    pub fn finished(&self) -> Vec<SpanData> {
        self.exporter.get_finished_spans().unwrap()
    }

    /// Their names.
    pub fn names(&self) -> Vec<String> {
        let spans = self.finished();
        spans.iter().map(|span| span.name.to_string()).collect()
    }

    /// The one span of this name.
    ///
    /// # Panics
    ///
    /// If there is none, or more than one.
    pub fn span(&self, name: &str) -> SpanData {
        let mut named: Vec<_> = self.finished();
        named.retain(|span| span.name == name);
        assert_eq!(named.len(), 1, "{name} in {:?}", self.names());
        named.remove(0)
    }

    /// The name of this span's parent.
    pub fn parent(&self, name: &str) -> Option<String> {
        let parent = self.span(name).parent_span_id;
        let spans = self.finished();
        let parent = spans
            .iter()
            .find(|span| span.span_context.span_id() == parent);
        parent.map(|span| span.name.to_string())
    }
}
