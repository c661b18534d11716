//! Nodes around the nodes of documents.

use std::sync::Arc;

use serde_json::Value;

use crate::kinds::{AnyNode, Call, Decide, EnvelopeNode};
use crate::{Changes, Envelope, NodeKind};
use petalflow::node::Routes;
use petalflow::{BoxError, Context, async_trait, node};

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
        let value = changes.vars().get(&self.from).or(call.envelope.get_var(&self.from));
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
            return Err(format!("node `{}`: the result of task `{}` was rejected", call.name, self.task).into());
        }
        Ok(changes)
    }
}

/// A node that takes the edges of its choices.
#[derive(Clone)]
pub(super) struct Chooser {
    node: Arc<dyn Decide>,
    /// The next nodes of each choice. A choice without any ends the path.
    next: Arc<[(String, Vec<String>)]>,
}

impl Chooser {
    pub(super) fn new(node: Arc<dyn Decide>, next: Vec<(String, Vec<String>)>) -> Self {
        Chooser {
            node,
            next: next.into(),
        }
    }
}

#[node(Envelope)]
impl Chooser {
    async fn run(&self, envelope: &Envelope, cx: Context) -> petalflow::Result<(Changes, Routes)> {
        let call = Call {
            name: cx.node(),
            envelope,
            cx: &cx,
        };
        let (decision, changes) = self.node.decide(call).await?;
        let chosen = self.next.iter().filter(|(choice, _)| decision.targets.contains(choice));
        let names: Vec<String> = chosen.flat_map(|(_, names)| names.iter().cloned()).collect();
        cx.emit_with(|| petalflow::event::CustomEvent::new(decision));
        Ok((changes, names.into_iter().collect::<Routes>()))
    }
}
