//! Tools that are found by name while a flow runs.

use std::sync::{Arc, PoisonError, RwLock};

use super::{Tool, ToolSet};

/// A set of tools that may change while it is in use: whoever holds a clone finds tools by name at the moment of the call.
///
/// ```
/// use petalflow::tool::{FuncTool, ToolRegistry};
/// use serde_json::Value;
///
/// let registry = ToolRegistry::new();
/// let elsewhere = registry.clone();
/// registry.register(FuncTool::new("ping", "Answers.", |_: Value| async { Ok("pong") }));
/// assert!(elsewhere.get("ping").is_some());
/// assert_eq!(elsewhere.list(), ["ping"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ToolRegistry(Arc<RwLock<ToolSet>>);

impl ToolRegistry {
    /// A registry without tools.
    ///
    /// ```
    /// assert!(petalflow::tool::ToolRegistry::new().list().is_empty());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool. Returns the one of the same name whose place it takes.
    pub fn register(&self, tool: impl Tool) -> Option<Arc<dyn Tool>> {
        // A set is whole after a panic as well: nothing of a user's runs under the lock.
        let mut set = self.0.write().unwrap_or_else(PoisonError::into_inner);
        set.register(tool)
    }

    /// The tool of this name.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools().get(name).cloned()
    }

    /// All names, sorted.
    pub fn list(&self) -> Vec<String> {
        self.tools().names().map(Into::into).collect()
    }

    /// The tools of this moment.
    ///
    /// ```
    /// use petalflow::tool::{FuncTool, ToolRegistry};
    /// use serde_json::Value;
    ///
    /// let registry = ToolRegistry::new();
    /// let before = registry.tools();
    /// registry.register(FuncTool::new("ping", "Answers.", |_: Value| async { Ok("pong") }));
    /// assert_eq!((before.len(), registry.tools().len()), (0, 1));
    /// ```
    pub fn tools(&self) -> ToolSet {
        let set = self.0.read().unwrap_or_else(PoisonError::into_inner);
        set.clone()
    }
}

impl From<ToolSet> for ToolRegistry {
    fn from(tools: ToolSet) -> Self {
        ToolRegistry(Arc::new(RwLock::new(tools)))
    }
}
