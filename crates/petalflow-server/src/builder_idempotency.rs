//! The keys of requests: their header, and how long they are known.

use std::time::Duration;

use crate::builder::ServerBuilder;

impl ServerBuilder {
    /// Sets the header that identifies a request, such as `X-GitHub-Delivery`. The default is `Idempotency-Key`. A request with
    /// the identifier of an earlier one begins nothing: it gets the answer of the earlier one. An empty identifier is refused.
    /// [`idempotency_retention`](Self::idempotency_retention) says for how long.
    #[must_use]
    pub fn idempotency_header(mut self, name: impl Into<String>) -> Self {
        self.key_header = name.into().to_ascii_lowercase();
        self
    }

    /// Sets how long the keys of requests are known, in the header of
    /// [`idempotency_header`](Self::idempotency_header): after this time, a request with the key of an earlier one is another request. The
    /// default is 24 hours.
    ///
    /// The key of a start without an `id`, of a webhook, of a command for threads, and of the `run` of a schedule is known as long as its
    /// thread exists.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_server::Server;
    /// use std::time::Duration;
    ///
    /// let week = Duration::from_secs(7 * 86_400);
    /// let builder = Server::builder(&InMemoryStore::new()).idempotency_retention(week);
    /// # let _ = builder;
    /// ```
    #[must_use]
    pub fn idempotency_retention(mut self, time: Duration) -> Self {
        self.key_retention = time;
        self
    }
}
