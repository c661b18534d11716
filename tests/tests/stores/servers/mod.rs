//! Throwaway servers for the stores that need one.
//!
//! A server that was started here ends with the test process, in whatever way that ends: a shell stands between the two, and
//! stops the server when the pipe from the test process closes.

mod certificate;
mod folder;
mod postgres;
mod redis;
mod supervised;

use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use postgres::Postgres;
pub(crate) use redis::Redis;

/// What a test can get of a server: a started one, or why there is none.
pub(crate) type Found<S> = Result<S, String>;

/// A name that no other test has used, in this process or in another.
pub(crate) fn fresh_name(what: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    format!(
        "{what}_{}_{count}_{}",
        std::process::id(),
        since.as_millis() % 1_000_000
    )
}
