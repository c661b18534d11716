//! The names of nodes in Mermaid and DOT.

use std::collections::{HashMap, HashSet};

use super::model::Node;

/// Names that both languages can read, and that differ from each other. Some words are keywords of Mermaid.
pub(super) fn ids(nodes: &[Node]) -> Vec<String> {
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
    let mut numbers = HashMap::new();
    let ids = nodes.iter().map(|node| {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut id: String = node.id.chars().map(plain).collect();
        if id.is_empty() || KEYWORDS.contains(&id.to_lowercase().as_str()) {
            id.push('_');
        }
        let mut unused = id.clone();
        while !used.insert(unused.clone()) {
            let number = numbers.entry(id.clone()).or_insert(1_usize);
            *number += 1;
            unused = format!("{id}_{number}");
        }
        unused
    });
    ids.collect()
}
