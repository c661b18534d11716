//! From the settings of a document to nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::edges::{Edges, is_compiled};
use super::services::Services;
use super::wrappers::{Approved, Copied, Ending};
use crate::document::{GraphDefinition, NodeDefinition};
use crate::kinds::{
    AnyNode, CacheNode, ConditionalNode, FilterNode, GateNode, GuardianNode, HumanConfig,
    HumanNode, LlmConfig, LlmNode, LlmRouter, LlmRouterConfig, MapNode, MergeNode, NoopNode,
    RuleRouter, ToolConfig, ToolNode, TransformNode, WebhookTriggerNode,
};
use petalflow::tool::ToolSet;

/// The place of a node in its graph.
pub(super) struct Site<'g> {
    pub(super) graph: &'g GraphDefinition,
    pub(super) id: &'g str,
    pub(super) edges: &'g Edges<'g>,
    pub(super) services: &'g Services,
}

impl Site<'_> {
    /// Whether a choice leads to a node: an edge has its name, or leads to the node of its name.
    fn leads(&self, choice: &str) -> bool {
        let mut edges = self.edges.leaving(self.id).iter();
        edges.any(|edge| edge.source_handle == choice || edge.target == choice)
    }
}

/// Makes the node of a definition and its [settings](NodeDefinition::settings).
pub(super) fn build(
    node: &NodeDefinition,
    settings: Map<String, Value>,
    site: &Site<'_>,
) -> Result<AnyNode, String> {
    Ok(match node.kind.as_str() {
        "merge" => AnyNode::new(MergeNode::new(read(settings)?)),
        "conditional" => {
            let node = built(ConditionalNode::new(read(settings)?))?;
            AnyNode::new(Ending::new(node, |choice| site.leads(choice)))
        }
        "rule_router" => AnyNode::new(RuleRouter::new(read(settings)?)),
        "llm_router" => llm_router(settings, site)?,
        kind => plain(kind, &node.config, settings, site)?,
    })
}

/// A node that does not choose, also inside another one.
fn plain(
    kind: &str,
    config: &Map<String, Value>,
    mut settings: Map<String, Value>,
    site: &Site<'_>,
) -> Result<AnyNode, String> {
    Ok(match kind {
        "noop" => AnyNode::new(NoopNode),
        "filter" => AnyNode::new(built(FilterNode::new(read(settings)?))?),
        "transform" => AnyNode::new(built(TransformNode::new(read(settings)?))?),
        "gate" => AnyNode::new(built(GateNode::new(read(settings)?))?),
        "guardian" => AnyNode::new(built(GuardianNode::new(read(settings)?))?),
        "webhook_trigger" => AnyNode::new(built(WebhookTriggerNode::new(read(settings)?))?),
        #[cfg(feature = "http")]
        "webhook_call" => AnyNode::new(built(crate::kinds::WebhookCallNode::new(read(settings)?))?),
        #[cfg(not(feature = "http"))]
        "webhook_call" => {
            return Err(
                "type `webhook_call` needs the feature `http` of petalflow-documents".into(),
            );
        }
        "func" => site.services.find_function(site.id)?,
        "llm_prompt" => llm(config, settings, site)?,
        "human" => human(config, settings, site)?,
        "map" => {
            let inner = inner(&mut settings, "mapper_binding", config, site)?;
            AnyNode::new(MapNode::node(read(settings)?, inner))
        }
        "cache" => {
            let inner = inner(&mut settings, "wrapped_binding", config, site)?;
            let node = CacheNode::new(read(settings)?, inner);
            let node = built(node)?;
            AnyNode::new(node.store(Arc::clone(&site.services.cache.0)))
        }
        "tool" => {
            let mut tool: ToolConfig = read(settings)?;
            if let Some(Value::String(action)) = config.get("action_name") {
                tool.tool_name = format!("{}.{action}", tool.tool_name);
            }
            tool_node(tool, site)?
        }
        other => {
            // A tool as a type. Its name is that of the type; `tool_name` and `action_name` are ignored.
            let mut settings = settings;
            settings.retain(|name, _| {
                [
                    "args_template",
                    "static_args",
                    "required_args",
                    "output_key",
                    "timeout",
                    "retry",
                ]
                .contains(&name.as_str())
            });
            settings.insert("tool_name".into(), other.into());
            tool_node(read(settings)?, site)?
        }
    })
}

fn read<T: DeserializeOwned>(settings: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(settings)).map_err(|error| error.to_string())
}

fn built<T>(node: Result<T, crate::ConfigError>) -> Result<T, String> {
    node.map_err(|error| error.to_string())
}

fn tool_node(config: ToolConfig, site: &Site<'_>) -> Result<AnyNode, String> {
    let tool = site.services.find_tool(&config.tool_name)?;
    let registry = petalflow::tool::ToolRegistry::new();
    registry.register(tool);
    Ok(AnyNode::new(
        ToolNode::from_config(config).registry(registry),
    ))
}

/// The node inside a node.
fn inner(
    settings: &mut Map<String, Value>,
    name: &str,
    config: &Map<String, Value>,
    site: &Site<'_>,
) -> Result<AnyNode, String> {
    let missing = || format!("`{name}` is missing");
    let binding = settings.remove(name).ok_or_else(missing)?;
    let Some(Value::String(kind)) = binding.get("type") else {
        return Err(missing());
    };
    let settings = binding
        .get("config")
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    let raw = config
        .get(name)
        .and_then(|it| it.get("config"))
        .and_then(Value::as_object);
    let raw = raw.cloned().unwrap_or_default();
    plain(kind, &raw, settings, site).map_err(|problem| format!("`{name}`: {problem}"))
}

fn llm(
    config: &Map<String, Value>,
    settings: Map<String, Value>,
    site: &Site<'_>,
) -> Result<AnyNode, String> {
    let tools = tools(config, site)?;
    let config: LlmConfig = read(settings)?;
    let model = site.services.find_model(config.provider.as_deref())?;
    let output = config.output_key.clone();
    let node = built(LlmNode::from_config(config))?
        .model(model)
        .tools(&tools);
    Ok(match output {
        Some(output) if is_compiled(site.graph) => {
            AnyNode::new(Copied::new(node, output, format!("{}_output", site.id)))
        }
        _ => AnyNode::new(node),
    })
}

/// The tools that the model of a node may call.
fn tools(config: &Map<String, Value>, site: &Site<'_>) -> Result<ToolSet, String> {
    let names = config.get("tools").and_then(Value::as_array);
    let mut known: BTreeMap<String, &str> = BTreeMap::new();
    let mut tools = Vec::new();
    for name in names.into_iter().flatten().filter_map(Value::as_str) {
        let tool = site.services.find_tool(name)?;
        let own = tool.spec().name.clone();
        if let Some(other) = known.insert(own.clone(), name) {
            if other == name {
                continue;
            }
            return Err(format!(
                "its tools `{other}` and `{name}` have one name for the model, `{own}`; give one of them another name"
            ));
        }
        tools.push(tool);
    }
    Ok(tools.into_iter().collect())
}

fn human(
    config: &Map<String, Value>,
    settings: Map<String, Value>,
    site: &Site<'_>,
) -> Result<AnyNode, String> {
    let handler = site.services.find_human()?;
    let mut human: HumanConfig = read(settings)?;
    let task = config.get("task_id").and_then(Value::as_str);
    let Some((task, reviewed)) = task.zip(site.id.strip_suffix("__hitl")) else {
        return Ok(AnyNode::new(built(HumanNode::new(human))?.handler(handler)));
    };
    let result = format!("{reviewed}_output");
    if human.prompt.is_empty() && human.prompt_template.is_none() {
        human.prompt = format!("Approve the result of task `{task}`?");
        human.input_vars = vec![result.clone()];
    }
    if human.output_var.is_empty() {
        site.id.clone_into(&mut human.output_var);
    }
    let approved = format!("{}_approved", human.output_var);
    let node = built(HumanNode::new(human))?.handler(handler);
    let node = Copied::new(node, result, format!("{}_output", site.id));
    Ok(AnyNode::new(Approved::new(node, approved, task)))
}

/// A router without targets can choose each of the next nodes, and to end if they lead back to it.
fn llm_router(mut settings: Map<String, Value>, site: &Site<'_>) -> Result<AnyNode, String> {
    let has_targets = |it: &Value| it.as_object().is_some_and(|it| !it.is_empty());
    let is_given = settings.get("allowed_targets").is_some_and(has_targets);
    if !is_given {
        let next = site
            .edges
            .leaving(site.id)
            .iter()
            .map(|edge| edge.target.as_str());
        let mut targets: Map<String, Value> =
            next.map(|name| (name.to_owned(), name.into())).collect();
        if site.edges.is_in_cycle(site.id) {
            targets.entry("done").or_insert_with(|| "done".into());
        }
        settings.insert("allowed_targets".into(), Value::Object(targets));
    }
    let config: LlmRouterConfig = read(settings)?;
    let model = site.services.find_model(config.provider.as_deref())?;
    let node = built(LlmRouter::new(config))?.model(model);
    Ok(if is_given {
        AnyNode::new(node)
    } else {
        AnyNode::new(Ending::new(node, |choice| site.leads(choice)))
    })
}
