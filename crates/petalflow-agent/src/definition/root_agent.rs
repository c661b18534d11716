//! The agent that takes the turns of a flow, with the tree of the agents below it.

use std::fmt;
use std::sync::{Arc, OnceLock};

use super::{AgentTree, Definition};
use crate::AgentError;

/// The agent that takes the turns of a flow.
pub(crate) struct RootAgent {
    pub(crate) definition: Arc<Definition>,
    /// Made when a turn first needs it. It is not in the definition, because it has the definition itself: neither would ever be
    /// freed.
    tree: OnceLock<Arc<AgentTree>>,
}

impl RootAgent {
    pub(crate) fn new(definition: Arc<Definition>) -> Self {
        RootAgent {
            definition,
            tree: OnceLock::new(),
        }
    }

    /// The root of this tree.
    pub(crate) fn of_tree(tree: &Arc<AgentTree>) -> Self {
        RootAgent {
            definition: Arc::clone(tree.agent(AgentTree::ROOT)),
            tree: OnceLock::from(Arc::clone(tree)),
        }
    }

    /// The agent and the agents below it.
    pub(crate) fn tree(&self) -> Result<Arc<AgentTree>, AgentError> {
        if let Some(tree) = self.tree.get() {
            return Ok(Arc::clone(tree));
        }
        let tree = Arc::new(AgentTree::of(&self.definition)?);
        Ok(Arc::clone(self.tree.get_or_init(|| tree)))
    }
}

impl fmt::Debug for RootAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.definition.fmt(f)
    }
}
