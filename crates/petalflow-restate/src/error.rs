//! What can fail.

use petalflow::RunError;
use petalflow::checkpoint::StoreError;
use petalflow::engine::RecordsError;
use petalflow::thread::ThreadError;

use crate::bodies::BodyError;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestateError {
    /// The Restate server could not be reached.
    #[error(
        "the Restate server at {url} cannot be reached: check that it runs, and its address: {source}"
    )]
    Unreachable {
        /// The address of the request.
        url: String,
        /// The cause.
        source: reqwest::Error,
    },
    /// The Restate server refused the request.
    #[error("the Restate server refused the request to {url} with status {status}: {message}")]
    Refused {
        /// The address of the request.
        url: String,
        /// The status of HTTP.
        status: u16,
        /// The message of the server.
        message: String,
    },
    /// No driver of the flow answers.
    #[error(
        "no driver of the service `{service}` answers within {timeout:?}: check that a process with `Endpoint::threads` runs, and that \
         its address is the one that was registered last"
    )]
    NoDriver {
        /// The service of the threads.
        service: String,
        /// How long was waited for an answer.
        timeout: std::time::Duration,
    },
    /// No driver of the flow was ever registered.
    #[error(
        "the Restate server has no service `{0}`: register a driver of the flow with `Admin::register`; the name has the prefix of \
         `RestateFlow::prefix` and the name of the flow in storage"
    )]
    NotServed(String),
    /// A request is larger than a message of Restate. Nothing was sent, or nothing has changed.
    #[error("{0}")]
    TooLarge(String),
    /// A header cannot be sent.
    #[error("the header `{name}` cannot be sent: {problem}")]
    Header {
        /// Its name.
        name: String,
        /// The problem.
        problem: String,
    },
    /// An address was never registered.
    #[error(
        "the address {0} was never registered, so nothing can be rolled back to it: use `Admin::register`"
    )]
    NotRegistered(String),
    /// There is no such thread.
    #[error("there is no thread `{0}`: begin it first")]
    Unknown(String),
    /// There is such a thread already.
    #[error("there is a thread `{0}` already: delete it first, or use another id")]
    Exists(String),
    /// The thread runs, so nothing can be changed.
    #[error("thread `{0}` runs: wait until it rests")]
    Busy(String),
    /// The flow publishes no events.
    #[error(
        "the flow publishes no events: give `RestateFlow::events` where they are, in drivers, node hosts and listeners"
    )]
    NoEvents,
    /// The events of a thread cannot be read.
    #[error("the events of thread `{thread}` cannot be read: {source}")]
    Events {
        /// The thread.
        thread: String,
        /// The cause.
        source: petalflow::BoxError,
    },
    /// The records of a thread cannot be read.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// A body is in an object store, and cannot be read or stored there.
    #[error("a body cannot be read or stored: {0}")]
    Body(petalflow::BoxError),
    /// The thread cannot do this.
    #[error(transparent)]
    Thread(#[from] ThreadError),
    /// The run was refused.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A name cannot be that of a service of Restate.
    #[error(
        "`{0}` cannot be the name of a service of Restate: use letters, digits, `.`, `_` and `-`, and begin with a letter"
    )]
    Name(String),
    /// A key cannot be used.
    #[error(
        "the identity key `{key}` is refused: {problem}; copy it from the configuration of the Restate server"
    )]
    IdentityKey {
        /// The key.
        key: String,
        /// The problem.
        problem: String,
    },
    /// The address cannot be listened at.
    #[error("cannot listen at {address}: {source}; check that the port is free")]
    Listen {
        /// The address.
        address: String,
        /// The cause.
        source: std::io::Error,
    },
}

/// The error as that of a store.
pub(crate) fn store_error(error: RestateError) -> StoreError {
    match error {
        error @ RestateError::Unreachable { .. } => {
            StoreError::unavailable("the Restate server cannot be reached", error)
        }
        error @ (RestateError::NoDriver { .. } | RestateError::NotServed(_)) => {
            StoreError::unavailable("no driver of the flow answers", error)
        }
        error => StoreError::other("the request to Restate failed", error),
    }
}

impl From<BodyError> for RestateError {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::Records(error) => error.into(),
            error => RestateError::Body(error.into()),
        }
    }
}
