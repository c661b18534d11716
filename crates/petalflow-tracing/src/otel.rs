//! Export of spans to OpenTelemetry.
//!
//! Any `TracerProvider` works, so you choose the exporter. Lists, such as `gen_ai.response.finish_reasons`, stay
//! lists.

pub use opentelemetry;
pub use tracing_opentelemetry;
pub use tracing_subscriber;

use opentelemetry::trace::{Tracer, TracerProvider};
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::registry::LookupSpan;

/// A layer that sends spans to this provider: the spans of petalflow, and all others that reach the layer.
///
/// Spans of your own program show where a run started. To leave them out, filter on the target `petalflow`.
///
/// ```
/// use petalflow_tracing::otel::{self, opentelemetry, tracing_subscriber};
/// use tracing_subscriber::layer::SubscriberExt;
///
/// // With the crate `opentelemetry_sdk`, `SdkTracerProvider::builder().with_batch_exporter(..).build()`.
/// let provider = opentelemetry::trace::noop::NoopTracerProvider::new();
/// let subscriber = tracing_subscriber::registry().with(otel::layer(&provider));
/// tracing::subscriber::with_default(subscriber, || {
///     // The provider exports the spans of runs in here. `tracing::subscriber::set_global_default` is for the whole program.
/// });
/// ```
pub fn layer<S, P>(provider: &P) -> OpenTelemetryLayer<S, P::Tracer>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
    P: TracerProvider,
    P::Tracer: Tracer + Send + Sync + 'static,
    <P::Tracer as Tracer>::Span: Send + Sync,
{
    tracing_opentelemetry::layer()
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false)
        .with_tracer(provider.tracer("petalflow"))
}
