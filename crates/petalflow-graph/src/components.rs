//! Algorithms on directed graphs: strongly connected components, cycles, orders.
//!
//! A graph is given by its adjacency lists: `next[v]` has the vertices to which `v` has an edge.

use std::collections::{BTreeMap, VecDeque};

/// The strongly connected components, each ascending, sorted by their first vertex.
///
/// This is Tarjan's algorithm without recursion, because a chain of nodes can be long.
pub(crate) fn components(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let (mut number, mut low) = (vec![NEW; next.len()], vec![0; next.len()]);
    let (mut open, mut is_open) = (Vec::new(), vec![false; next.len()]);
    let (mut components, mut count) = (Vec::new(), 0);
    for root in 0..next.len() {
        if number[root] != NEW {
            continue;
        }
        let mut calls = vec![(root, 0)];
        while let Some((at, child)) = calls.last_mut() {
            let at = *at;
            if *child == 0 && number[at] == NEW {
                number[at] = count;
                low[at] = count;
                count += 1;
                open.push(at);
                is_open[at] = true;
            }
            if let Some(&to) = next[at].get(*child) {
                *child += 1;
                if number[to] == NEW {
                    calls.push((to, 0));
                } else if is_open[to] {
                    low[at] = low[at].min(number[to]);
                }
                continue;
            }
            calls.pop();
            if let Some((parent, _)) = calls.last() {
                low[*parent] = low[*parent].min(low[at]);
            }
            if low[at] == number[at] {
                let begin = open.iter().rposition(|&vertex| vertex == at).unwrap_or(0);
                let mut component = open.split_off(begin);
                for &vertex in &component {
                    is_open[vertex] = false;
                }
                component.sort_unstable();
                components.push(component);
            }
        }
    }
    components.sort_unstable();
    components
}

/// The strongly connected components without an edge to another component, each ascending, sorted by their first vertex.
pub(crate) fn sinks(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let components = components(next);
    let mut component_of = vec![0; next.len()];
    for (i, component) in components.iter().enumerate() {
        for &vertex in component {
            component_of[vertex] = i;
        }
    }
    let leads_out = |i: usize, component: &Vec<usize>| {
        let mut targets = component.iter().flat_map(|&vertex| &next[vertex]);
        targets.any(|&to| component_of[to] != i)
    };
    let components = components.into_iter().enumerate();
    components
        .filter(|(i, component)| !leads_out(*i, component))
        .map(|(_, component)| component)
        .collect()
}

/// A shortest cycle through `first`, which is a vertex of the ascending component. `first` alone if there is no cycle.
pub(crate) fn cycle_through(component: &[usize], next: &[Vec<usize>], first: usize) -> Vec<usize> {
    let mut cycle = search_cycle(component, next, first);
    cycle.reverse();
    cycle
}

/// [`cycle_through`] for the reversed graph: `previous` has for each vertex those that have an edge to it.
pub(crate) fn cycle_through_reversed(
    component: &[usize],
    previous: &[Vec<usize>],
    first: usize,
) -> Vec<usize> {
    let mut cycle = search_cycle(component, previous, first);
    cycle.rotate_right(1);
    cycle
}

/// The vertices of a shortest cycle against the direction of the search: `first` is the last of them.
fn search_cycle(component: &[usize], next: &[Vec<usize>], first: usize) -> Vec<usize> {
    let mut found_from = BTreeMap::new();
    let mut queue = VecDeque::from([first]);
    while let Some(at) = queue.pop_front() {
        for &to in &next[at] {
            if component.binary_search(&to).is_err() {
                continue;
            }
            if to == first {
                let mut cycle = vec![at];
                while let Some(&previous) = found_from.get(&cycle[cycle.len() - 1]) {
                    cycle.push(previous);
                }
                return cycle;
            }
            found_from.entry(to).or_insert_with(|| {
                queue.push_back(to);
                at
            });
        }
    }
    vec![first]
}

/// The vertices that can be reached from `start`, each after its successors (except along cycles).
pub(crate) fn postorder(next: &[Vec<usize>], start: usize) -> Vec<usize> {
    let mut seen = vec![false; next.len()];
    let mut order = Vec::new();
    let mut stack = vec![(start, 0)];
    seen[start] = true;
    while let Some((vertex, child)) = stack.last_mut() {
        if let Some(&to) = next[*vertex].get(*child) {
            *child += 1;
            if !std::mem::replace(&mut seen[to], true) {
                stack.push((to, 0));
            }
        } else {
            order.push(*vertex);
            stack.pop();
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::{components, cycle_through, cycle_through_reversed, postorder, sinks};

    /// 0 -> 1 -> 2 -> 1, and 2 -> 3.
    fn next() -> Vec<Vec<usize>> {
        vec![vec![1], vec![2], vec![1, 3], vec![]]
    }

    #[test]
    fn a_cycle_is_one_component() {
        assert_eq!(components(&next()), [vec![0], vec![1, 2], vec![3]]);
        assert_eq!(sinks(&next()), [vec![3]]);
        assert_eq!(postorder(&next(), 0), [3, 2, 1, 0]);
    }

    #[test]
    fn a_cycle_is_given_in_the_direction_of_its_edges() {
        let next = [vec![1], vec![2], vec![0]];
        let previous = [vec![2], vec![0], vec![1]];
        assert_eq!(cycle_through(&[0, 1, 2], &next, 1), [1, 2, 0]);
        assert_eq!(cycle_through_reversed(&[0, 1, 2], &previous, 1), [1, 2, 0]);
        assert_eq!(cycle_through(&[0], &[vec![]], 0), [0]);
    }
}
