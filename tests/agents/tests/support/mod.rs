//! Servers that stand for providers, and recordings of real ones.

pub(crate) mod httprr;
pub(crate) mod replay;
pub(crate) mod server;

use std::path::PathBuf;
use std::sync::LazyLock;

/// A file of the test data that is not part of the repository; none, with a word about it, where it is absent.
pub(crate) fn data(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("PETALFLOW_TEST_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let file = root.join(path);
    if file.exists() {
        return Some(file);
    }
    eprintln!(
        "skipped: no {path} in {}; set PETALFLOW_TEST_DATA",
        root.display()
    );
    None
}

/// To be called before a test takes the spans of its thread. As long as there is but one subscriber, `tracing` asks the thread
/// that first comes by a span whether anybody wants it, and another test's thread would say no for all: so there are two.
pub(crate) fn take_spans() {
    static OTHER: LazyLock<tracing::Dispatch> =
        LazyLock::new(|| tracing::Dispatch::new(tracing_subscriber::registry()));
    LazyLock::force(&OTHER);
}
