//! The trait that providers implement.

use super::{LlmError, LlmRequest, LlmResponse, LlmStream};
use crate::middleware::BoxFuture;

/// Something that answers requests: a provider's model, or a script.
///
/// To drop a future or a stream cancels the call and closes its connection.
pub trait LlmClient: Send + Sync + 'static {
    /// The name of whoever answers, such as `openai`; the model's where there is one.
    fn name(&self) -> &str;

    /// What it can do.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    /// The whole answer.
    fn complete<'a>(
        &'a self,
        request: &'a LlmRequest,
    ) -> BoxFuture<'a, Result<LlmResponse, LlmError>>;

    /// The answer piece by piece. What fails before the first piece is an error; what fails later stands in the last piece.
    fn stream<'a>(&'a self, request: &'a LlmRequest) -> BoxFuture<'a, Result<LlmStream, LlmError>>;
}

/// What a client can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// It keeps to a `json_schema` while it has tools.
    pub schema_with_tools: bool,
}
