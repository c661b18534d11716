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
    for (from, to) in edges {
        if let (Some(&from), Some(&to)) = (index.get(from), index.get(to)) {
            next[from].push(to);
        }
    }
    let path = cycle_in(&next, &leading_to_cycle(&next))?;
    Some(path.into_iter().map(|node| list[node]).collect())
}

/// What remains after all nodes without edges to them were removed again and again.
fn leading_to_cycle(next: &[Vec<usize>]) -> Vec<bool> {
    let mut incoming = vec![0_usize; next.len()];
    for &to in next.iter().flatten() {
        incoming[to] += 1;
    }
    let mut free: Vec<usize> = (0..next.len())
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
    incoming.into_iter().map(|edges| edges > 0).collect()
}

/// Each remaining node has an edge from a remaining one: walks back until a node repeats.
fn cycle_in(next: &[Vec<usize>], remains: &[bool]) -> Option<Vec<usize>> {
    let mut back = vec![None; next.len()];
    for (from, targets) in next.iter().enumerate() {
        for &to in targets {
            if remains[from] && remains[to] {
                back[to] = Some(from);
            }
        }
    }
    let mut node = remains.iter().position(|remains| *remains)?;
    let mut seen = vec![false; next.len()];
    while !seen[node] {
        seen[node] = true;
        node = back[node]?;
    }
    let first = node;
    let mut path = vec![first];
    loop {
        node = back[node]?;
        path.push(node);
        if node == first {
            break;
        }
    }
    path.reverse();
    Some(path)
}

/// The longest cycle that a message shows in full, in names.
const MAX_NAMES: usize = 8;

/// A cycle in words: ``` `a` -> `b` -> `a` ```. The middle of a long one is left out.
pub(crate) fn in_words(cycle: &[&str]) -> String {
    let quoted: Vec<String> = cycle
        .iter()
        .map(|name| format!("`{}`", crate::source::names::shown(name)))
        .collect();
    if quoted.len() <= MAX_NAMES {
        return quoted.join(" -> ");
    }
    let (begin, end) = (
        quoted[..4].join(" -> "),
        quoted[quoted.len() - 2..].join(" -> "),
    );
    format!("{begin} -> … -> {end}")
}
