//! The trait `HumanHandler`: a way to ask a person.

use std::sync::Arc;

use super::{HumanRequest, HumanResponse};
use petalflow::{BoxError, Context, async_trait};

/// A way to ask a person.
///
/// Implementations: [`AutoHandler`](super::AutoHandler), [`FuncHandler`](super::FuncHandler),
/// [`ChannelHandler`](super::ChannelHandler), [`QueuedHandler`](super::QueuedHandler),
/// [`ThreadHandler`](super::ThreadHandler).
///
/// ```
/// use petalflow::{BoxError, Context, async_trait};
/// use petalflow_documents::kinds::{HumanConfig, HumanHandler, HumanNode, HumanRequest, HumanResponse};
///
/// struct ApproveAll;
///
/// #[async_trait]
/// impl HumanHandler for ApproveAll {
///     async fn request(&self, request: HumanRequest, _: &Context) -> Result<Option<HumanResponse>, BoxError> {
///         Ok(Some(HumanResponse { request_id: request.id, approved: true, ..HumanResponse::default() }))
///     }
/// }
/// assert!(HumanNode::new(HumanConfig::default()).map(|node| node.handler(ApproveAll)).is_ok());
/// ```
#[async_trait]
pub trait HumanHandler: Send + Sync + 'static {
    /// Asks, and returns the response, or `None` if the time is over. The node drops the future after its timeout.
    ///
    /// # Errors
    ///
    /// If the person cannot be asked. The node then fails.
    async fn request(
        &self,
        request: HumanRequest,
        cx: &Context,
    ) -> Result<Option<HumanResponse>, BoxError>;
}

#[async_trait]
impl<H: HumanHandler + ?Sized> HumanHandler for Arc<H> {
    async fn request(
        &self,
        request: HumanRequest,
        cx: &Context,
    ) -> Result<Option<HumanResponse>, BoxError> {
        (**self).request(request, cx).await
    }
}
