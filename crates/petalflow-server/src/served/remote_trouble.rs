//! Why a thread of an engine does not go on.

use serde_json::{Value, json};

/// Why a thread of an engine does not go on although it runs: a process of the engine is away, or fails. The engine repeats what it does,
/// or has paused it. A thread that is shown has it as `trouble`.
///
/// ```
/// use petalflow_server::RemoteTrouble;
///
/// let trouble = RemoteTrouble {
///     service: "crawlers".into(),
///     attempts: 3,
///     is_paused: false,
///     error: "connection refused".into(),
///     next_ms: Some(1_700_000_000_000),
/// };
/// assert!(!trouble.is_paused);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteTrouble {
    /// What is away or fails, by the name that the engine has for it.
    pub service: String,
    /// How often it was tried. 0 if that is not known.
    pub attempts: u64,
    /// Whether it is tried again only when somebody resumes the thread.
    pub is_paused: bool,
    /// What went wrong the last time.
    pub error: String,
    /// When it is tried again, in milliseconds since 1970 (UTC), if that is known.
    pub next_ms: Option<u64>,
}

impl RemoteTrouble {
    /// As clients see it.
    pub(super) fn value(&self) -> Value {
        let state = if self.is_paused { "paused" } else { "retrying" };
        json!({
            "state": state,
            "service": self.service,
            "attempts": self.attempts,
            "error": self.error,
            "next_ms": self.next_ms,
        })
    }
}
