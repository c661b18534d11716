//! Diagrams in Mermaid.

use std::fmt::Write as _;

use petalflow_graph::mermaid_quoted;

use super::ids::ids;
use super::model::{Diagram, Shape};

pub(super) fn mermaid(diagram: &Diagram) -> String {
    let ids = ids(&diagram.vertices);
    let mut text = "graph TD\n    START([START])\n    END([END])\n".to_owned();
    for (id, vertex) in ids.iter().zip(&diagram.vertices) {
        let (open, close) = match vertex.shape {
            Shape::Node => ("[", "]"),
            Shape::Everywhere => ("([", "])"),
            Shape::Decision => ("{", "}"),
        };
        let label = mermaid_quoted(&vertex.label);
        let _ = writeln!(text, "    {id}{open}{label}{close}");
    }
    if let Some(first) = diagram.first {
        let _ = writeln!(text, "    START --> {}", ids[first]);
    }
    for line in &diagram.lines {
        let to = line.to.map_or("END", |to| &ids[to]);
        let label = line.label.as_deref().map(mermaid_quoted);
        let label = label.map_or_else(String::new, |label| format!("|{label}|"));
        let _ = writeln!(text, "    {} -->{label} {to}", ids[line.from]);
    }
    text
}
