//! The work of functions that a program serves besides tools.

use std::future::Future;

use rmcp::ErrorData;

use petalflow::BoxError;
use petalflow::error::{catch_panic, message_with_sources};

/// Turns an error and a panic of a function into an error for the client, which waits for an answer. `what` is what failed.
pub(super) async fn answered<T>(
    what: &str,
    work: impl Future<Output = Result<T, BoxError>>,
) -> Result<T, ErrorData> {
    let failed = |problem: String| ErrorData::internal_error(format!("{what}: {problem}"), None);
    match catch_panic(work).await {
        Ok(result) => result.map_err(|error| failed(message_with_sources(&*error))),
        Err(panicked) => Err(failed(panicked.to_string())),
    }
}
