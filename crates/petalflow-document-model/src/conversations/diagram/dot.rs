//! Diagrams in the DOT language of Graphviz.

use std::fmt::Write as _;

use petalflow_graph::dot_quoted;

use super::ids::ids;
use super::model::{Diagram, Shape};

pub(super) fn dot(diagram: &Diagram) -> String {
    let ids: Vec<String> = ids(&diagram.nodes)
        .iter()
        .map(|it| dot_quoted(it))
        .collect();
    let mut text =
        "digraph conversation {\n    START [shape=oval];\n    END [shape=oval];\n".to_owned();
    for (id, node) in ids.iter().zip(&diagram.nodes) {
        let shape = match node.shape {
            Shape::Node => "box",
            Shape::Everywhere => "oval",
            Shape::Decision => "diamond",
        };
        let label = dot_quoted(&node.label);
        let _ = writeln!(text, "    {id} [shape={shape}, label={label}];");
    }
    if let Some(first) = diagram.first {
        let _ = writeln!(text, "    START -> {};", ids[first]);
    }
    for edge in &diagram.edges {
        let to = edge.to.map_or("END", |to| &ids[to]);
        let label = edge.label.as_deref().map(dot_quoted);
        let label = label.map_or_else(String::new, |label| format!(" [label={label}]"));
        let _ = writeln!(text, "    {} -> {to}{label};", ids[edge.from]);
    }
    text.push_str("}\n");
    text
}
