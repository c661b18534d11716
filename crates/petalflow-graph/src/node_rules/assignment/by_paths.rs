//! Definite assignment over the edges, for graphs whose states are unknown or too many. It is sound, but not exact.

use super::{report_output, report_read};
use crate::facts::{KeyFacts, NodeFacts, Property, select};
use crate::idx::NodeIdx;
use crate::keys::{KeySet, MAX_KEYS};
use crate::messages::Precision;
use crate::node_rules::verdict::Verdict;
use crate::tables::{PathEdge, PathsRef, kind};

/// Reports the keys that are read, or are outputs, and may have no value.
pub(crate) const fn by_paths(
    paths: &PathsRef<'_>,
    keys: &[KeyFacts<'_>],
    nodes: &[NodeFacts<'_>],
    precision: Precision,
    values: &mut [KeySet],
    verdicts: &mut [Verdict],
) {
    fill_written(paths, keys, nodes, values);
    let mut node = 0;
    while node < nodes.len() {
        if let Some(key) = nodes[node].reads.minus(values[node]).first() {
            let after = missing_on_edge(paths, node, key, keys, nodes, values);
            report_read(key, after, node, verdicts);
            verdicts[node].read_precision = precision;
        }
        node += 1;
    }
    // The edges do not show whether an ephemeral value lasts until the end.
    let lasting = KeySet::ALL.minus(select(keys, Property::Ephemeral));
    // The key is reported at a node before END on a path that does not write it.
    let outputs = select(keys, Property::Output)
        .minus(select(keys, Property::Assigned).intersection(lasting));
    if outputs.is_empty() {
        return;
    }
    let mut lasts = [u32::MAX; MAX_KEYS];
    let mut i = 0;
    while i < paths.forward.len() {
        let PathEdge {
            from,
            to,
            kind: what,
            ..
        } = paths.forward[i];
        if to == paths.end() && (from as usize) < nodes.len() {
            let value = along(from, what, KeySet::NONE, nodes, values);
            let mut missing = outputs.minus(value);
            while let Some(key) = missing.first() {
                missing = missing.minus(KeySet::of(key));
                if lasts[key] == u32::MAX {
                    lasts[key] = from;
                }
            }
        }
        i += 1;
    }
    let mut missing = outputs.minus(will_be_written(paths, nodes, values).intersection(lasting));
    while let Some(key) = missing.first() {
        missing = missing.minus(KeySet::of(key));
        let node = if lasts[key] == u32::MAX {
            0
        } else {
            lasts[key] as usize
        };
        report_output(key, node, verdicts);
        verdicts[node].read_precision = precision;
    }
}

/// Fills `values` with the keys that surely have a value when each node runs and when each join fires.
const fn fill_written(
    paths: &PathsRef<'_>,
    keys: &[KeyFacts<'_>],
    nodes: &[NodeFacts<'_>],
    values: &mut [KeySet],
) {
    let ephemeral = select(keys, Property::Ephemeral);
    let mut i = 0;
    while i <= paths.end() as usize {
        values[i] = KeySet::ALL;
        i += 1;
    }
    values[paths.start() as usize] = select(keys, Property::Assigned);
    let mut changed = true;
    while changed {
        changed = false;
        let mut edge = 0;
        while edge < paths.forward.len() {
            let to = paths.forward[edge].to;
            let join = to >= paths.nodes && to < paths.start();
            let mut value = if join { KeySet::NONE } else { KeySet::ALL };
            while edge < paths.forward.len() && paths.forward[edge].to == to {
                let mut side = along_edge(&paths.forward[edge], ephemeral, nodes, values);
                edge += 1;
                // All edges from one source are one side, which arrives when any of them fires.
                while join
                    && edge < paths.forward.len()
                    && paths.forward[edge].to == to
                    && paths.forward[edge].from == paths.forward[edge - 1].from
                {
                    side = side.intersection(along_edge(
                        &paths.forward[edge],
                        ephemeral,
                        nodes,
                        values,
                    ));
                    edge += 1;
                }
                value = if join {
                    value.union(side)
                } else {
                    value.intersection(side)
                };
            }
            if !value.equals(&values[to as usize]) {
                values[to as usize] = value;
                changed = true;
            }
        }
    }
}

const fn along_edge(
    edge: &PathEdge,
    ephemeral: KeySet,
    nodes: &[NodeFacts<'_>],
    values: &[KeySet],
) -> KeySet {
    let value = along(edge.from, edge.kind, ephemeral, nodes, values);
    if edge.kind & kind::LATE != 0 {
        value.minus(ephemeral)
    } else {
        value
    }
}

/// The keys that surely have a value after `from`, on an edge of this kind.
const fn along(
    from: u32,
    what: u8,
    ephemeral: KeySet,
    nodes: &[NodeFacts<'_>],
    values: &[KeySet],
) -> KeySet {
    let value = values[from as usize];
    if from as usize >= nodes.len() {
        return value;
    }
    let node = &nodes[from as usize];
    // An empty list means that the node has not run at all. A failed node has run, but writes nothing.
    if what & kind::FROM_BATCH != 0 {
        return value.minus(ephemeral);
    }
    let read = value.union(node.reads).minus(ephemeral);
    if what & kind::WITHOUT_FLAGS == kind::CATCH {
        read
    } else {
        read.union(node.must_write)
    }
}

/// The node before this one on an edge along which the key is not written.
const fn missing_on_edge(
    paths: &PathsRef<'_>,
    node: usize,
    key: usize,
    keys: &[KeyFacts<'_>],
    nodes: &[NodeFacts<'_>],
    values: &[KeySet],
) -> Option<NodeIdx> {
    let ephemeral = select(keys, Property::Ephemeral);
    let mut edge = 0;
    while edge < paths.forward.len() {
        let PathEdge { from, to, .. } = paths.forward[edge];
        if to as usize == node
            && !along_edge(&paths.forward[edge], ephemeral, nodes, values).contains(key)
        {
            return if (from as usize) < nodes.len() {
                Some(NodeIdx::new(from))
            } else {
                None
            };
        }
        edge += 1;
    }
    None
}

/// The keys that are surely written between START and the end of the run.
///
/// All plain edges fire, so it suffices that one of them leads to a writer. Each route must lead to a writer. If a node may choose
/// no route, its routes do not count. A join counts for each of its sides, because a graph in which a join may not fire is rejected.
const fn will_be_written(
    paths: &PathsRef<'_>,
    nodes: &[NodeFacts<'_>],
    values: &mut [KeySet],
) -> KeySet {
    let mut i = 0;
    while i <= paths.end() as usize {
        values[i] = KeySet::ALL;
        i += 1;
    }
    values[paths.end() as usize] = KeySet::NONE;
    let mut changed = true;
    while changed {
        changed = false;
        let mut edge = 0;
        while edge < paths.backward.len() {
            let from = paths.backward[edge].from;
            let (value, next) = will_be_written_from(paths, edge, nodes, values);
            edge = next;
            if !value.equals(&values[from as usize]) {
                values[from as usize] = value;
                changed = true;
            }
        }
    }
    values[paths.start() as usize]
}

/// The keys that are surely written after the source of this edge, and the index of the first edge of the next source.
const fn will_be_written_from(
    paths: &PathsRef<'_>,
    mut edge: usize,
    nodes: &[NodeFacts<'_>],
    values: &[KeySet],
) -> (KeySet, usize) {
    let from = paths.backward[edge].from;
    let (mut always, mut chosen, mut caught) = (KeySet::NONE, KeySet::ALL, KeySet::NONE);
    let (mut chooses, mut fails, mut batch) = (false, false, false);
    while edge < paths.backward.len() && paths.backward[edge].from == from {
        let PathEdge {
            to,
            kind: what,
            route: group,
            ..
        } = paths.backward[edge];
        batch = batch || what & kind::FROM_BATCH != 0;
        match what & kind::WITHOUT_FLAGS {
            kind::CATCH => {
                fails = true;
                caught = caught.union(values[to as usize]);
                edge += 1;
            }
            kind::ROUTE | kind::ROUTE_EACH => {
                chooses = true;
                let mut route = KeySet::NONE;
                while edge < paths.backward.len() {
                    let PathEdge {
                        from: source,
                        to,
                        kind: what,
                        route: of,
                    } = paths.backward[edge];
                    let routed = what & kind::WITHOUT_FLAGS == kind::ROUTE
                        || what & kind::WITHOUT_FLAGS == kind::ROUTE_EACH;
                    if source != from || of != group || !routed {
                        break;
                    }
                    route = route.union(target(to, what, values));
                    edge += 1;
                }
                chosen = chosen.intersection(route);
            }
            _ => {
                always = always.union(target(to, what, values));
                edge += 1;
            }
        }
    }
    let mut value = always;
    // With an empty list the node is skipped, so it chooses nothing.
    if (from as usize) < nodes.len() && !batch {
        value = value.union(nodes[from as usize].must_write);
        if chooses && !nodes[from as usize].many {
            value = value.union(chosen);
        }
    }
    if batch && chooses {
        value = KeySet::NONE;
    }
    if fails {
        value = value.intersection(caught);
    }
    (value, edge)
}

/// The keys that are surely written after an edge.
const fn target(to: u32, what: u8, values: &[KeySet]) -> KeySet {
    let list =
        what & kind::WITHOUT_FLAGS == kind::EACH || what & kind::WITHOUT_FLAGS == kind::ROUTE_EACH;
    // A cycle over lists ends with an empty list, at any of its edges.
    if list && what & kind::BACK != 0 {
        KeySet::NONE
    } else {
        values[to as usize]
    }
}
