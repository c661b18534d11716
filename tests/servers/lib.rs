//! PostgreSQL, Redis, `WebDriver` and llama.cpp servers for tests, and the tests that all stores on servers share.
//!
//! A server that was started here ends with the test process, however that ends: a shell runs between the two, and stops the
//! server when the pipe from the test process closes.
#![cfg(unix)]
#![allow(
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    reason = "an error or a panic is how a test fails"
)]

mod certificate;
mod chromedriver;
mod folder;
pub mod frequent;
mod llama_cpp;
pub mod missing;
pub mod operations;
pub mod other_children;
mod other_process;
mod postgres;
mod redis;
pub mod store_tests;
mod supervised;

use std::sync::atomic::{AtomicU64, Ordering};

use petalflow_test_support::{Need, skip};

pub use chromedriver::Chromedriver;
pub use llama_cpp::LlamaCpp;
pub use other_process::{OtherProcess, server_of_first_process};
pub use postgres::Postgres;
pub use redis::Redis;

/// A server, or why there is none.
pub type Found<S> = Result<S, String>;

/// The server. Without one, reports a skip: the caller then returns from the test.
pub fn found_or_skip<S>(server: Found<S>) -> Option<S> {
    server.inspect_err(|why| skip(Need::Installed, why)).ok()
}

/// A name that no other test uses, in this process or in another.
pub fn fresh_name(what: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    format!(
        "{what}_{}_{count}_{}",
        std::process::id(),
        since.as_millis() % 1_000_000
    )
}
