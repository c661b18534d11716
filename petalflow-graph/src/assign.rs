//! Definite assignment: which keys have surely been written when a node runs, and when the run ends.
//!
//! Each value is an intersection over the ways to get there, found as a greatest fixpoint. A read that is not met is taken
//! as met from there on, so that one missing write is reported where it is first missed and not all the way down.

use crate::facts::{KeyFacts, NodeFacts, Property, select};
use crate::frontiers::FrontiersRef;
use crate::keys::KeySet;
use crate::paths::{PathEdge, PathsRef, kind};
use crate::verdict::{Unmet, Verdict};
use crate::words::Grounds;

/// Exactly, over the states of the run.
#[inline]
pub(crate) const fn by_frontiers(
    frontiers: &FrontiersRef<'_>,
    keys: &[KeyFacts<'_>],
    nodes: &[NodeFacts<'_>],
    values: &mut [KeySet],
    verdicts: &mut [Verdict],
) {
    let ephemeral = select(keys, Property::Ephemeral);
    let mut state = 0;
    while state < frontiers.states() {
        values[state] = KeySet::ALL;
        state += 1;
    }
    values[0] = select(keys, Property::Assigned);
    let mut changed = true;
    while changed {
        changed = false;
        let mut way = 0;
        while way < frontiers.ways.len() {
            let to = frontiers.ways[way].1 as usize;
            let value = values[to].intersection(after(frontiers, way, ephemeral, nodes, values));
            if !value.equals(&values[to]) {
                values[to] = value;
                changed = true;
            }
            way += 1;
        }
    }
    let mut outputs = select(keys, Property::Output);
    let mut state = 0;
    while state < frontiers.states() {
        let mut i = frontiers.offsets[state] as usize;
        while i < frontiers.offsets[state + 1] as usize {
            let node = frontiers.nodes[i] as usize;
            if verdicts[node].unmet.is_none()
                && let Some(key) = nodes[node].reads.minus(values[state]).first()
            {
                let after = missing_before(frontiers, state, key, ephemeral, nodes, values);
                #[expect(clippy::cast_possible_truncation, reason = "keys fit, see `MAX_KEYS`")]
                let unmet = Unmet {
                    key: key as u32,
                    after,
                };
                verdicts[node].unmet = Some(unmet);
            }
            i += 1;
        }
        if frontiers.is_end(state)
            && let Some(key) = outputs.minus(values[state]).first()
        {
            let last = match missing_before(frontiers, state, key, ephemeral, nodes, values) {
                Some(node) => node as usize,
                None => 0,
            };
            report_output(key, last, verdicts);
            outputs = outputs.minus(KeySet::of(key));
            continue;
        }
        state += 1;
    }
}

/// What is surely written after the superstep that goes this way.
#[inline]
const fn after(
    frontiers: &FrontiersRef<'_>,
    way: usize,
    ephemeral: KeySet,
    nodes: &[NodeFacts<'_>],
    values: &[KeySet],
) -> KeySet {
    let (from, _, lost, lost_end) = frontiers.ways[way];
    let from = from as usize;
    if from == 0 {
        return values[0];
    }
    let mut value = values[from];
    let mut written = KeySet::NONE;
    let mut lost = lost as usize;
    let mut i = frontiers.offsets[from] as usize;
    while i < frontiers.offsets[from + 1] as usize {
        let node = &nodes[frontiers.nodes[i] as usize];
        value = value.union(node.reads);
        // Both lists ascend.
        if lost < lost_end as usize && frontiers.lost[lost] == frontiers.nodes[i] {
            lost += 1;
        } else {
            written = written.union(node.must_write);
        }
        i += 1;
    }
    value.minus(ephemeral).union(written)
}

/// A node that runs right before this state on a way on which the key is not written.
#[inline]
const fn missing_before(
    frontiers: &FrontiersRef<'_>,
    state: usize,
    key: usize,
    ephemeral: KeySet,
    nodes: &[NodeFacts<'_>],
    values: &[KeySet],
) -> Option<u32> {
    let mut way = 0;
    while way < frontiers.ways.len() {
        let (from, to, ..) = frontiers.ways[way];
        if to as usize == state && !after(frontiers, way, ephemeral, nodes, values).contains(key) {
            let first = frontiers.offsets[from as usize];
            return if from == 0 {
                None
            } else {
                Some(frontiers.nodes[first as usize])
            };
        }
        way += 1;
    }
    None
}

#[inline]
const fn report_output(key: usize, node: usize, verdicts: &mut [Verdict]) {
    if node < verdicts.len() && verdicts[node].output.is_none() {
        #[expect(clippy::cast_possible_truncation, reason = "keys fit, see `MAX_KEYS`")]
        let key = key as u32;
        verdicts[node].output = Some(key);
    }
}

/// Soundly, over the edges: where the states are unknown, or too many.
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
            #[expect(clippy::cast_possible_truncation, reason = "keys fit, see `MAX_KEYS`")]
            let unmet = Unmet {
                key: key as u32,
                after,
            };
            verdicts[node].unmet = Some(unmet);
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
    let mut lasts = [u32::MAX; crate::keys::MAX_KEYS];
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
) -> Option<u32> {
    let ephemeral = select(keys, Property::Ephemeral);
    let mut edge = 0;
    while edge < paths.forward.len() {
        let (from, to, ..) = paths.forward[edge];
        if to as usize == node
            && !along_edge(&paths.forward[edge], ephemeral, nodes, values).contains(key)
        {
            return if (from as usize) < nodes.len() {
                Some(from)
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
