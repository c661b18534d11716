//! Soundly, over the edges: where the states are unknown, or too many.

use super::{report_output, report_read};
use crate::facts::{KeyFacts, NodeFacts, Property, select};
use crate::idx::NodeIdx;
use crate::keys::{KeySet, MAX_KEYS};
use crate::paths::{PathEdge, PathsRef, kind};
use crate::verdict::Verdict;
use crate::words::Grounds;

/// Reports what is read or put out without having surely been written.
#[inline]
pub(crate) const fn by_paths(
    paths: &PathsRef<'_>,
    keys: &[KeyFacts<'_>],
    nodes: &[NodeFacts<'_>],
    grounds: Grounds,
    values: &mut [KeySet],
    verdicts: &mut [Verdict],
) {
    written(paths, keys, nodes, values);
    let mut node = 0;
    while node < nodes.len() {
        if let Some(key) = nodes[node].reads.minus(values[node]).first() {
            let after = missing_on_edge(paths, node, key, keys, nodes, values);
            report_read(key, after, node, verdicts);
            verdicts[node].reading = grounds;
        }
        node += 1;
    }
    // Of what lasts one superstep the edges do not say whether it lasts until the end.
    let lasting = KeySet::ALL.minus(select(keys, Property::Ephemeral));
    // A path that writes the key last of all is as good as any; the node before END on one that does not is to blame.
    let outputs = select(keys, Property::Output)
        .minus(select(keys, Property::Assigned).intersection(lasting));
    if outputs.is_empty() {
        return;
    }
    let mut lasts = [u32::MAX; MAX_KEYS];
    let mut i = 0;
    while i < paths.forward.len() {
        let (from, to, what, _) = paths.forward[i];
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
        verdicts[node].reading = grounds;
    }
}

/// Fills `values` with what is surely written when each node runs and when each join fires.
#[inline]
const fn written(
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
            let to = paths.forward[edge].1;
            let join = to >= paths.nodes && to < paths.start();
            let mut value = if join { KeySet::NONE } else { KeySet::ALL };
            while edge < paths.forward.len() && paths.forward[edge].1 == to {
                let mut side = along_edge(&paths.forward[edge], ephemeral, nodes, values);
                edge += 1;
                // All edges from one source are one side: it arrives on any of them.
                while join
                    && edge < paths.forward.len()
                    && paths.forward[edge].1 == to
                    && paths.forward[edge].0 == paths.forward[edge - 1].0
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

#[inline]
const fn along_edge(
    edge: &PathEdge,
    ephemeral: KeySet,
    nodes: &[NodeFacts<'_>],
    values: &[KeySet],
) -> KeySet {
    let (from, _, what, _) = *edge;
    let value = along(from, what, ephemeral, nodes, values);
    if what & kind::LATE != 0 {
        value.minus(ephemeral)
    } else {
        value
    }
}

/// What is surely written after `from`, on an edge of this kind.
#[inline]
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
    // A batch may have been empty: then the node has not run at all. A failed one has, but writes nothing.
    if what & kind::FROM_BATCH != 0 {
        return value.minus(ephemeral);
    }
    let kept = value.union(node.reads).minus(ephemeral);
    if what & kind::WHAT == kind::CATCH {
        kept
    } else {
        kept.union(node.must_write)
    }
}

/// The node before this one on an edge along which the key is not written.
#[inline]
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
        let (from, to, ..) = paths.forward[edge];
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

/// What is surely written from START to the end of the run.
///
/// Plain edges all fire, so any of them may do the writing; of the routes each must, unless none may be chosen. Joins
/// count for each of their sides, because graphs in which one might not fire are refused.
#[inline]
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
            let from = paths.backward[edge].0;
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

/// The same from the source of this edge on; and where the edges of the next source begin.
#[inline]
const fn will_be_written_from(
    paths: &PathsRef<'_>,
    mut edge: usize,
    nodes: &[NodeFacts<'_>],
    values: &[KeySet],
) -> (KeySet, usize) {
    let from = paths.backward[edge].0;
    let (mut always, mut chosen, mut caught) = (KeySet::NONE, KeySet::ALL, KeySet::NONE);
    let (mut chooses, mut fails, mut batch) = (false, false, false);
    while edge < paths.backward.len() && paths.backward[edge].0 == from {
        let (_, to, what, group) = paths.backward[edge];
        batch = batch || what & kind::FROM_BATCH != 0;
        match what & kind::WHAT {
            kind::CATCH => {
                fails = true;
                caught = caught.union(values[to as usize]);
                edge += 1;
            }
            kind::ROUTE | kind::ROUTE_EACH => {
                chooses = true;
                let mut route = KeySet::NONE;
                while edge < paths.backward.len() {
                    let (also, to, what, of) = paths.backward[edge];
                    let routed =
                        what & kind::WHAT == kind::ROUTE || what & kind::WHAT == kind::ROUTE_EACH;
                    if also != from || of != group || !routed {
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
    // A batch may be empty: then the node is skipped, and it chooses nothing.
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

/// What an edge contributes.
#[inline]
const fn target(to: u32, what: u8, values: &[KeySet]) -> KeySet {
    let list = what & kind::WHAT == kind::EACH || what & kind::WHAT == kind::ROUTE_EACH;
    // A cycle over lists ends with an empty one, at any point of it.
    if list && what & kind::BACK != 0 {
        KeySet::NONE
    } else {
        values[to as usize]
    }
}
