//! Whom a server tells what happens: its program, and other systems.

use std::sync::Arc;

use crate::Notice;
use crate::builder::ServerBuilder;
use crate::notify::Notifier;

impl ServerBuilder {
    /// Tells another system when a thread waits, has finished or has failed: once or more, and also if this process is killed, because
    /// the store has what is to be told until it is delivered. It is told of runs of this server, and of those of other processes with the
    /// store, such as a program or a command: their threads are looked at every two seconds, so of a thread that changes twice in this
    /// time the second change is told. Threads that an engine keeps are told of if this server runs them. [`serve`](crate::Server::serve) delivers; in a server of your own, spawn
    /// [`run_notifications`](crate::Server::run_notifications). The feature `notify` has a notifier that sends webhooks,
    /// `WebhookNotifier`.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::{BoxError, async_trait};
    /// use petalflow_server::{Notification, Notifier, Server};
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
    ///
    /// let builder = Server::builder(&InMemoryStore::new()).notifier(Log);
    /// # let _ = builder;
    /// ```
    #[must_use]
    pub fn notifier(mut self, notifier: impl Notifier) -> Self {
        self.notifier = Some(Arc::new(notifier));
        self
    }

    /// Calls a function for each [`Notice`], for a log.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_server::Server;
    ///
    /// let builder = Server::builder(&InMemoryStore::new()).on_notice(|notice| eprintln!("{notice}"));
    /// # let _ = builder;
    /// ```
    #[must_use]
    pub fn on_notice(mut self, listener: impl Fn(Notice<'_>) + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }
}
