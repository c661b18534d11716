//! Diagrams in Mermaid.

use std::fmt::Write as _;

use petalflow_graph::mermaid_quoted;

use super::ids::ids;
use super::model::{Diagram, Shape};

pub(super) fn mermaid(diagram: &Diagram) -> String {
    let ids = ids(&diagram.nodes);
    let mut text = "graph TD\n    START([START])\n    END([END])\n".to_owned();
    for (id, node) in ids.iter().zip(&diagram.nodes) {
        let (open, close) = match node.shape {
            Shape::Node => ("[", "]"),
            Shape::Everywhere => ("([", "])"),
            Shape::Decision => ("{", "}"),
        };
        let label = mermaid_quoted(&node.label);
        let _ = writeln!(text, "    {id}{open}{label}{close}");
    }
    if let Some(first) = diagram.first {
        let _ = writeln!(text, "    START --> {}", ids[first]);
    }
    for edge in &diagram.edges {
        let to = edge.to.map_or("END", |to| &ids[to]);
        let label = edge.label.as_deref().map(mermaid_quoted);
        let label = label.map_or_else(String::new, |label| format!("|{label}|"));
        let _ = writeln!(text, "    {} -->{label} {to}", ids[edge.from]);
    }
    text
}
