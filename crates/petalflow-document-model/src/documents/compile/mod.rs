//! From agent workflows to graphs.

mod parts;
mod strategy;
pub(crate) mod text;

use std::collections::BTreeMap;
use std::time::SystemTime;

use serde_json::{Map, Value, json};

use crate::documents::agent::{Agent, AgentWorkflow, Task};
use crate::documents::catalog::{Catalog, ToolMode};
use crate::documents::graph::{EdgeDefinition, GraphDefinition, NodeDefinition};
use parts::{TaskNodes, Tasks, object, system_prompt};

/// The version that compiled graphs name: that of the compiler whose results these are.
const COMPILER_VERSION: &str = "0.1.0";

impl AgentWorkflow {
    /// Makes the graph of this workflow, as PetalFlow does: a node `<task>__<agent>` for each task, a node `__hitl` after
    /// those that a person reviews, a node `<dependency>__cond__<task>` for each condition, and edges in the order of
    /// their names.
    ///
    /// Parts that name unknown agents or tasks are left out: [check](Self::check) it before.
    ///
    /// `{{tasks.t.output}}` names the last node of the task `t`, wherever `t` is. PetalFlow leaves it as it is if the name
    /// of `t` comes after that of the task that reads it.
    ///
    /// ```
    /// use petalflow_document_model::documents::{Catalog, Source};
    ///
    /// let source = Source::new("hello.yaml", "
    /// version: '1'
    /// kind: agent_workflow
    /// id: hello
    /// name: Hello
    /// agents:
    ///   host: { role: Host, goal: Welcome people, provider: openai, model: gpt-5.4 }
    /// tasks:
    ///   greet: { description: 'Greet {{input.name}}.', agent: host, expected_output: A sentence }
    /// execution: { strategy: sequential, task_order: [greet] }
    /// ");
    /// let document = source.check(&Catalog::default())?;
    /// let graph = document.graph(&Catalog::default());
    /// assert_eq!(graph.nodes[0].id, "greet__host");
    /// assert_eq!(graph.nodes[0].config["prompt_template"], "Greet {{.name}}.");
    /// # Ok::<(), petalflow_document_model::documents::Diagnostics>(())
    /// ```
    pub fn compile(&self, catalog: &Catalog) -> GraphDefinition {
        let mut graph = GraphDefinition {
            id: self.id.clone(),
            version: self.version.clone(),
            schema_version: "1.0.0".into(),
            kind: "graph".into(),
            metadata: self.metadata(),
            ..GraphDefinition::default()
        };
        let tasks = self.tasks.iter().filter_map(|(name, task)| {
            let agent = self.agents.get(&task.agent)?;
            Some((name, task, agent, nodes_of(name, task, agent, catalog)))
        });
        let tasks: Vec<_> = tasks.collect();
        let places: Tasks = tasks
            .iter()
            .map(|(name, _, _, nodes)| ((*name).clone(), nodes.places()))
            .collect();
        for (_, task, agent, nodes) in tasks {
            nodes.add_to(&mut graph, task, agent, &places);
        }
        self.reference_edges(&places, &mut graph);
        strategy::add(self, &places, &mut graph);
        graph.edges.sort_by(|a, b| {
            let key = |edge: &EdgeDefinition| {
                let EdgeDefinition {
                    source,
                    source_handle,
                    target,
                    target_handle,
                } = edge.clone();
                (source, target, source_handle, target_handle)
            };
            key(a).cmp(&key(b))
        });
        graph
    }

    fn metadata(&self) -> BTreeMap<String, String> {
        let version = if self.schema_version.is_empty() {
            "legacy"
        } else {
            &self.schema_version
        };
        let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        [
            ("compiled_at", now.as_str()),
            ("compiler_version", COMPILER_VERSION),
            ("source_kind", "agent_workflow"),
            ("source_schema_version", version),
            ("source_version", &self.version),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
    }

    /// A task that names others runs after them.
    fn reference_edges(&self, places: &Tasks, graph: &mut GraphDefinition) {
        for (name, task) in &self.tasks {
            let Some(to) = places.get(name) else {
                continue;
            };
            let inputs = task.inputs.iter().flat_map(|(input, text)| {
                let references = text::task_references(text).into_iter();
                references.map(move |reference| (reference, input.as_str()))
            });
            let context = task
                .context
                .iter()
                .map(|reference| (reference.as_str(), "context"));
            for (reference, handle) in inputs.chain(context) {
                if let Some(from) = places.get(reference) {
                    let mut edge = EdgeDefinition::new(&from.last, &to.first);
                    edge.target_handle = handle.into();
                    graph.edges.push(edge);
                }
            }
        }
    }
}

fn nodes_of<'c>(name: &str, task: &Task, agent: &Agent, catalog: &'c Catalog) -> NodesOfTask<'c> {
    let mut called = Vec::new();
    let mut standalone = Vec::new();
    for reference in &agent.tools {
        let reference = reference.trim();
        let actions: Vec<&str> = catalog.actions(reference).collect();
        let references = if actions.is_empty() {
            vec![reference]
        } else {
            actions
        };
        for reference in references {
            match catalog.tool_entry(reference) {
                Some(tool) if tool.mode == ToolMode::Standalone => {
                    let arguments = tool.inputs.as_slice();
                    standalone.push((reference.to_owned(), arguments));
                }
                // A tool that the catalog does not know: the program that runs the graph supplies it.
                _ => called.push(reference.to_owned()),
            }
        }
    }
    NodesOfTask {
        task: name.to_owned(),
        model: format!("{name}__{}", task.agent),
        called,
        standalone,
        reviewed: task.review == "human",
    }
}

/// The nodes of one task, in their order: tools, the model, the review.
struct NodesOfTask<'c> {
    task: String,
    model: String,
    called: Vec<String>,
    standalone: Vec<(String, &'c [String])>,
    reviewed: bool,
}

impl NodesOfTask<'_> {
    fn places(&self) -> TaskNodes {
        let tool = self
            .standalone
            .first()
            .map(|(tool, _)| format!("{}__{tool}", self.task));
        TaskNodes {
            first: tool.unwrap_or_else(|| self.model.clone()),
            last: if self.reviewed {
                format!("{}__hitl", self.model)
            } else {
                self.model.clone()
            },
        }
    }

    fn add_to(self, graph: &mut GraphDefinition, task: &Task, agent: &Agent, places: &Tasks) {
        let mut before: Option<String> = None;
        for (tool, arguments) in &self.standalone {
            let id = format!("{}__{tool}", self.task);
            graph.nodes.push(NodeDefinition {
                id: id.clone(),
                kind: tool.clone(),
                config: tool_settings(tool, arguments, agent),
            });
            if let Some(before) = before.replace(id.clone()) {
                graph.edges.push(EdgeDefinition::new(before, id));
            }
        }
        if let Some(before) = before {
            let mut edge = EdgeDefinition::new(before, &self.model);
            edge.target_handle = "context".into();
            graph.edges.push(edge);
        }
        graph.nodes.push(NodeDefinition {
            id: self.model.clone(),
            kind: "llm_prompt".into(),
            config: model_settings(task, agent, self.called, places),
        });
        if self.reviewed {
            let review = format!("{}__hitl", self.model);
            graph.edges.push(EdgeDefinition::new(self.model, &review));
            graph.nodes.push(NodeDefinition {
                id: review,
                kind: "human".into(),
                config: object(json!({ "mode": "approval", "task_id": self.task })),
            });
        }
    }
}

fn tool_settings(tool: &str, arguments: &[String], agent: &Agent) -> Map<String, Value> {
    let mut settings = Map::new();
    if !arguments.is_empty() {
        let arguments = arguments
            .iter()
            .map(|name| (name.clone(), Value::from(name.as_str())));
        settings.insert("args_template".into(), Value::Object(arguments.collect()));
    }
    if let Some((name, action)) = tool.split_once('.') {
        settings.insert("tool_name".into(), name.into());
        settings.insert("action_name".into(), action.into());
        if let Some(config) = agent
            .tool_config
            .get(name)
            .filter(|config| !config.is_empty())
        {
            settings.insert("tool_config".into(), Value::Object(config.clone()));
        }
    }
    settings
}

fn model_settings(
    task: &Task,
    agent: &Agent,
    tools: Vec<String>,
    places: &Tasks,
) -> Map<String, Value> {
    let prompt = text::prompt(&task.description, |task| {
        Some(places.get(task)?.last.clone())
    });
    let mut settings = object(json!({
        "system_prompt": system_prompt(agent, Some(task)),
        "prompt_template": prompt,
        "provider": agent.provider,
        "model": agent.model,
    }));
    if !tools.is_empty() {
        settings.insert("tools".into(), tools.into());
    }
    if !agent.tool_config.is_empty() {
        settings.insert("tool_config".into(), json!(agent.tool_config));
    }
    for name in ["temperature", "max_tokens"] {
        if let Some(value) = agent.config.get(name) {
            settings.insert(name.into(), value.clone());
        }
    }
    if !task.output_key.is_empty() {
        settings.insert("output_key".into(), task.output_key.as_str().into());
    }
    settings
}
