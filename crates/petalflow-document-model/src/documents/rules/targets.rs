//! The nodes that routers, gates and guardians choose by name: an edge leads to each of them.

use std::collections::HashSet;

use serde_json::Value;

use super::suggestion_if_few;
use crate::documents::diagnostic::{Code, Report};
use crate::documents::graph::{EdgeDefinition, NodeDefinition};
use crate::source::{Pointer, names::shown};

/// Checks a node with its edges to other nodes.
pub(super) fn check(
    node: &NodeDefinition,
    leaving: &[&EdgeDefinition],
    at: &Pointer,
    report: &mut Report,
) {
    redirect_given(node, at, report);
    targets_have_edges(node, leaving, at, report);
}

fn redirect_given(node: &NodeDefinition, at: &Pointer, report: &mut Report) {
    if !redirects(node) {
        return;
    }
    let is_missing = match node.config.get("redirect_node_id") {
        None | Some(Value::Null) => true,
        Some(Value::String(target)) => target.is_empty(),
        // It has an error already.
        Some(_) => false,
    };
    if is_missing {
        let message = "`on_fail: redirect` needs `redirect_node_id`, the node to continue at";
        report.add(Code::MissingField, at.name("redirect_node_id"), message);
    }
}

fn targets_have_edges(
    node: &NodeDefinition,
    leaving: &[&EdgeDefinition],
    at: &Pointer,
    report: &mut Report,
) {
    let chosen = chosen(node, at);
    if chosen.is_empty() {
        return;
    }
    // An edge has the name of the target, or leads to the node of that name.
    let names = || {
        let names = leaving
            .iter()
            .flat_map(|edge| [edge.source_handle.as_str(), &edge.target]);
        names.filter(|name| !name.is_empty())
    };
    let known: HashSet<&str> = names().collect();
    for (target, at) in chosen {
        if known.contains(target) {
            continue;
        }
        let suggestion = suggestion_if_few(report, target, names());
        let message = format!(
            "node `{}` can choose `{}`, to which it has no edge: add the edge, or remove the target{suggestion}",
            shown(&node.id),
            shown(target)
        );
        report.add(Code::TargetWithoutEdge, at, message);
    }
}

/// Whether the node continues at another one if its check fails.
pub(super) fn redirects(node: &NodeDefinition) -> bool {
    let on_fail = node.config.get("on_fail").and_then(Value::as_str);
    matches!(node.kind.as_str(), "gate" | "guardian") && on_fail == Some("redirect")
}

/// The targets that a node can choose, with the pointers to their names.
fn chosen<'n>(node: &'n NodeDefinition, at: &Pointer) -> Vec<(&'n str, Pointer)> {
    let config = &node.config;
    let text = |name: &str| config.get(name).and_then(Value::as_str);
    let mut chosen = Vec::new();
    let mut add = |target: Option<&'n str>, at: Pointer| {
        let target = target.filter(|target| !target.is_empty());
        chosen.extend(target.map(|target| (target, at)));
    };
    match node.kind.as_str() {
        "rule_router" => {
            let rules = config.get("rules").and_then(Value::as_array);
            for (index, rule) in rules.into_iter().flatten().enumerate() {
                let at = at.name("rules").item(index).name("target");
                add(rule.get("target").and_then(Value::as_str), at);
            }
            add(text("default_target"), at.name("default_target"));
        }
        "llm_router" => {
            let targets = config.get("allowed_targets").and_then(Value::as_object);
            for (label, target) in targets.into_iter().flatten() {
                add(target.as_str(), at.name("allowed_targets").name(label));
            }
        }
        _ if redirects(node) => add(text("redirect_node_id"), at.name("redirect_node_id")),
        _ => {}
    }
    chosen
}
