//! Pictures as texts: Mermaid and Graphviz.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::drawing::{Drawing, Shape, Vertex};

pub(super) fn mermaid(drawing: &Drawing) -> String {
    let ids = ids(&drawing.vertices);
    let mut text = "graph TD\n    START([START])\n    END([END])\n".to_owned();
    for (id, vertex) in ids.iter().zip(&drawing.vertices) {
        let (open, close) = match vertex.shape {
            Shape::Node => ("[", "]"),
            Shape::Everywhere => ("([", "])"),
            Shape::Decision => ("{", "}"),
        };
        let label = mermaid_label(&vertex.label);
        let _ = writeln!(text, "    {id}{open}{label}{close}");
    }
    if let Some(first) = drawing.first {
        let _ = writeln!(text, "    START --> {}", ids[first]);
    }
    for line in &drawing.lines {
        let to = line.to.map_or("END", |to| &ids[to]);
        let label = line.label.as_deref().map(mermaid_label);
        let label = label.map_or_else(String::new, |label| format!("|{label}|"));
        let _ = writeln!(text, "    {} -->{label} {to}", ids[line.from]);
    }
    text
}

pub(super) fn dot(drawing: &Drawing) -> String {
    let ids: Vec<String> = ids(&drawing.vertices).iter().map(|it| quoted(it)).collect();
    let mut text =
        "digraph conversation {\n    START [shape=oval];\n    END [shape=oval];\n".to_owned();
    for (id, vertex) in ids.iter().zip(&drawing.vertices) {
        let shape = match vertex.shape {
            Shape::Node => "box",
            Shape::Everywhere => "oval",
            Shape::Decision => "diamond",
        };
        let label = quoted(&vertex.label);
        let _ = writeln!(text, "    {id} [shape={shape}, label={label}];");
    }
    if let Some(first) = drawing.first {
        let _ = writeln!(text, "    START -> {};", ids[first]);
    }
    for line in &drawing.lines {
        let to = line.to.map_or("END", |to| &ids[to]);
        let label = line.label.as_deref().map(quoted);
        let label = label.map_or_else(String::new, |label| format!(" [label={label}]"));
        let _ = writeln!(text, "    {} -> {to}{label};", ids[line.from]);
    }
    text.push_str("}\n");
    text
}

/// Names that both languages can read, and that differ from each other. Some words are keywords of Mermaid.
fn ids(vertices: &[Vertex]) -> Vec<String> {
    const KEYWORDS: [&str; 14] = [
        "start",
        "end",
        "graph",
        "flowchart",
        "subgraph",
        "style",
        "linkstyle",
        "class",
        "classdef",
        "click",
        "default",
        "direction",
        "call",
        "href",
    ];
    let mut used = HashSet::new();
    let ids = vertices.iter().map(|vertex| {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut id: String = vertex.id.chars().map(plain).collect();
        if id.is_empty() || KEYWORDS.contains(&id.to_lowercase().as_str()) {
            id.push('_');
        }
        let mut unused = id.clone();
        let mut number = 1;
        while !used.insert(unused.clone()) {
            number += 1;
            unused = format!("{id}_{number}");
        }
        unused
    });
    ids.collect()
}

fn mermaid_label(label: &str) -> String {
    let mut text = String::from("\"");
    for c in label.chars() {
        match c {
            '"' => text.push_str("#quot;"),
            '#' => text.push_str("#35;"),
            '<' => text.push_str("#lt;"),
            '>' => text.push_str("#gt;"),
            '&' => text.push_str("#amp;"),
            '`' => text.push_str("#96;"),
            c if c.is_control() => text.push(' '),
            c => text.push(c),
        }
    }
    text.push('"');
    text
}

fn quoted(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
