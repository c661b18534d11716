//! The nodes that routers, gates and guardians choose by name: an edge leads to each of them.

use std::collections::HashSet;

use serde_json::Value;

use crate::diagnostic::{Code, Report};
use crate::graph::{EdgeDefinition, NodeDefinition};
use petalflow_source::{Pointer, names::shown, names::suggestion};

/// Checks a node with its edges to other nodes.
pub(super) fn check(
    node: &NodeDefinition,
    leaving: &[&EdgeDefinition],
    at: &Pointer,
    report: &mut Report,
) {
    let chosen = chosen(node, at, report);
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
        // Not for every target of a large graph.
        let suggestion = if report.0.len() < 20 {
            suggestion(target, names())
        } else {
            String::new()
        };
        let message = format!(
            "node `{}` can choose `{}`, to which it has no edge: add the edge, or remove the target{suggestion}",
            shown(&node.id),
            shown(target)
        );
        report.add(Code::TargetWithoutEdge, at, message);
    }
}

/// The targets that a node can choose, with the places of their names.
fn chosen<'n>(
    node: &'n NodeDefinition,
    at: &Pointer,
    report: &mut Report,
) -> Vec<(&'n str, Pointer)> {
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
        "gate" | "guardian" if text("on_fail") == Some("redirect") => {
            let at = at.name("redirect_node_id");
            let is_missing = match config.get("redirect_node_id") {
                None | Some(Value::Null) => true,
                Some(Value::String(target)) => target.is_empty(),
                // It has an error already.
                Some(_) => false,
            };
            if is_missing {
                let message =
                    "`on_fail: redirect` needs `redirect_node_id`, the node to continue at";
                report.add(Code::MissingField, at.clone(), message);
            }
            add(text("redirect_node_id"), at);
        }
        _ => {}
    }
    chosen
}
