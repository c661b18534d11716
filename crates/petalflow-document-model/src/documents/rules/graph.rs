//! The rules of graph definitions.

use std::collections::{HashMap, HashSet};

use super::patterns::Patterns;
use super::texts::Texts;
use super::{conditional, cycle, format, missing, settings, suggestion_if_few, targets, templates};
use crate::documents::catalog::{self, Catalog, NODE_TYPES, ToolMode};
use crate::documents::diagnostic::Code;
use crate::documents::diagnostic::Report;
use crate::documents::graph::{EdgeDefinition, GraphDefinition, NodeDefinition};
use crate::source::{Pointer, names::shown, names::suggestion};
use serde_json::{Map, Value};

/// Checks everything that the fields of the document do not say. The settings of the nodes are returned, as
/// [`settings::normalized`] has them.
pub(crate) fn check(
    graph: &GraphDefinition,
    catalog: &Catalog,
    report: &mut Report,
) -> Vec<Map<String, Value>> {
    format::check(
        &graph.kind,
        &graph.schema_version,
        &["graph"],
        Code::BadGraphFormat,
        report,
    );
    names_unique(graph, report);
    let nodes = nodes_by_name(graph);
    edges_join_nodes(graph, &nodes, report);
    entry_is_a_node(graph, &nodes, report);
    nodes_have_edges(graph, report);
    if !report.has(Code::UnknownNode) {
        no_cycles(graph, report);
    }
    let mut leaving: HashMap<&str, Vec<&EdgeDefinition>> = HashMap::new();
    for edge in &graph.edges {
        leaving.entry(&edge.source).or_default().push(edge);
    }
    let mut patterns = Patterns::default();
    let texts = Texts::of_graph(graph);
    let mut checked = Vec::with_capacity(graph.nodes.len());
    let nodes_at = Pointer::root().name("nodes");
    for (index, node) in graph.nodes.iter().enumerate() {
        let at = nodes_at.item(index);
        let config_at = at.name("config");
        type_is_known(node, &at, catalog, report);
        tool_can_be_node(node, &at, catalog, report);
        checked.push(settings::check(node, &config_at, report));
        templates::check(node, &config_at, report);
        let leaving = leaving.get(node.id.as_str()).map_or(&[][..], Vec::as_slice);
        targets::check(node, leaving, &config_at, report);
        if node.kind == "conditional" {
            conditional::check(node, leaving, &at, (&mut patterns, &texts), report);
        }
    }
    handles_exist(graph, &nodes, report);
    triggers_begin(graph, report);
    if !report.has(Code::Cycle) && !report.has(Code::UnknownNode) {
        missing::check(graph, report);
    }
    checked
}

type Nodes<'g> = HashMap<&'g str, &'g NodeDefinition>;

/// Of nodes with the same name, the first.
fn nodes_by_name(graph: &GraphDefinition) -> Nodes<'_> {
    let mut nodes = HashMap::new();
    for node in graph.nodes.iter().filter(|node| !node.id.is_empty()) {
        nodes.entry(node.id.as_str()).or_insert(node);
    }
    nodes
}

fn names_unique(graph: &GraphDefinition, report: &mut Report) {
    let mut names = HashSet::new();
    for (index, node) in graph.nodes.iter().enumerate() {
        if !node.id.is_empty() && !names.insert(node.id.as_str()) {
            let at = Pointer::root().name("nodes").item(index).name("id");
            let message = format!("node `{}` is there twice", shown(&node.id));
            report.add(Code::DuplicateNode, at, message);
        }
    }
}

fn edges_join_nodes(graph: &GraphDefinition, nodes: &Nodes<'_>, report: &mut Report) {
    for (index, edge) in graph.edges.iter().enumerate() {
        for (end, name) in [("source", &edge.source), ("target", &edge.target)] {
            if name.is_empty() || nodes.contains_key(name.as_str()) {
                continue;
            }
            let at = Pointer::root().name("edges").item(index).name(end);
            let known = graph.nodes.iter().map(|node| node.id.as_str());
            let suggestion = suggestion_if_few(report, name, known);
            let message = format!("edge {end} `{}` is not a node{suggestion}", shown(name));
            report.add(Code::UnknownNode, at, message);
        }
    }
}

fn entry_is_a_node(graph: &GraphDefinition, nodes: &Nodes<'_>, report: &mut Report) {
    if !graph.entry.is_empty() && !nodes.contains_key(graph.entry.as_str()) {
        let suggestion = suggestion(
            &graph.entry,
            graph.nodes.iter().map(|node| node.id.as_str()),
        );
        let message = format!("entry `{}` is not a node{suggestion}", shown(&graph.entry));
        report.add(Code::UnknownEntry, Pointer::root().name("entry"), message);
    }
}

fn nodes_have_edges(graph: &GraphDefinition, report: &mut Report) {
    if graph.nodes.len() < 2 {
        return;
    }
    let ends = graph
        .edges
        .iter()
        .flat_map(|edge| [edge.source.as_str(), edge.target.as_str()]);
    let joined: HashSet<&str> = ends.collect();
    for (index, node) in graph.nodes.iter().enumerate() {
        if !node.id.is_empty() && !joined.contains(node.id.as_str()) {
            let at = Pointer::root().name("nodes").item(index);
            let message = format!(
                "node `{}` has no edge to or from another node",
                shown(&node.id)
            );
            report.add(Code::OrphanNode, at, message);
        }
    }
}

fn no_cycles(graph: &GraphDefinition, report: &mut Report) {
    let names = graph.nodes.iter().map(|node| node.id.as_str());
    let edges: Vec<(&str, &str)> = graph
        .edges
        .iter()
        .map(|edge| (edge.source.as_str(), edge.target.as_str()))
        .collect();
    let Some(found) = cycle::find(names, &edges) else {
        return;
    };
    let last = (found[found.len() - 2], found[found.len() - 1]);
    let index = edges.iter().position(|edge| *edge == last).unwrap_or(0);
    let at = Pointer::root().name("edges").item(index);
    let message = format!("the edges form a cycle: {}", cycle::in_words(&found));
    report.add(Code::Cycle, at, message);
}

fn type_is_known(node: &NodeDefinition, at: &Pointer, catalog: &Catalog, report: &mut Report) {
    let kind = node.kind.as_str();
    let is_known = catalog::outputs(kind).is_some() || catalog.tool_entry(kind).is_some();
    if kind.is_empty() || is_known {
        return;
    }
    let types = NODE_TYPES.iter().map(|(name, _)| *name);
    let suggestion = suggestion(kind, types.chain(catalog.tool_names()));
    let message = format!(
        "node `{}`: there is no node type or tool `{}`{suggestion}",
        shown(&node.id),
        shown(kind)
    );
    report.add(Code::UnknownType, at.name("type"), message);
}

fn tool_can_be_node(node: &NodeDefinition, at: &Pointer, catalog: &Catalog, report: &mut Report) {
    let kind = node.kind.as_str();
    if kind.is_empty() || catalog::outputs(kind).is_some() {
        return;
    }
    if let Some(tool) = catalog.tool_entry(kind)
        && tool.mode == ToolMode::FunctionCall
    {
        let message = format!(
            "node `{}`: tool `{}` is called by models and cannot be a node: give it to an agent",
            shown(&node.id),
            shown(kind)
        );
        report.add(Code::ToolNotStandalone, at.name("type"), message);
    }
}

fn handles_exist(graph: &GraphDefinition, nodes: &Nodes<'_>, report: &mut Report) {
    for (index, edge) in graph.edges.iter().enumerate() {
        let Some(node) = nodes.get(edge.source.as_str()) else {
            continue;
        };
        let handle = edge.source_handle.as_str();
        if handle.is_empty() {
            continue;
        }
        if node.kind == "conditional" {
            if !conditional::handle_is_chosen(node, handle) {
                let at = Pointer::root()
                    .name("edges")
                    .item(index)
                    .name("sourceHandle");
                let (id, handle) = (shown(&node.id), shown(handle));
                let message = format!(
                    "node `{id}` has no output `{handle}`: it has no condition and no `default` of this name"
                );
                report.add(Code::UnknownHandle, at, message);
            }
            continue;
        }
        let Some(outputs) = catalog::outputs(&node.kind) else {
            continue;
        };
        if !outputs.contains(&handle) {
            let at = Pointer::root()
                .name("edges")
                .item(index)
                .name("sourceHandle");
            let (id, handle, list) = (shown(&node.id), shown(handle), outputs.join("`, `"));
            let message = format!(
                "node `{id}` has no output `{handle}`: type `{}` has `{list}`",
                node.kind
            );
            report.add(Code::UnknownHandle, at, message);
        }
    }
}

fn triggers_begin(graph: &GraphDefinition, report: &mut Report) {
    let targets: HashSet<&str> = graph
        .edges
        .iter()
        .map(|edge| edge.target.as_str())
        .collect();
    for (index, node) in graph.nodes.iter().enumerate() {
        if node.kind == "webhook_trigger" && targets.contains(node.id.as_str()) {
            let at = Pointer::root().name("nodes").item(index);
            let message = format!(
                "node `{}` is a trigger, and an edge leads to it",
                shown(&node.id)
            );
            report.add(Code::TriggerWithInput, at, message);
        }
    }
}
