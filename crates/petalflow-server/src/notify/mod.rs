//! Notifications of other systems: what they say, how they are stored until they are delivered, and how one is sent.

mod notification;
mod notifier;
mod outbox;
mod told;
#[cfg(feature = "notify")]
mod webhook;

pub use notification::{Notification, NotificationKind};
pub use notifier::Notifier;
pub(crate) use outbox::{Notifications, PREFIX, Stored, mark, prefix};
#[cfg(feature = "notify")]
pub use webhook::{WebhookNotifier, WebhookNotifierError};
