//! What another system is told.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What another system is told of a thread.
///
/// ```
/// use petalflow_server::{Notification, NotificationKind};
///
/// fn line(notification: &Notification) -> String {
///     match notification.kind {
///         NotificationKind::Failed => format!("{} has failed", notification.thread),
///         kind => format!("{}: {}", notification.thread, kind.as_str()),
///     }
/// }
/// # let _ = line;
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Notification {
    /// Its id. One that is sent again has the same id, so that the receiver can ignore it.
    pub id: String,
    /// What has happened.
    pub kind: NotificationKind,
    /// The thread.
    pub thread: String,
    /// When the thread has changed, in milliseconds since 1970 (UTC).
    pub at_ms: u64,
    /// More of the thread: `flow`, `status`, `labels`, `checkpoint`, `waits` (as in `GET /inbox`) and `errors`. Its state is not
    /// among it.
    pub data: Value,
}

/// What has happened to a thread.
///
/// ```
/// use petalflow_server::NotificationKind;
///
/// assert_eq!(NotificationKind::Waiting.as_str(), "thread.waiting");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum NotificationKind {
    /// It waits for an answer, an approval, or the result of a call.
    Waiting,
    /// Its run has finished.
    Finished,
    /// Its run has failed.
    Failed,
}

impl NotificationKind {
    /// Its name for receivers.
    pub fn as_str(self) -> &'static str {
        match self {
            NotificationKind::Waiting => "thread.waiting",
            NotificationKind::Finished => "thread.finished",
            NotificationKind::Failed => "thread.failed",
        }
    }
}
