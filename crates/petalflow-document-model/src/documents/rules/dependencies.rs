//! The rules of tasks with dependencies: the strategy `custom`.

use std::collections::{BTreeMap, HashSet};

use super::cycle;
use super::patterns::Patterns;
use super::texts::Texts;
use crate::documents::agent::{AgentWorkflow, Dependencies};
use crate::documents::compile::text::condition;
use crate::documents::diagnostic::{Code, Report};
use crate::source::{Pointer, names::shown, names::suggestion};

type Tasks = BTreeMap<String, Dependencies>;

/// Checks the dependencies of the tasks.
pub(super) fn check(workflow: &AgentWorkflow, at: &Pointer, report: &mut Report) {
    let none = Tasks::new();
    let tasks = workflow.execution.tasks.as_ref().unwrap_or(&none);
    let mut patterns = Patterns::default();
    let texts = Texts::of_workflow(workflow);
    for (name, task) in tasks {
        let at = at.name(name);
        task_exists(workflow, name, &at, report);
        dependencies_exist(workflow, name, task, &at, report);
        condition_parses(name, task, &at, (&mut patterns, &texts), report);
    }
    no_task_cycle(workflow, tasks, at, report);
    all_tasks_execute(workflow, tasks, report);
}

fn task_exists(workflow: &AgentWorkflow, name: &str, at: &Pointer, report: &mut Report) {
    if workflow.tasks.contains_key(name) {
        return;
    }
    let suggestion = suggestion(name, workflow.tasks.keys().map(String::as_str));
    let message = format!("there is no task `{}`{suggestion}", shown(name));
    report.add_at_name(Code::UnknownTask, at.clone(), message);
}

fn dependencies_exist(
    workflow: &AgentWorkflow,
    name: &str,
    task: &Dependencies,
    at: &Pointer,
    report: &mut Report,
) {
    for (index, dependency) in task.depends_on.iter().enumerate() {
        if workflow.tasks.contains_key(dependency) {
            continue;
        }
        let suggestion = suggestion(dependency, workflow.tasks.keys().map(String::as_str));
        let message = format!(
            "task `{}` depends on `{}`, which is not a task{suggestion}",
            shown(name),
            shown(dependency)
        );
        let at = at.name("depends_on").item(index);
        report.add(Code::UnknownTask, at, message);
    }
}

fn condition_parses(
    name: &str,
    task: &Dependencies,
    at: &Pointer,
    (patterns, texts): (&mut Patterns, &Texts<'_>),
    report: &mut Report,
) {
    if task.condition.is_empty() {
        return;
    }
    // As it will be: the same words, with other names.
    let expression = condition(&task.condition, |task| Some(format!("{task}_output")));
    let (name, at) = (shown(name), at.name("condition"));
    match patterns.parse(&expression) {
        Ok(None) => {}
        Ok(Some(parsed)) => {
            if let Some(problem) = texts.problem(&parsed) {
                let message = format!("task `{name}`: its condition {problem}");
                report.add(Code::TextInCondition, at, message);
            }
        }
        Err(error) => {
            report.add(
                Code::BadTaskCondition,
                at,
                format!("task `{name}`: {error}"),
            );
        }
    }
}

fn no_task_cycle(workflow: &AgentWorkflow, tasks: &Tasks, at: &Pointer, report: &mut Report) {
    let edges = tasks.iter().flat_map(|(name, task)| {
        let known = |it: &&String| workflow.tasks.contains_key(*it);
        let before = task.depends_on.iter().filter(known);
        before.map(|before| (before.as_str(), name.as_str()))
    });
    let edges: Vec<(&str, &str)> = edges.collect();
    if let Some(found) = cycle::find(workflow.tasks.keys().map(String::as_str), &edges) {
        let message = format!(
            "tasks depend on each other in a circle: {}",
            cycle::in_words(&found)
        );
        report.add(Code::TaskCycle, at.clone(), message);
    }
}

fn all_tasks_execute(workflow: &AgentWorkflow, tasks: &Tasks, report: &mut Report) {
    let mut executed: HashSet<&str> = HashSet::new();
    for (name, task) in tasks {
        executed.insert(name);
        executed.extend(task.depends_on.iter().map(String::as_str));
    }
    for task in workflow.tasks.keys() {
        if executed.contains(task.as_str()) {
            continue;
        }
        let message = format!(
            "task `{}` is not in `execution.tasks`, so it is never executed",
            shown(task)
        );
        let at = Pointer::root().name("tasks").name(task);
        report.add_at_name(Code::OrphanTask, at, message);
    }
}
