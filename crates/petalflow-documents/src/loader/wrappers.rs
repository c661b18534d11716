//! Nodes around the nodes of documents.

use serde_json::Value;

use crate::kinds::{AnyNode, Call, Decide, EnvelopeNode};
use crate::{Changes, NodeKind, RouteDecision};
use petalflow::{BoxError, async_trait};

/// A node whose result is stored in a second variable too.
pub(super) struct Copied {
    node: AnyNode,
    from: String,
    to: String,
}

impl Copied {
    pub(super) fn new(node: impl EnvelopeNode, from: String, to: String) -> Self {
        Copied {
            node: AnyNode::new(node),
            from,
            to,
        }
    }
}

#[async_trait]
impl EnvelopeNode for Copied {
    fn kind(&self) -> NodeKind {
        self.node.kind()
    }

    async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError> {
        let changes = self.node.process(call).await?;
        let value = changes
            .vars()
            .get(&self.from)
            .or(call.envelope.get_var(&self.from));
        let value = value.cloned();
        Ok(match value {
            Some(value) => changes.var(&self.to, value),
            None => changes,
        })
    }
}

/// A node that fails if a person did not approve.
pub(super) struct Approved {
    node: AnyNode,
    variable: String,
    task: String,
}

impl Approved {
    pub(super) fn new(node: impl EnvelopeNode, variable: String, task: &str) -> Self {
        Approved {
            node: AnyNode::new(node),
            variable,
            task: task.to_owned(),
        }
    }
}

#[async_trait]
impl EnvelopeNode for Approved {
    fn kind(&self) -> NodeKind {
        self.node.kind()
    }

    async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError> {
        let changes = self.node.process(call).await?;
        if changes.vars().get(&self.variable) == Some(&Value::Bool(false)) {
            return Err(format!(
                "node `{}`: the result of task `{}` was rejected",
                call.name, self.task
            )
            .into());
        }
        Ok(changes)
    }
}

/// A node that chooses, some of whose choices end the path.
pub(super) struct Ending<N> {
    node: N,
    /// The choices that lead to nodes.
    leading: Vec<String>,
}

impl<N: Decide> Ending<N> {
    /// The choices in `leading` lead to nodes. Others end the path.
    pub(super) fn new(node: N, leading: impl Fn(&str) -> bool) -> Self {
        let leading = node
            .targets()
            .into_iter()
            .filter(|choice| leading(choice))
            .collect();
        Ending { node, leading }
    }
}

#[async_trait]
impl<N: Decide + EnvelopeNode> Decide for Ending<N> {
    fn targets(&self) -> Vec<String> {
        self.leading.clone()
    }

    async fn decide(&self, call: Call<'_>) -> Result<(RouteDecision, Changes), BoxError> {
        let (mut decision, changes) = self.node.decide(call).await?;
        decision
            .targets
            .retain(|target| self.leading.contains(target));
        Ok((decision, changes))
    }
}

#[async_trait]
impl<N: Decide + EnvelopeNode> EnvelopeNode for Ending<N> {
    fn kind(&self) -> NodeKind {
        self.node.kind()
    }

    fn router(&self) -> Option<&dyn Decide> {
        Some(self)
    }

    async fn process(&self, call: Call<'_>) -> Result<Changes, BoxError> {
        self.node.process(call).await
    }
}
