//! Servers that stand for providers, and recordings of real ones.

pub(crate) mod httprr;
pub(crate) mod replay;
pub(crate) mod server;

use std::sync::LazyLock;

pub(crate) use petalflow_test_support::recording as data;

/// To be called before a test takes the spans of its thread. As long as there is but one subscriber, `tracing` asks the thread
/// that first comes by a span whether anybody wants it, and another test's thread would say no for all: so there are two.
pub(crate) fn take_spans() {
    static OTHER: LazyLock<tracing::Dispatch> =
        LazyLock::new(|| tracing::Dispatch::new(tracing_subscriber::registry()));
    LazyLock::force(&OTHER);
}
