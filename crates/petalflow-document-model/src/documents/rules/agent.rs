//! The rules of agent workflows.

use std::collections::HashSet;

use super::{dependencies, format, results, settings};
use crate::documents::agent::{Agent, AgentWorkflow, Strategy, Task};
use crate::documents::catalog::Catalog;
use crate::documents::compile::text::{prompt, task_references};
use crate::documents::diagnostic::Code;
use crate::documents::diagnostic::Report;
use crate::documents::template::Template;
use crate::source::{Pointer, names::shown, names::suggestion};

/// Checks everything that the fields of the document do not say.
pub(crate) fn check(workflow: &AgentWorkflow, catalog: &Catalog, report: &mut Report) {
    let kinds = ["agent_workflow", "agent-workflow"];
    format::check(
        &workflow.kind,
        &workflow.schema_version,
        &kinds,
        Code::BadWorkflowFormat,
        report,
    );
    agents(workflow, catalog, report);
    for (name, task) in &workflow.tasks {
        let at = Pointer::root().name("tasks").name(name);
        name_has_form("task", name, &at, report);
        agent_exists(workflow, name, task, &at, report);
        references_exist(workflow, name, task, &at, report);
        prompt_is_a_template(name, task, &at.name("description"), report);
        review_is_known(name, task, &at.name("review"), report);
    }
    let execution = Pointer::root().name("execution");
    // The strategy itself is wrong.
    if report.is_wrong("/execution") || report.is_wrong("/execution/strategy") {
        return;
    }
    let findings = report.0.len();
    match workflow.execution.strategy {
        Strategy::Sequential => task_order(workflow, &execution.name("task_order"), report),
        Strategy::Parallel => strategy_merges(workflow, &execution.name("merge_strategy"), report),
        Strategy::Hierarchical => {
            manager_exists(workflow, &execution.name("manager_agent"), report);
        }
        Strategy::Custom => dependencies::check(workflow, &execution.name("tasks"), report),
    }
    // If the order is wrong, most results would be missing.
    if report.0.len() == findings {
        results::check(workflow, report);
    }
}

fn name_has_form(what: &str, name: &str, at: &Pointer, report: &mut Report) {
    let mut bytes = name.bytes();
    let first = bytes.next().is_some_and(|byte| byte.is_ascii_lowercase());
    let rest = bytes.all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
    if !(first && rest && name.len() <= 64) {
        let message = format!(
            "{what} `{}`: a name begins with a lower-case letter, has lower-case letters, digits and `_`, and at most 64 characters",
            shown(name)
        );
        report.add_at_name(Code::BadName, at.clone(), message);
    }
}

/// A misspelt review would be none: the result would pass without an approval.
fn review_is_known(name: &str, task: &Task, at: &Pointer, report: &mut Report) {
    let review = task.review.as_str();
    if !review.is_empty() && review != "human" {
        let message = format!(
            "task `{}`: `{}` is not a review; write `human`, or leave it out",
            shown(name),
            shown(review)
        );
        report.add(Code::WrongValue, at.clone(), message);
    }
}

fn agents(workflow: &AgentWorkflow, catalog: &Catalog, report: &mut Report) {
    for (name, agent) in &workflow.agents {
        let at = Pointer::root().name("agents").name(name);
        name_has_form("agent", name, &at, report);
        provider_is_known(name, agent, catalog, &at, report);
        model_settings_are_valid(agent, &at, report);
        call_limits_allow_a_call(name, agent, &at, report);
        tools_are_known(name, agent, catalog, &at, report);
        tool_settings_have_tools(name, agent, &at, report);
    }
}

fn provider_is_known(
    name: &str,
    agent: &Agent,
    catalog: &Catalog,
    at: &Pointer,
    report: &mut Report,
) {
    let provider = agent.provider.as_str();
    if provider.is_empty() || catalog.providers().any(|known| known == provider) {
        return;
    }
    let suggestion = suggestion(provider, catalog.providers());
    let message = format!(
        "agent `{}`: provider `{}` is unknown{suggestion}",
        shown(name),
        shown(provider)
    );
    report.add(Code::UnknownProvider, at.name("provider"), message);
}

fn model_settings_are_valid(agent: &Agent, at: &Pointer, report: &mut Report) {
    // Others have no effect, as in PetalFlow.
    let mut config = agent.config.clone();
    config.retain(|name, _| ["temperature", "max_tokens"].contains(&name.as_str()));
    settings::check_part("llm_prompt", &config, &at.name("config"), report);
}

/// A limit of nothing would end each call before its first request. The schema has the least counts.
fn call_limits_allow_a_call(name: &str, agent: &Agent, at: &Pointer, report: &mut Report) {
    let cost = agent.call_limits.and_then(|limits| limits.cost);
    if cost.is_some_and(|cost| cost.is_nan() || cost <= 0.0) {
        let message = format!(
            "agent `{}`: `cost` of `call_limits` must be more than 0; leave it out for no limit",
            shown(name)
        );
        let at = at.name("call_limits").name("cost");
        report.add(Code::WrongValue, at, message);
    }
}

fn tools_are_known(
    name: &str,
    agent: &Agent,
    catalog: &Catalog,
    at: &Pointer,
    report: &mut Report,
) {
    for (index, tool) in agent.tools.iter().enumerate() {
        if let Some(problem) = tool_problem(tool.trim(), catalog) {
            let message = format!("agent `{}`: {problem}", shown(name));
            report.add(Code::UnknownTool, at.name("tools").item(index), message);
        }
    }
}

fn tool_settings_have_tools(name: &str, agent: &Agent, at: &Pointer, report: &mut Report) {
    let tools = agent.tools.iter().map(|tool| tool_name(tool.trim()));
    let tools: HashSet<&str> = tools.collect();
    for tool in agent.tool_config.keys() {
        if tools.contains(tool.as_str()) {
            continue;
        }
        let message = format!(
            "agent `{}` has settings of tool `{}`, which is not one of its tools",
            shown(name),
            shown(tool)
        );
        let at = at.name("tool_config").name(tool);
        report.add_at_name(Code::UnknownTool, at, message);
    }
}

fn tool_name(reference: &str) -> &str {
    reference
        .split_once('.')
        .map_or(reference, |(tool, _)| tool)
}

fn tool_problem(reference: &str, catalog: &Catalog) -> Option<String> {
    let text = shown(reference);
    let (tool, action) = match reference.split_once('.') {
        Some((tool, action)) => (tool, Some(action)),
        None => (reference, None),
    };
    if tool.is_empty() || action.is_some_and(|action| action.is_empty() || action.contains('.')) {
        return Some(format!(
            "tool `{text}` is not of the form `name` or `name.action`"
        ));
    }
    if !catalog.has_tools() || catalog.tool_entry(reference).is_some() {
        return None;
    }
    match action {
        None if catalog.actions(tool).next().is_some() => None,
        Some(action) if catalog.actions(tool).next().is_some() => Some(format!(
            "tool `{}` has no action `{}`",
            shown(tool),
            shown(action)
        )),
        _ => Some(format!(
            "there is no tool `{text}`{}",
            suggestion(reference, catalog.tool_names())
        )),
    }
}

fn agent_exists(
    workflow: &AgentWorkflow,
    name: &str,
    task: &Task,
    at: &Pointer,
    report: &mut Report,
) {
    if task.agent.is_empty() || workflow.agents.contains_key(&task.agent) {
        return;
    }
    let suggestion = suggestion(&task.agent, workflow.agents.keys().map(String::as_str));
    let message = format!(
        "task `{}`: there is no agent `{}`{suggestion}",
        shown(name),
        shown(&task.agent)
    );
    report.add(Code::UndefinedAgent, at.name("agent"), message);
}

fn prompt_is_a_template(name: &str, task: &Task, at: &Pointer, report: &mut Report) {
    // References to unknown tasks have errors of their own.
    let text = prompt(&task.description, |task| Some(task.to_owned()));
    if let Err(error) = Template::parse(&text) {
        report.add(
            Code::BadTemplate,
            at.clone(),
            format!("task `{}`: {error}", shown(name)),
        );
    }
}

/// The tasks that texts and the context name. PetalFlow does not look at the description.
fn references_exist(
    workflow: &AgentWorkflow,
    name: &str,
    task: &Task,
    at: &Pointer,
    report: &mut Report,
) {
    let mut unknown = |reference: &str, at: Pointer| {
        if !workflow.tasks.contains_key(reference) {
            let suggestion = suggestion(reference, workflow.tasks.keys().map(String::as_str));
            let message = format!(
                "task `{}`: there is no task `{}`{suggestion}",
                shown(name),
                shown(reference)
            );
            report.add(Code::UnknownTask, at, message);
        }
    };
    for reference in task_references(&task.description) {
        unknown(reference, at.name("description"));
    }
    for (input, text) in &task.inputs {
        for reference in task_references(text) {
            unknown(reference, at.name("inputs").name(input));
        }
    }
    for (index, reference) in task.context.iter().enumerate() {
        unknown(reference, at.name("context").item(index));
    }
}

/// Checks the list of tasks of the strategy `sequential`.
fn task_order(workflow: &AgentWorkflow, at: &Pointer, report: &mut Report) {
    if workflow.execution.task_order.is_empty() {
        let message =
            "`task_order` is missing: the strategy `sequential` needs a list of all tasks";
        report.add(Code::BadTaskOrder, at.clone(), message);
        return;
    }
    order_has_each_task_once(workflow, at, report);
    order_has_all_tasks(workflow, at, report);
}

fn order_has_each_task_once(workflow: &AgentWorkflow, at: &Pointer, report: &mut Report) {
    let mut seen = HashSet::new();
    for (index, task) in workflow.execution.task_order.iter().enumerate() {
        let message = if !workflow.tasks.contains_key(task) {
            let suggestion = suggestion(task, workflow.tasks.keys().map(String::as_str));
            format!(
                "`task_order` has `{}`, which is not a task{suggestion}",
                shown(task)
            )
        } else if !seen.insert(task.as_str()) {
            format!("`task_order` has `{}` twice", shown(task))
        } else {
            continue;
        };
        report.add(Code::BadTaskOrder, at.item(index), message);
    }
}

fn order_has_all_tasks(workflow: &AgentWorkflow, at: &Pointer, report: &mut Report) {
    let order = workflow.execution.task_order.iter();
    let order: HashSet<&str> = order.map(String::as_str).collect();
    for task in workflow.tasks.keys() {
        if !order.contains(task.as_str()) {
            let message = format!("`task_order` does not have task `{}`", shown(task));
            report.add(Code::BadTaskOrder, at.clone(), message);
        }
    }
}

fn strategy_merges(workflow: &AgentWorkflow, at: &Pointer, report: &mut Report) {
    let strategy = &workflow.execution.merge_strategy;
    let mut found = Report::default();
    let config = serde_json::Map::from_iter([("strategy".to_owned(), strategy.as_str().into())]);
    settings::check_part("merge", &config, at, &mut found);
    for finding in found.0 {
        report.add(finding.code, at.clone(), finding.message);
    }
}

fn manager_exists(workflow: &AgentWorkflow, at: &Pointer, report: &mut Report) {
    let manager = &workflow.execution.manager_agent;
    if manager.is_empty() {
        let message = "`manager_agent` is missing: the strategy `hierarchical` needs an agent that chooses the tasks";
        report.add(Code::MissingInWorkflow, at.clone(), message);
    } else if !workflow.agents.contains_key(manager) {
        let suggestion = suggestion(manager, workflow.agents.keys().map(String::as_str));
        let message = format!("there is no agent `{}`{suggestion}", shown(manager));
        report.add(Code::UndefinedAgent, at.clone(), message);
    }
}
