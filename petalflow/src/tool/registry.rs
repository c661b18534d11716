//! Tools that are looked up by name at run time.

use std::sync::{Arc, PoisonError, RwLock};

use super::{Tool, ToolSet};

/// A set of tools that can change while it is used. Clones share it, and tools are looked up at the moment of the call.
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
    /// Creates a registry without tools.
    ///
    /// ```
    /// assert!(petalflow::tool::ToolRegistry::new().list().is_empty());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool. Returns the tool of the same name that it replaces.
    pub fn register(&self, tool: impl Tool) -> Option<Arc<dyn Tool>> {
        // The set is consistent after a panic: no user code runs under the lock.
        let mut set = self.0.write().unwrap_or_else(PoisonError::into_inner);
        set.register(tool)
    }

    /// The tool with this name.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools().get(name).cloned()
    }

    /// All names, sorted.
    pub fn list(&self) -> Vec<String> {
        self.tools().names().map(Into::into).collect()
    }

    /// The current tools.
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
