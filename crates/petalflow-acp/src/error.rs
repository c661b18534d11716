//! Errors: of the server, and those that an editor gets.

use std::fmt::Display;

use agent_client_protocol::{Error, ErrorCode};
use petalflow::error::message_with_sources;
use petalflow::thread::ThreadError;

/// Why a connection with an editor has ended.
///
/// ```
/// use petalflow_acp::AcpError;
///
/// fn log(error: &AcpError) {
///     eprintln!("{error}");
/// }
/// # let _ = log;
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AcpError {
    /// The pipes to the editor failed, or what came over them is not the protocol.
    #[error("the connection with the editor failed: {problem}")]
    Connection {
        /// What failed.
        problem: String,
    },
}

impl From<Error> for AcpError {
    fn from(error: Error) -> Self {
        AcpError::Connection {
            problem: error.to_string(),
        }
    }
}

/// A request that cannot be fulfilled as it is.
pub(crate) fn unfit(text: impl Display) -> Error {
    Error::new(ErrorCode::INVALID_PARAMS, text.to_string())
}

/// A request that does not fit what the session does now.
pub(crate) fn conflict(text: impl Display) -> Error {
    Error::new(ErrorCode::INVALID_REQUEST, text.to_string())
}

/// A session that does not exist, or is not open.
pub(crate) fn no_session(text: impl Display) -> Error {
    Error::new(ErrorCode::RESOURCE_NOT_FOUND, text.to_string())
}

/// The failure of a run, a store or a program.
pub(crate) fn failed(error: &(dyn std::error::Error + 'static)) -> Error {
    Error::new(ErrorCode::INTERNAL_ERROR, message_with_sources(error))
}

/// The failure of a store.
pub(crate) fn of_thread(error: ThreadError) -> Error {
    failed(&error)
}
