//! The variables that are texts: conditions cannot read parts of them.

use std::collections::HashMap;

use crate::expression::Expression;
use crate::source::names::shown;
use serde_json::{Map, Value};

use crate::documents::agent::AgentWorkflow;
use crate::documents::graph::GraphDefinition;

/// The variables of a document that are texts, and what makes one an object.
pub(super) struct Texts<'d>(HashMap<String, Fix<'d>>);

/// How to make a variable an object.
enum Fix<'d> {
    /// The node asks a model.
    Schema(&'d str),
    /// The node makes a text.
    Parse(&'d str),
    /// The agent of a task answers.
    Agent(&'d str),
}

impl<'d> Texts<'d> {
    /// Those that exactly one node of the graph writes.
    pub(super) fn of_graph(graph: &'d GraphDefinition) -> Self {
        let mut texts = HashMap::new();
        let mut writers: HashMap<String, usize> = HashMap::new();
        for node in &graph.nodes {
            for name in written(&node.id, &node.config) {
                *writers.entry(name).or_default() += 1;
            }
            let fix = match node.kind.as_str() {
                "llm_prompt" if !has_schema(&node.config) => Fix::Schema(&node.id),
                "transform" if makes_text(&node.config) => Fix::Parse(&node.id),
                _ => continue,
            };
            texts.insert(main_output(&node.id, &node.config), fix);
        }
        texts.retain(|name, _| writers.get(name) == Some(&1));
        Texts(texts)
    }

    /// The results of tasks: `<task>_output`.
    pub(super) fn of_workflow(workflow: &'d AgentWorkflow) -> Self {
        let texts = workflow.tasks.iter().filter_map(|(name, task)| {
            let agent = workflow.agents.get(&task.agent)?;
            let is_text = !has_schema(&agent.config);
            is_text.then(|| (format!("{name}_output"), Fix::Agent(&task.agent)))
        });
        Texts(texts.collect())
    }

    /// What a condition does with a text that does not depend on the text, and what to do.
    pub(super) fn problem(&self, condition: &Expression) -> Option<String> {
        let problem = condition.wrong_use_of_text(|name| self.0.contains_key(name))?;
        let names = self.0.iter();
        let fix = names
            .filter(|(name, _)| condition.reads(name) && problem.contains(&format!("`{name}`")))
            .map(|(_, fix)| match fix {
                Fix::Schema(node) => format!("give node `{}` a `json_schema`", shown(node)),
                Fix::Parse(node) => {
                    let node = shown(node);
                    format!("compare the text, or parse the text of node `{node}` with a `transform` node")
                }
                Fix::Agent(agent) => {
                    format!("give agent `{}` a `json_schema` in its `config`", shown(agent))
                }
            })
            .next()?;
        Some(format!("{problem}: the text changes nothing; {fix}"))
    }
}

fn has_schema(config: &Map<String, Value>) -> bool {
    config.get("json_schema").is_some_and(|it| !it.is_null())
}

fn makes_text(config: &Map<String, Value>) -> bool {
    let kind = config.get("transform").and_then(Value::as_str);
    matches!(kind, Some("template" | "stringify"))
}

/// The settings that name variables which a node writes.
const OUTPUTS: [&str; 5] = [
    "output_key",
    "output_var",
    "result_var",
    "stats_var",
    "decision_key",
];

/// The variables that a node may write.
pub(super) fn written(id: &str, config: &Map<String, Value>) -> Vec<String> {
    let named = OUTPUTS
        .iter()
        .filter_map(|name| config.get(*name)?.as_str());
    let mut written: Vec<String> = named.map(str::to_owned).collect();
    written.push(format!("{id}_output"));
    written.sort_unstable();
    written.dedup();
    written
}

fn main_output(id: &str, config: &Map<String, Value>) -> String {
    let named = ["output_key", "output_var"];
    let mut named = named.iter().filter_map(|name| config.get(*name)?.as_str());
    named
        .next()
        .map_or_else(|| format!("{id}_output"), str::to_owned)
}
