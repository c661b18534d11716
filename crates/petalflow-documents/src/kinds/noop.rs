//! A node that does nothing.

use super::{Call, EnvelopeNode};
use crate::{Changes, NodeKind};
use petalflow::{BoxError, async_trait};

/// A node that changes nothing: a place in a graph where paths meet.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_documents::Envelope;
/// use petalflow_documents::kinds::NoopNode;
///
/// flow! {
///     Pass(Envelope) {
///         pass;
///         node pass: NoopNode = NoopNode;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let envelope = Pass::run(Envelope::new().with_var("a", 1)).await?;
/// assert_eq!(envelope.vars.len(), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NoopNode;

#[async_trait]
impl EnvelopeNode for NoopNode {
    fn kind(&self) -> NodeKind {
        NodeKind::Noop
    }

    async fn process(&self, _: Call<'_>) -> Result<Changes, BoxError> {
        Ok(Changes::new())
    }
}
