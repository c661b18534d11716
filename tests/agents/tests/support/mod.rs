//! Servers that stand for providers, and recordings of real ones.

pub(crate) mod httprr;
pub(crate) mod replay;
pub(crate) mod server;

use std::path::PathBuf;

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
