//! The edges of the execution strategies.

use std::collections::HashSet;

use serde_json::{Map, json};

use super::parts::{Tasks, object, system_prompt};
use super::text;
use crate::documents::agent::{AgentWorkflow, Dependencies, Strategy};
use crate::documents::graph::{EdgeDefinition, GraphDefinition, NodeDefinition};

pub(super) fn add(workflow: &AgentWorkflow, tasks: &Tasks, graph: &mut GraphDefinition) {
    match workflow.execution.strategy {
        Strategy::Sequential => sequential(workflow, tasks, graph),
        Strategy::Parallel => parallel(workflow, tasks, graph),
        Strategy::Hierarchical => hierarchical(workflow, tasks, graph),
        Strategy::Custom => custom(workflow, tasks, graph),
    }
}

fn sequential(workflow: &AgentWorkflow, tasks: &Tasks, graph: &mut GraphDefinition) {
    let order: Vec<_> = workflow
        .execution
        .task_order
        .iter()
        .filter_map(|task| tasks.get(task))
        .collect();
    if let Some(first) = order.first() {
        graph.entry.clone_from(&first.first);
    }
    let pairs = order
        .windows(2)
        .map(|pair| EdgeDefinition::new(&pair[0].last, &pair[1].first));
    graph.edges.extend(pairs);
}

fn parallel(workflow: &AgentWorkflow, tasks: &Tasks, graph: &mut GraphDefinition) {
    let id = format!("{}__merge", workflow.id);
    let strategy = &workflow.execution.merge_strategy;
    let config = if strategy.is_empty() {
        Map::new()
    } else {
        object(json!({ "strategy": strategy }))
    };
    let edges = tasks
        .values()
        .map(|task| EdgeDefinition::new(&task.last, &id));
    graph.edges.extend(edges);
    graph.nodes.push(NodeDefinition {
        id,
        kind: "merge".into(),
        config,
    });
}

fn hierarchical(workflow: &AgentWorkflow, tasks: &Tasks, graph: &mut GraphDefinition) {
    let name = &workflow.execution.manager_agent;
    let Some(agent) = workflow.agents.get(name) else {
        return;
    };
    let id = format!("{}__manager__{name}", workflow.id);
    graph.nodes.push(NodeDefinition {
        id: id.clone(),
        kind: "llm_router".into(),
        config: object(json!({
            "system_prompt": system_prompt(agent, None),
            "provider": agent.provider,
            "model": agent.model,
        })),
    });
    for task in tasks.values() {
        graph.edges.push(EdgeDefinition::new(&id, &task.first));
        graph.edges.push(EdgeDefinition::new(&task.last, &id));
    }
    graph.entry = id;
}

fn custom(workflow: &AgentWorkflow, tasks: &Tasks, graph: &mut GraphDefinition) {
    let Some(all) = &workflow.execution.tasks else {
        return;
    };
    let mut conditions = HashSet::new();
    for (
        name,
        Dependencies {
            depends_on,
            condition,
        },
    ) in all
    {
        let Some(task) = tasks.get(name) else {
            continue;
        };
        for dependency in depends_on {
            let Some(before) = tasks.get(dependency) else {
                continue;
            };
            if condition.is_empty() {
                graph
                    .edges
                    .push(EdgeDefinition::new(&before.last, &task.first));
                continue;
            }
            let id = format!("{dependency}__cond__{name}");
            if conditions.insert(id.clone()) {
                let output = |task: &str| Some(format!("{}_output", tasks.get(task)?.last));
                let expression = text::condition(condition, output);
                graph.nodes.push(NodeDefinition {
                    id: id.clone(),
                    kind: "conditional".into(),
                    config: object(json!({
                        "conditions": [{ "name": task.first, "expression": expression }],
                        "default": "_skip",
                        "evaluation_order": "first_match",
                        "pass_through": true,
                    })),
                });
            }
            graph.edges.push(EdgeDefinition::new(&before.last, &id));
            let mut edge = EdgeDefinition::new(id, &task.first);
            edge.source_handle.clone_from(&task.first);
            graph.edges.push(edge);
        }
    }
    let is_free = |name: &&String| all.get(*name).is_none_or(|it| it.depends_on.is_empty());
    if let Some(first) = workflow
        .tasks
        .keys()
        .find(is_free)
        .and_then(|name| tasks.get(name))
    {
        graph.entry.clone_from(&first.first);
    }
}
