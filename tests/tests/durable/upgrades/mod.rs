//! What a changed program does with threads that an older one stored: each test has a `v1` that stores a thread and a `v2`,
//! of the same flow, that opens it.

mod golden;
mod keys;
mod lock;
mod migrations;
mod nodes;
mod pending;

use std::fmt::Display;

/// What v1 fails with, so that its thread stops in the middle.
pub(crate) fn stop<T>() -> petalflow::Result<T> {
    Err("stopped".into())
}

/// The error for an incompatible thread: the problem, and the lines that differ.
#[track_caller]
pub(crate) fn refusal(error: impl Display) -> (String, Vec<String>) {
    let text = error.to_string();
    let start = "was stored by a different program: ";
    let at = text.find(start).unwrap_or_else(|| panic!("{text}"));
    let mut lines = text[at + start.len()..].lines();
    let problem = lines.next().unwrap_or_default().to_string();
    (problem, lines.map(|line| line.trim().to_string()).collect())
}

/// Stores a thread with v1, which stops in the middle, and gives v2's.
macro_rules! reopened {
    ($input:expr) => {{
        let store = petalflow::checkpoint::InMemoryStore::new();
        let error = v1::Write::new().store(&store).thread("t").run($input).await;
        assert!(error.unwrap_err().to_string().contains("stopped"));
        v2::Write::new().store(&store).thread("t")
    }};
}
pub(crate) use reopened;
