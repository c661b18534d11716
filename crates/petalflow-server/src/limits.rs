//! Limits on clients: sizes, times and numbers.

use std::time::Duration;

/// Limits on clients. Each trigger has a limit of its own for the size of a body:
/// [`WebhookTriggerConfig::max_body_bytes`](petalflow_documents::kinds::WebhookTriggerConfig::max_body_bytes).
///
/// ```
/// use petalflow_server::Limits;
/// use std::time::Duration;
///
/// let limits = Limits { body_time: Duration::from_secs(2), max_runs: 10, ..Limits::default() };
/// assert_eq!(limits.max_headers, 64);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest number of headers. A request with more gets 431. The default is 64.
    pub max_headers: usize,
    /// The largest size of all headers together, in bytes. A request with more gets 431. The default is 16 KiB.
    pub max_header_bytes: usize,
    /// How long a client may take for the headers of a request, and how long a connection may be idle. The default is 10
    /// seconds. It applies to [`Server::serve`](crate::Server::serve); in a router of your own, it is up to your server.
    pub header_time: Duration,
    /// How long a client may take for the body of a request. Then it gets 408. The default is 10 seconds.
    pub body_time: Duration,
    /// The largest body of an answer to a question, and of other short requests, in bytes. The default is 64 KiB.
    pub max_answer_bytes: usize,
    /// The largest body with an input of a flow, or with an edit of a state, in bytes. The default is 1 MiB.
    pub max_input_bytes: usize,
    /// The largest number of requests at the same time, without streams of events. Further ones get 503. The default is 256.
    pub max_requests: usize,
    /// The largest number of runs at the same time. A request that would start another gets 503. The default is 256.
    pub max_runs: usize,
    /// The largest number of clients that receive events, or wait for a thread, at the same time. Further ones get 503. The default is 256.
    pub max_streams: usize,
    /// The largest number of connections at the same time. Further ones wait until the server accepts them. The default is
    /// 1,024. It applies to [`Server::serve`](crate::Server::serve).
    pub max_connections: usize,
    /// How long a request may wait for the end of its run, with the header `Prefer: wait=SECONDS`. The default is zero: the
    /// header has no effect. The response then has all variables, so a caller that may wait sees what nodes wrote.
    pub max_wait: Duration,
    /// How long `GET /threads/{thread}/wait` may wait. The default is one minute.
    pub max_thread_wait: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_headers: 64,
            max_header_bytes: 16 << 10,
            header_time: Duration::from_secs(10),
            body_time: Duration::from_secs(10),
            max_answer_bytes: 64 << 10,
            max_input_bytes: 1 << 20,
            max_requests: 256,
            max_runs: 256,
            max_streams: 256,
            max_connections: 1024,
            max_wait: Duration::ZERO,
            max_thread_wait: Duration::from_mins(1),
        }
    }
}
