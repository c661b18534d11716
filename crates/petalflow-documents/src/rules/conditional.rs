//! The rules of conditional nodes.

use serde_json::Value;

use super::patterns::Patterns;
use crate::diagnostic::Code;
use crate::diagnostic::Report;
use crate::graph::{EdgeDefinition, NodeDefinition};
use petalflow_source::{Pointer, names::shown};

/// Names that are outputs of other meaning in PetalFlow.
const RESERVED: [&str; 2] = ["error", "_metadata"];

/// Checks the conditions of a conditional node with these edges from it.
pub(crate) fn check(
    node: &NodeDefinition,
    leaving: &[&EdgeDefinition],
    at: &Pointer,
    patterns: &mut Patterns,
    report: &mut Report,
) {
    let config = at.name("config");
    let list_at = config.name("conditions");
    let id = shown(&node.id);
    let conditions = match node.config.get("conditions") {
        Some(Value::Array(conditions)) if !conditions.is_empty() => conditions,
        Some(other) if !other.is_array() => {
            let message = format!("conditional node `{id}`: the conditions must be a list");
            report.add(Code::NoConditions, list_at, message);
            return;
        }
        _ => {
            let message = format!("conditional node `{id}` has no conditions");
            report.add(Code::NoConditions, list_at, message);
            return;
        }
    };
    for (index, condition) in conditions.iter().enumerate() {
        let at = list_at.item(index);
        let name = condition
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let shown_name = shown(name);
        if RESERVED.contains(&name) {
            let message = format!("conditional node `{id}`: the name `{shown_name}` is reserved");
            report.add(Code::ReservedName, at.name("name"), message);
        }
        let before = conditions.iter().take(index);
        let same = |other: &Value| other.get("name").and_then(Value::as_str) == Some(name);
        if !name.is_empty() && index < 1000 && before.into_iter().any(same) {
            let message = format!("conditional node `{id}` has two conditions `{shown_name}`");
            report.add(Code::WrongValue, at.name("name"), message);
        }
        let expression = condition
            .get("expression")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if let Err(error) = patterns.parse(expression)
            && condition.get("expression").is_some_and(Value::is_string)
        {
            let message = format!("conditional node `{id}`: condition `{shown_name}`: {error}");
            report.add(Code::BadExpression, at.name("expression"), message);
        }
        let leads = leaving
            .iter()
            .any(|edge| edge.target == name || edge.source_handle == name);
        if !name.is_empty() && !leads {
            let message = format!(
                "conditional node `{id}`: condition `{shown_name}` leads nowhere: no edge has it as its `sourceHandle` or its target"
            );
            report.add(Code::ConditionWithoutEdge, at, message);
        }
    }
    let default = node
        .config
        .get("default")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if default.is_empty() {
        let message =
            format!("conditional node `{id}` has no `default`: it fails if no condition is true");
        report.add(Code::NoDefault, config, message);
    }
}
