//! Cycles.

use std::collections::HashMap;

/// Whether edges between names form a cycle, and which one: its names in the order of the edges.
///
/// The time is linear.
pub(crate) fn find<'a>(
    names: impl Iterator<Item = &'a str>,
    edges: &[(&'a str, &'a str)],
) -> Option<Vec<&'a str>> {
    let mut index = HashMap::new();
    let mut list = Vec::new();
    for name in names {
        index.entry(name).or_insert_with(|| {
            list.push(name);
            list.len() - 1
        });
    }
    let mut next = vec![Vec::new(); list.len()];
    let mut incoming = vec![0_usize; list.len()];
    for (from, to) in edges {
        if let (Some(&from), Some(&to)) = (index.get(from), index.get(to)) {
            next[from].push(to);
            incoming[to] += 1;
        }
    }
    // What remains after all nodes without edges to them were removed again and again leads to a cycle.
    let mut free: Vec<usize> = (0..list.len())
        .filter(|node| incoming[*node] == 0)
        .collect();
    while let Some(node) = free.pop() {
        for &to in &next[node] {
            incoming[to] -= 1;
            if incoming[to] == 0 {
                free.push(to);
            }
        }
    }
    // Each remaining node has an edge from a remaining one: walk back until a node repeats.
    let mut back = vec![None; list.len()];
    for (from, targets) in next.iter().enumerate() {
        for &to in targets {
            if incoming[from] > 0 && incoming[to] > 0 {
                back[to] = Some(from);
            }
        }
    }
    let mut node = (0..list.len()).find(|node| incoming[*node] > 0)?;
    let mut seen = vec![false; list.len()];
    while !seen[node] {
        seen[node] = true;
        node = back[node]?;
    }
    let first = node;
    let mut path = vec![list[first]];
    loop {
        node = back[node]?;
        path.push(list[node]);
        if node == first {
            break;
        }
    }
    path.reverse();
    Some(path)
}

/// A cycle in words: ``` `a` -> `b` -> `a` ```. The middle of a long one is left out.
pub(crate) fn in_words(cycle: &[&str]) -> String {
    let quoted: Vec<String> = cycle
        .iter()
        .map(|name| format!("`{}`", petalflow_source::names::shown(name)))
        .collect();
    if quoted.len() <= 8 {
        return quoted.join(" -> ");
    }
    let (begin, end) = (
        quoted[..4].join(" -> "),
        quoted[quoted.len() - 2..].join(" -> "),
    );
    format!("{begin} -> … -> {end}")
}
