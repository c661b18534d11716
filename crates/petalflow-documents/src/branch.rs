//! The result of a branch.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Artifact, Envelope, NodeFailure};
use petalflow_llm::ChatMessage;

/// The result of a branch: what an envelope contains at its end. A [`MergeNode`](crate::kinds::MergeNode) merges the
/// branches that are open when it runs.
///
/// A sub-flow is a branch if it returns one, as here. For a single node use [`BranchNode`](crate::kinds::BranchNode).
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow_documents::kinds::{MergeConfig, MergeNode};
/// use petalflow_documents::{Branch, Changes, Envelope};
///
/// #[node(Envelope)]
/// async fn one() -> Changes {
///     Changes::new().var("n", 1)
/// }
///
/// #[node(Envelope)]
/// async fn two() -> Changes {
///     Changes::new().var("n", 2)
/// }
///
/// flow!(Left(Envelope) { one });
/// flow!(Right(Envelope) { two });
///
/// flow! {
///     Both(Envelope) {
///         START -> left & right;
///         left & right -> merge;
///         node left: Left { in: |e: &Envelope| e.clone(), out: |e: Envelope| Branch::new("left", e) };
///         node right: Right { in: |e: &Envelope| e.clone(), out: |e: Envelope| Branch::new("right", e) };
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Branch {
    /// The name of the branch.
    pub name: String,
    /// The variables.
    pub vars: Map<String, Value>,
    /// The artifacts.
    pub artifacts: Vec<Artifact>,
    /// The messages.
    pub messages: Vec<ChatMessage>,
    /// The error records.
    pub errors: Vec<NodeFailure>,
}

impl Branch {
    /// Creates a branch from the envelope at its end.
    pub fn new(name: impl Into<String>, envelope: Envelope) -> Self {
        Branch {
            name: name.into(),
            vars: envelope.vars,
            artifacts: envelope.artifacts,
            messages: envelope.messages,
            errors: envelope.errors,
        }
    }
}
