//! The rules of conditional nodes.

use std::collections::HashSet;

use serde_json::Value;

use super::patterns::Patterns;
use super::texts::Texts;
use crate::documents::diagnostic::Code;
use crate::documents::diagnostic::Report;
use crate::documents::graph::{EdgeDefinition, NodeDefinition};
use crate::source::{Pointer, names::shown};

/// Names that are outputs of other meaning in PetalFlow.
const RESERVED: [&str; 2] = ["error", "_metadata"];

/// Checks the conditions of a conditional node with these edges from it.
pub(crate) fn check(
    node: &NodeDefinition,
    leaving: &[&EdgeDefinition],
    at: &Pointer,
    (patterns, texts): (&mut Patterns, &Texts<'_>),
    report: &mut Report,
) {
    let config_at = at.name("config");
    let list_at = config_at.name("conditions");
    let Some(conditions) = conditions_given(node, &list_at, report) else {
        return;
    };
    let mut names = HashSet::new();
    for (index, value) in conditions.iter().enumerate() {
        let condition = Condition {
            node: shown(&node.id),
            name: text(value, "name").unwrap_or_default(),
            expression: text(value, "expression"),
            at: list_at.item(index),
        };
        name_not_reserved(&condition, report);
        name_unique(&condition, &mut names, report);
        expression_parses(&condition, patterns, texts, report);
        condition_has_edge(&condition, leaving, report);
    }
    default_given(node, config_at, report);
}

/// A condition of a node.
struct Condition<'n> {
    /// The node, as messages show it.
    node: String,
    /// Empty if the condition has no name.
    name: &'n str,
    expression: Option<&'n str>,
    at: Pointer,
}

fn text<'n>(condition: &'n Value, field: &str) -> Option<&'n str> {
    condition.get(field).and_then(Value::as_str)
}

fn conditions_given<'n>(
    node: &'n NodeDefinition,
    at: &Pointer,
    report: &mut Report,
) -> Option<&'n [Value]> {
    let id = shown(&node.id);
    let message = match node.config.get("conditions") {
        Some(Value::Array(conditions)) if !conditions.is_empty() => return Some(conditions),
        Some(other) if !other.is_array() => {
            format!("conditional node `{id}`: the conditions must be a list")
        }
        _ => format!("conditional node `{id}` has no conditions"),
    };
    report.add(Code::NoConditions, at.clone(), message);
    None
}

fn name_not_reserved(condition: &Condition<'_>, report: &mut Report) {
    let Condition { node, name, at, .. } = condition;
    if RESERVED.contains(name) {
        let message = format!(
            "conditional node `{node}`: the name `{}` is reserved",
            shown(name)
        );
        report.add(Code::ReservedName, at.name("name"), message);
    }
}

fn name_unique<'n>(condition: &Condition<'n>, names: &mut HashSet<&'n str>, report: &mut Report) {
    let Condition { node, name, at, .. } = condition;
    if !name.is_empty() && !names.insert(name) {
        let message = format!(
            "conditional node `{node}` has two conditions `{}`",
            shown(name)
        );
        report.add(Code::WrongValue, at.name("name"), message);
    }
}

fn expression_parses(
    condition: &Condition<'_>,
    patterns: &mut Patterns,
    texts: &Texts<'_>,
    report: &mut Report,
) {
    let Condition { node, name, at, .. } = condition;
    // The schema reports an expression that is missing.
    let Some(expression) = condition.expression else {
        return;
    };
    let (name, at) = (shown(name), at.name("expression"));
    match patterns.parse(expression) {
        Ok(None) => {}
        Ok(Some(parsed)) => {
            if let Some(problem) = texts.problem(&parsed) {
                let message = format!("conditional node `{node}`: condition `{name}` {problem}");
                report.add(Code::TextInCondition, at, message);
            }
        }
        Err(error) => {
            let message = format!("conditional node `{node}`: condition `{name}`: {error}");
            report.add(Code::BadExpression, at, message);
        }
    }
}

/// An edge from a conditional node has a name that the node can choose.
pub(super) fn handle_is_chosen(node: &NodeDefinition, handle: &str) -> bool {
    let conditions = node.config.get("conditions").and_then(Value::as_array);
    let mut names = conditions.into_iter().flatten().map(|it| text(it, "name"));
    let default = node.config.get("default").and_then(Value::as_str);
    ["output", "decision"].contains(&handle)
        || default == Some(handle)
        || names.any(|name| name == Some(handle))
}

fn condition_has_edge(condition: &Condition<'_>, leaving: &[&EdgeDefinition], report: &mut Report) {
    let Condition { node, name, at, .. } = condition;
    let has_edge = leaving
        .iter()
        .any(|edge| edge.target == *name || edge.source_handle == *name);
    if !name.is_empty() && !has_edge {
        let message = format!(
            "conditional node `{node}`: condition `{}` leads nowhere: no edge has it as its `sourceHandle` or its target",
            shown(name)
        );
        report.add(Code::ConditionWithoutEdge, at.clone(), message);
    }
}

fn default_given(node: &NodeDefinition, at: Pointer, report: &mut Report) {
    let default = node.config.get("default").and_then(Value::as_str);
    if default.unwrap_or_default().is_empty() {
        let message = format!(
            "conditional node `{}` has no `default`: it fails if no condition is true",
            shown(&node.id)
        );
        report.add(Code::NoDefault, at, message);
    }
}
