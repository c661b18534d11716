//! The catalog of names that documents can use: node types, tools, providers.

use std::collections::{BTreeMap, BTreeSet};

/// The types of nodes, and their outputs. `conditional` has an output for each of its conditions.
pub(crate) const NODE_TYPES: &[(&str, &[&str])] = &[
    ("cache", &["output"]),
    ("conditional", &[]),
    ("filter", &["output"]),
    ("func", &["output"]),
    ("gate", &["output"]),
    ("guardian", &["output", "result"]),
    ("human", &["output", "response"]),
    ("llm_prompt", &["output"]),
    ("llm_router", &["output", "decision"]),
    ("map", &["output"]),
    ("merge", &["output"]),
    ("noop", &["output"]),
    ("rule_router", &["output", "decision"]),
    ("tool", &["output"]),
    ("transform", &["output"]),
    ("webhook_call", &["output"]),
    ("webhook_trigger", &["output"]),
];

/// The providers of PetalFlow and of `petalflow-llm`.
const PROVIDERS: &[&str] = &[
    "aihubmix",
    "aliyun",
    "anthropic",
    "azure",
    "azure_resp",
    "bedrock",
    "bigmodel",
    "cerebras",
    "cohere",
    "deepseek",
    "fireworks",
    "gemini",
    "github",
    "google",
    "groq",
    "hugging_face",
    "kimi",
    "llama_cpp",
    "lm_studio",
    "minimax",
    "mistral",
    "moonshot",
    "nebius",
    "nvidia",
    "ollama",
    "ollama_cloud",
    "open_router",
    "openai",
    "openai_resp",
    "perplexity",
    "qwen_cloud",
    "requesty",
    "together",
    "vertex",
    "vllm",
    "xai",
    "xai_resp",
    "zai",
];

/// Who calls a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolMode {
    /// A model.
    FunctionCall,
    /// A node.
    Standalone,
}

/// A tool that documents can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolEntry {
    pub(crate) mode: ToolMode,
    pub(crate) inputs: Vec<String>,
}

/// The names that documents can use in addition to the node types of petalflow: tools and providers.
///
/// A catalog without tools accepts any tool of an agent, because the program that runs the document supplies the tools.
///
/// ```
/// use petalflow_document_model::documents::{Catalog, ToolMode};
///
/// let catalog = Catalog::default()
///     .tool("search", ToolMode::FunctionCall)
///     .tool_with_inputs("s3.download", ToolMode::Standalone, ["bucket", "key"])
///     .provider("in_house");
/// # let _ = catalog;
/// ```
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    tools: BTreeMap<String, ToolEntry>,
    providers: BTreeSet<String>,
}

impl Catalog {
    /// Adds a tool, as `name` or `name.action`.
    #[must_use]
    pub fn tool(self, name: impl Into<String>, mode: ToolMode) -> Self {
        self.tool_with_inputs(name, mode, [] as [String; 0])
    }

    /// Adds a tool with the names of its arguments. As a node it takes each from the variable of that name.
    #[must_use]
    pub fn tool_with_inputs<S: Into<String>>(
        mut self,
        name: impl Into<String>,
        mode: ToolMode,
        inputs: impl IntoIterator<Item = S>,
    ) -> Self {
        let inputs = inputs.into_iter().map(Into::into).collect();
        self.tools.insert(name.into(), ToolEntry { mode, inputs });
        self
    }

    /// Adds a provider of models.
    #[must_use]
    pub fn provider(mut self, name: impl Into<String>) -> Self {
        self.providers.insert(name.into());
        self
    }

    pub(crate) fn has_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    pub(crate) fn tool_entry(&self, name: &str) -> Option<&ToolEntry> {
        self.tools.get(name)
    }

    pub(crate) fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// The references `name.action` of a tool.
    pub(crate) fn actions<'a>(&'a self, tool: &'a str) -> impl Iterator<Item = &'a str> {
        let is_action = move |name: &&str| name.split_once('.').is_some_and(|(of, _)| of == tool);
        self.tool_names().filter(is_action)
    }

    pub(crate) fn providers(&self) -> impl Iterator<Item = &str> {
        PROVIDERS
            .iter()
            .copied()
            .chain(self.providers.iter().map(String::as_str))
    }
}

/// The outputs of a node type, or nothing if the type is unknown.
pub(crate) fn outputs(kind: &str) -> Option<&'static [&'static str]> {
    NODE_TYPES
        .iter()
        .find(|(name, _)| *name == kind)
        .map(|(_, outputs)| *outputs)
}
