//! The services that a program supplies to documents: models, tools, functions, a cache, a way to ask people.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::document::{Catalog, ToolMode};
use crate::kinds::{AnyNode, CacheStore, EnvelopeNode, HumanHandler, MemoryCacheStore};
use petalflow::tool::Tool;
use petalflow_llm::LlmClient;

/// What the nodes of a document use: models, tools, the handler that asks people, functions, and a cache.
///
/// ```
/// use petalflow_documents::Services;
/// use petalflow_documents::kinds::AutoHandler;
/// use petalflow_llm::ScriptedModel;
///
/// let services = Services::new()
///     .model("openai", ScriptedModel::new(["Hello."]))
///     .human(AutoHandler::approve());
/// # let _ = services;
/// ```
#[derive(Clone, Default)]
pub struct Services {
    models: BTreeMap<String, Arc<dyn LlmClient>>,
    any_model: Option<Arc<dyn LlmClient>>,
    tools: BTreeMap<String, Arc<dyn Tool>>,
    human: Option<Arc<dyn HumanHandler>>,
    functions: BTreeMap<String, AnyNode>,
    pub(super) cache: Shared,
}

/// The cache of all nodes of a graph. The keys begin with the names of nodes.
#[derive(Clone)]
pub(super) struct Shared(pub(super) Arc<dyn CacheStore>);

impl Default for Shared {
    fn default() -> Self {
        Shared(Arc::new(MemoryCacheStore::new()))
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Services")
            .field("models", &self.models.keys())
            .field("tools", &self.tools.keys())
            .field("functions", &self.functions.keys())
            .finish_non_exhaustive()
    }
}

impl Services {
    /// Creates a set with nothing in it but a cache in memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// The model of a provider. The nodes name the model that it is asked for.
    #[must_use]
    pub fn model(mut self, provider: impl Into<String>, client: impl LlmClient) -> Self {
        self.models.insert(provider.into(), Arc::new(client));
        self
    }

    /// The model of all other providers, and of nodes that name none.
    ///
    /// ```
    /// use petalflow_documents::Services;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// let services = Services::new().any_model(ScriptedModel::new(["Hello."]));
    /// # let _ = services;
    /// ```
    #[must_use]
    pub fn any_model(mut self, client: impl LlmClient) -> Self {
        self.any_model = Some(Arc::new(client));
        self
    }

    /// A tool under its own name.
    #[must_use]
    pub fn tool(self, tool: impl Tool) -> Self {
        let name = tool.spec().name.clone();
        self.tool_as(name, tool)
    }

    /// A tool under another name, such as the `name.action` of a document.
    ///
    /// ```
    /// use petalflow::tool::FuncTool;
    /// use petalflow_documents::Services;
    ///
    /// let list = FuncTool::new("list", "Lists files.", |_: serde_json::Value| async { Ok(["a.txt"]) });
    /// let services = Services::new().tool_as("s3.list", list);
    /// # let _ = services;
    /// ```
    #[must_use]
    pub fn tool_as(mut self, name: impl Into<String>, tool: impl Tool) -> Self {
        self.tools.insert(name.into(), Arc::new(tool));
        self
    }

    /// Sets the handler that asks people.
    #[must_use]
    pub fn human(mut self, handler: impl HumanHandler) -> Self {
        self.human = Some(Arc::new(handler));
        self
    }

    /// The function of a node of type `func`, by the name of the node.
    ///
    /// ```
    /// use petalflow_documents::Changes;
    /// use petalflow_documents::Services;
    /// use petalflow_documents::kinds::FuncNode;
    ///
    /// let count = FuncNode::new(|envelope| async move { Ok(Changes::new().var("n", envelope.vars.len())) });
    /// let services = Services::new().function("count", count);
    /// # let _ = services;
    /// ```
    #[must_use]
    pub fn function(mut self, node: impl Into<String>, function: impl EnvelopeNode) -> Self {
        self.functions.insert(node.into(), AnyNode::new(function));
        self
    }

    /// Where the nodes of type `cache` store results. The default is the memory of this process.
    ///
    /// ```
    /// use petalflow_documents::Services;
    /// use petalflow_documents::kinds::MemoryCacheStore;
    /// use std::sync::Arc;
    ///
    /// // Several graphs share the results.
    /// let store = Arc::new(MemoryCacheStore::new());
    /// let drafts = Services::new().cache(Arc::clone(&store));
    /// let reviews = Services::new().cache(Arc::clone(&store));
    /// assert_eq!(Arc::strong_count(&store), 3);
    /// # let _ = (drafts, reviews);
    /// ```
    #[must_use]
    pub fn cache(mut self, store: impl CacheStore) -> Self {
        self.cache = Shared(Arc::new(store));
        self
    }

    /// The names of the providers.
    pub(super) fn providers(&self) -> Catalog {
        let providers = self.models.keys();
        providers.fold(Catalog::default(), Catalog::provider)
    }

    /// The catalog with the tools as types of nodes.
    pub(super) fn and_tools(&self, catalog: Catalog) -> Catalog {
        let tools = self.tools.keys();
        tools.fold(catalog, |catalog, tool| {
            catalog.tool(tool, ToolMode::Standalone)
        })
    }

    pub(super) fn find_model(&self, provider: Option<&str>) -> Result<Arc<dyn LlmClient>, String> {
        let own = provider.and_then(|provider| self.models.get(provider));
        let found = own.or(self.any_model.as_ref()).cloned();
        found.ok_or_else(|| match provider {
            Some(provider) => {
                format!("there is no model for provider `{provider}`: add one with `Services::model`")
            }
            None => "it has no `provider`, and there is no model for all: add one with `Services::any_model`".into(),
        })
    }

    pub(super) fn find_tool(&self, name: &str) -> Result<Arc<dyn Tool>, String> {
        let found = self.tools.get(name).cloned();
        found.ok_or_else(|| format!("there is no tool `{name}`: add it with `Services::tool`"))
    }

    pub(super) fn find_human(&self) -> Result<Arc<dyn HumanHandler>, String> {
        let found = self.human.clone();
        found.ok_or_else(|| "nobody can be asked: add a handler with `Services::human`, such as `ThreadHandler`, with which a run on a thread waits for the answer".into())
    }

    pub(super) fn find_function(&self, node: &str) -> Result<AnyNode, String> {
        let found = self.functions.get(node).cloned();
        found.ok_or_else(|| "there is no function for it: add one with `Services::function`".into())
    }
}
