//! The models, tools and functions that a graph needs to run.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::documents::catalog;
use crate::documents::graph::{GraphDefinition, NodeDefinition};
use crate::documents::rules::{inner_node_setting, normalized};

/// What the nodes of a graph need from the program that runs it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The providers of models that nodes name.
    pub providers: BTreeSet<String>,
    /// The tools that nodes and their models call.
    pub tools: BTreeSet<String>,
    /// Whether a node asks a person.
    pub human: bool,
    /// Whether a node asks a model and names no provider.
    pub any_model: bool,
    /// The nodes of type `func`, which are functions of the program.
    pub functions: BTreeSet<String>,
}

impl GraphDefinition {
    /// What the nodes need.
    ///
    /// ```
    /// use petalflow_document_model::documents::GraphDefinition;
    /// use serde_json::json;
    ///
    /// let graph: GraphDefinition = serde_json::from_value(json!({
    ///     "id": "g", "version": "1", "edges": [],
    ///     "nodes": [{ "id": "a", "type": "llm_prompt", "config": { "provider": "openai" } }],
    /// }))?;
    /// assert!(graph.needs().providers.contains("openai"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn needs(&self) -> Needs {
        let mut needs = Needs::default();
        for node in &self.nodes {
            if node.kind == "func" {
                needs.functions.insert(node.id.clone());
            }
            add(&node.kind, &node.config, &mut needs, 0);
        }
        needs
    }
}

fn add(kind: &str, config: &Map<String, Value>, needs: &mut Needs, depth: usize) {
    let text = |name: &str| config.get(name).and_then(Value::as_str).map(str::to_owned);
    match kind {
        "llm_prompt" | "llm_router" => {
            match text("provider") {
                Some(provider) => drop(needs.providers.insert(provider)),
                None => needs.any_model = true,
            }
            if kind == "llm_prompt" {
                let tools = config.get("tools").and_then(Value::as_array);
                let names = tools.into_iter().flatten().filter_map(Value::as_str);
                needs.tools.extend(names.map(str::to_owned));
            }
        }
        "tool" => needs
            .tools
            .extend(text("tool_name").map(|tool| match text("action_name") {
                Some(action) => format!("{tool}.{action}"),
                None => tool,
            })),
        "human" => needs.human = true,
        other if catalog::outputs(other).is_none() => {
            needs.tools.insert(other.to_owned());
        }
        _ => {}
    }
    let inner = inner_node_setting(kind).and_then(|name| config.get(name)?.as_object());
    if let Some(inner) = inner
        && let (Some(Value::String(kind)), depth @ ..8) = (inner.get("type"), depth)
    {
        let empty = Map::new();
        let config = inner
            .get("config")
            .and_then(Value::as_object)
            .unwrap_or(&empty);
        add(kind, config, needs, depth + 1);
    }
}

impl NodeDefinition {
    /// The settings in the form of the Rust types of `petalflow-documents`: without unknown ones, and with PetalFlow's
    /// defaults. The settings of a checked node can be read from it.
    ///
    /// ```
    /// use petalflow_document_model::documents::NodeDefinition;
    /// use serde_json::json;
    ///
    /// let node: NodeDefinition = serde_json::from_value(json!({
    ///     "id": "a", "type": "transform",
    ///     "config": { "transform": "template", "template": "{{.x}}", "output_var": "y", "colour": "red" },
    /// }))?;
    /// let settings = node.settings();
    /// assert_eq!((&settings["template"], settings.get("colour")), (&json!("{{.x}}"), None));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn settings(&self) -> Map<String, Value> {
        to_types(&self.kind, normalized(&self.kind, &self.config))
    }
}

/// Settings that the types do not have: the loader reads them from the document.
const OF_DOCUMENTS: [&str; 4] = ["action_name", "task_id", "tool_config", "tools"];

/// Gives checked settings the form that the Rust types read.
pub(crate) fn to_types(kind: &str, mut settings: Map<String, Value>) -> Map<String, Value> {
    remove_unread(kind, &mut settings, 0);
    settings
}

fn remove_unread(kind: &str, settings: &mut Map<String, Value>, depth: usize) {
    if catalog::outputs(kind).is_some() {
        settings.retain(|name, _| !OF_DOCUMENTS.contains(&name.as_str()));
    }
    if depth >= 8 {
        return;
    }
    if let Some(Value::Object(item)) = settings.get_mut("item_transform") {
        remove_unread(kind, item, depth + 1);
    }
    let inner = inner_node_setting(kind).and_then(|name| settings.get_mut(name)?.as_object_mut());
    if let Some(inner) = inner
        && let Some(kind) = inner.get("type").and_then(Value::as_str).map(str::to_owned)
        && let Some(Value::Object(config)) = inner.get_mut("config")
    {
        remove_unread(&kind, config, depth + 1);
    }
}
