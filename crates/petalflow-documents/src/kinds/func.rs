//! A node made of a closure.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use super::{Call, EnvelopeNode};
use crate::{Changes, Envelope, NodeKind};
use petalflow::middleware::BoxFuture;
use petalflow::{BoxError, async_trait};

type Function = dyn Fn(Envelope) -> BoxFuture<'static, Result<Changes, BoxError>> + Send + Sync;

/// A node over an envelope, made of a closure. Without a closure it changes nothing.
///
/// The closure gets a clone of the envelope.
///
/// ```
/// use petalflow_documents::kinds::FuncNode;
/// use petalflow_documents::{Changes, Envelope, NodeKind};
/// use petalflow::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let double = FuncNode::new(|envelope: Envelope| async move {
///     let n = envelope.get_var("n").and_then(|n| n.as_i64()).ok_or("`n` is not a number")?;
///     Ok(Changes::new().var("n", 2 * n))
/// });
/// assert_eq!(double.kind(), &NodeKind::Noop);
///
/// let flow = Graph::<Envelope>::builder("double")
///     .node(double.with_kind(NodeKind::Transform))
///     .build()?;
/// let envelope = flow.run(Envelope::new().with_var("n", 4)).await?;
/// assert_eq!(envelope.get_var("n"), Some(&8.into()));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct FuncNode {
    kind: NodeKind,
    function: Option<Arc<Function>>,
}

impl fmt::Debug for FuncNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FuncNode")
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

impl FuncNode {
    /// Creates a node that calls this closure.
    pub fn new<R>(function: impl Fn(Envelope) -> R + Send + Sync + 'static) -> Self
    where
        R: Future<Output = Result<Changes, BoxError>> + Send + 'static,
    {
        FuncNode {
            kind: NodeKind::Noop,
            function: Some(Arc::new(move |envelope| Box::pin(function(envelope)))),
        }
    }

    /// Creates a node that does nothing.
    ///
    /// ```
    /// use petalflow_documents::NodeKind;
    /// use petalflow_documents::kinds::FuncNode;
    ///
    /// assert_eq!(FuncNode::noop().kind(), &NodeKind::Noop);
    /// ```
    pub fn noop() -> Self {
        FuncNode {
            kind: NodeKind::Noop,
            function: None,
        }
    }

    /// Sets the kind, which is information for a reader of the graph.
    #[must_use]
    pub fn with_kind(mut self, kind: NodeKind) -> Self {
        self.kind = kind;
        self
    }

    /// Returns the kind.
    pub fn kind(&self) -> &NodeKind {
        &self.kind
    }
}

#[async_trait]
impl EnvelopeNode for FuncNode {
    fn kind(&self) -> NodeKind {
        self.kind.clone()
    }

    async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError> {
        match &self.function {
            Some(function) => function(call.envelope.clone()).await,
            None => Ok(Changes::new()),
        }
    }
}
