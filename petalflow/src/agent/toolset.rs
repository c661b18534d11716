//! Tools that an agent asks for when it needs them.

use super::ModelCall;
use crate::BoxError;
use crate::middleware::BoxFuture;
use crate::tool::Tool;
use std::sync::Arc;

/// Tools that an agent asks for before each call of its model.
pub trait Toolset: Send + Sync + 'static {
    /// The tools.
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Tool>>, BoxError>>;

    /// Changes the request, once the tools are in it. Most toolsets leave it as it is.
    fn process<'a>(&'a self, call: &'a mut ModelCall<'_>) -> BoxFuture<'a, Result<(), BoxError>> {
        let _ = call;
        Box::pin(std::future::ready(Ok(())))
    }
}
