//! A node as a branch of its own.

use std::fmt;
use std::sync::Arc;

use crate::kinds::{Call, EnvelopeNode};
use crate::{Branch, Changes, NodeKind};
use petalflow::{BoxError, async_trait};

/// A node as a branch: its changes are stored as a [`Branch`] with the name of the node, and only the
/// [`MergeNode`](crate::kinds::MergeNode) after it applies them. Other nodes do not see them before.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_documents::kinds::{BranchNode, FuncNode, MergeConfig, MergeNode};
/// use petalflow_documents::{Changes, Envelope};
///
/// fn set(value: i64) -> BranchNode {
///     BranchNode::new(FuncNode::new(move |_| async move { Ok(Changes::new().var("n", value)) }))
/// }
///
/// flow! {
///     Both(Envelope) {
///         START -> one & two;
///         one & two -> merge;
///         node one: BranchNode = set(1);
///         node two: BranchNode = set(2);
///         node merge: MergeNode = MergeNode::new(MergeConfig::default());
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// assert_eq!(Both::run(Envelope::new()).await?.get_var("n"), Some(&2.into()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct BranchNode(Arc<dyn EnvelopeNode>);

impl fmt::Debug for BranchNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BranchNode").field(&self.0.kind()).finish()
    }
}

impl BranchNode {
    /// Makes this node a branch.
    pub fn new(node: impl EnvelopeNode) -> Self {
        BranchNode(Arc::new(node))
    }
}

#[async_trait]
impl EnvelopeNode for BranchNode {
    fn kind(&self) -> NodeKind {
        self.0.kind()
    }

    async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError> {
        let mut end = call.envelope.clone();
        self.0.process(call).await?.apply_to(&mut end);
        Ok(Changes::new().branch(Branch::new(call.name, end)))
    }
}
