//! Sets of tools.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::layer::{Layered, ToolLayer};
use super::{Tool, ToolSpec};

/// A set of tools with different names. Clones share them.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::tool::FuncTool;
/// use serde_json::Value;
///
/// /// Searches the library.
/// #[tool]
/// fn search(query: String) -> String {
///     format!("a book about {query}")
/// }
///
/// let ping = FuncTool::new("ping", "Answers.", |_: Value| async { Ok("pong") });
/// let tools = tools![search].with(ping);
/// assert_eq!(tools.names().collect::<Vec<_>>(), ["ping", "search"]);
/// assert!(tools.get("fetch").is_none());
/// ```
#[derive(Clone, Default)]
pub struct ToolSet(Arc<BTreeMap<String, Arc<dyn Tool>>>);

impl fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl ToolSet {
    /// Creates a set without tools.
    ///
    /// ```
    /// assert!(petalflow::tool::ToolSet::new().is_empty());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool, and replaces one with the same name.
    #[must_use]
    pub fn with(mut self, tool: impl Tool) -> Self {
        self.register(tool);
        self
    }

    /// Adds a tool. Returns the tool of the same name that it replaces.
    ///
    /// ```
    /// use petalflow::tool::{FuncTool, ToolSet};
    /// use serde_json::Value;
    ///
    /// let mut tools = ToolSet::new();
    /// tools.register(FuncTool::new("ping", "Answers.", |_: Value| async { Ok("pong") }));
    /// let old = tools.register(FuncTool::new("ping", "Answers loudly.", |_: Value| async { Ok("PONG") }));
    /// assert_eq!(old.unwrap().spec().description, "Answers.");
    /// assert_eq!(tools.len(), 1);
    /// ```
    pub fn register(&mut self, tool: impl Tool) -> Option<Arc<dyn Tool>> {
        self.insert(Arc::new(tool))
    }

    fn insert(&mut self, tool: Arc<dyn Tool>) -> Option<Arc<dyn Tool>> {
        let name = tool.spec().name.clone();
        Arc::make_mut(&mut self.0).insert(name, tool)
    }

    /// The tool with this name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.0.get(name)
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// All tools, sorted by name.
    ///
    /// ```
    /// use petalflow::tool::{FuncTool, ToolSet};
    /// use serde_json::Value;
    ///
    /// let tools = ToolSet::new().with(FuncTool::new("ping", "Answers.", |_: Value| async { Ok("pong") }));
    /// assert!(tools.iter().all(|tool| !tool.spec().description.is_empty()));
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.0.values()
    }

    /// The descriptions of the tools for models, sorted by name.
    ///
    /// ```
    /// use petalflow::tool::{FuncTool, ToolSet};
    /// use serde_json::Value;
    ///
    /// let tools = ToolSet::new().with(FuncTool::new("ping", "Answers.", |_: Value| async { Ok("pong") }));
    /// assert_eq!(tools.specs()[0].name, "ping");
    /// ```
    pub fn specs(&self) -> Arc<[Arc<ToolSpec>]> {
        self.iter().map(|tool| Arc::clone(tool.spec())).collect()
    }

    /// Wraps all tools in one layer. A counter of the layer counts the calls of all tools together.
    ///
    /// ```
    /// use petalflow::tool::layer::TimeoutLayer;
    /// use petalflow::tool::{FuncTool, ToolSet};
    /// use serde_json::Value;
    /// use std::time::Duration;
    ///
    /// let ping = FuncTool::new("ping", "Answers.", |_: Value| async { Ok("pong") });
    /// let tools = ToolSet::new().with(ping).layer(TimeoutLayer::new(Duration::from_secs(1)));
    /// assert!(tools.get("ping").is_some());
    /// ```
    #[must_use]
    pub fn layer(&self, layer: impl ToolLayer) -> Self {
        let layer: Arc<dyn ToolLayer> = Arc::new(layer);
        let layered = self.iter().map(|tool| -> Arc<dyn Tool> {
            Arc::new(Layered::new(Arc::clone(tool), Arc::clone(&layer)))
        });
        layered.collect()
    }

    /// The number of tools.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Arc<dyn Tool>> for ToolSet {
    fn from_iter<I: IntoIterator<Item = Arc<dyn Tool>>>(tools: I) -> Self {
        let mut set = ToolSet::new();
        set.extend(tools);
        set
    }
}

impl Extend<Arc<dyn Tool>> for ToolSet {
    fn extend<I: IntoIterator<Item = Arc<dyn Tool>>>(&mut self, tools: I) {
        for tool in tools {
            self.insert(tool);
        }
    }
}

impl IntoIterator for ToolSet {
    type Item = Arc<dyn Tool>;
    type IntoIter = std::vec::IntoIter<Arc<dyn Tool>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter().cloned().collect::<Vec<_>>().into_iter()
    }
}
