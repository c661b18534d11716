//! The hook that tells another system.

use std::time::Duration;

use petalflow::{BoxError, async_trait};

use super::notification::Notification;

const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_mins(5);

/// Tells another system what happens to threads. See [`ServerBuilder::notifier`](crate::ServerBuilder::notifier).
///
/// ```
/// use petalflow::{BoxError, async_trait};
/// use petalflow_server::{Notification, Notifier};
///
/// struct Log;
///
/// #[async_trait]
/// impl Notifier for Log {
///     async fn notify(&self, notification: &Notification) -> Result<(), BoxError> {
///         println!("{}: {}", notification.thread, notification.kind.as_str());
///         Ok(())
///     }
/// }
/// # let _ = Log;
/// ```
#[async_trait]
pub trait Notifier: Send + Sync + 'static {
    /// Delivers a notification. It is called again until it succeeds, also by another process, so the receiver may get it more
    /// than once, with the same [id](Notification::id).
    ///
    /// # Errors
    ///
    /// If the receiver has not accepted it.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: the notification is delivered again.
    async fn notify(&self, notification: &Notification) -> Result<(), BoxError>;

    /// How long to wait before the next delivery of a notification, after this many deliveries have failed: one second, then twice
    /// as long each time, up to five minutes.
    fn retry_wait(&self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(16);
        LONGEST_WAIT.min(FIRST_WAIT * (1 << doublings))
    }
}
