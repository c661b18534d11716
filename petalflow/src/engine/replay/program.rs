//! What of a program differs from the one that wrote a thread.

use std::collections::{BTreeMap, BTreeSet};

use super::difference::{Difference, DifferenceKind};
use crate::checkpoint::{KeyOutline, NodeOutline};
use petalflow_store::codec::{GraphOutline, Outline};

/// What has changed in the program, by stored names.
#[derive(Clone, Debug, Default)]
pub(super) struct ProgramChanges {
    pub(super) differences: Vec<Difference>,
    /// The keys that are new, gone or different.
    pub(super) keys: BTreeSet<String>,
    /// The nodes that are new, gone or different.
    pub(super) nodes: BTreeSet<String>,
    /// The nodes whose edges are different.
    pub(super) sources: BTreeSet<String>,
}

/// The changes of a program.
pub(super) fn changes(was: &Outline, is: &Outline) -> ProgramChanges {
    let mut changes = ProgramChanges::default();
    nodes(was, is, &mut changes);
    edges(&was.graph, &is.graph, &mut changes);
    keys(was, is, &mut changes);
    changes
}

const NOTHING: &str = "-";

fn nodes(was: &Outline, is: &Outline, changes: &mut ProgramChanges) {
    let (was, is) = (&was.graph.nodes, &is.graph.nodes);
    let text = |node: Option<&NodeOutline>| node.map_or(NOTHING.into(), ToString::to_string);
    let names: BTreeSet<&str> = was.iter().chain(is).map(|node| &*node.name).collect();
    for name in names {
        let (was, is) = (NodeOutline::find(was, name), NodeOutline::find(is, name));
        if was != is {
            let kind = DifferenceKind::Node;
            let difference = Difference::of_program(kind, Some(name), &text(was), &text(is));
            changes.differences.push(difference);
            changes.nodes.insert(name.into());
        }
    }
}

/// An edge from a node that is new or gone, or to one, is not a change of its own.
fn edges(was: &GraphOutline, is: &GraphOutline, changes: &mut ProgramChanges) {
    let (was_from, is_from) = (by_source(&was.edges), by_source(&is.edges));
    let sources: BTreeSet<&str> = was_from.keys().chain(is_from.keys()).copied().collect();
    let none = BTreeSet::new();
    for source in sources {
        let was = was_from.get(source).unwrap_or(&none);
        let is = is_from.get(source).unwrap_or(&none);
        if was == is {
            continue;
        }
        let node = source.split(" [").next().unwrap_or(source);
        changes.sources.insert(node.into());
        let explains = |name: &str| changes.nodes.contains(name);
        let explained = |targets: &BTreeSet<&str>, others: &BTreeSet<&str>| {
            targets.difference(others).any(|target| explains(target))
        };
        if explains(node) || explained(was, is) || explained(is, was) {
            continue;
        }
        let text = |targets: &BTreeSet<&str>| match targets.len() {
            0 => NOTHING.into(),
            _ => targets.iter().copied().collect::<Vec<_>>().join(", "),
        };
        let (was, is) = (text(was), text(is));
        let mut difference = Difference::of_program(DifferenceKind::Edge, Some(node), &was, &is);
        difference.name = source[node.len()..].trim().to_string();
        changes.differences.push(difference);
    }
    let joins = |of: &GraphOutline| of.joins.iter().cloned().collect::<BTreeSet<String>>();
    let (was, is) = (joins(was), joins(is));
    for join in was.symmetric_difference(&is) {
        if changes.nodes.iter().any(|node| mentions(join, node)) {
            continue;
        }
        let (expected, found) = if was.contains(join) {
            (&**join, NOTHING)
        } else {
            (NOTHING, &**join)
        };
        let difference = Difference::of_program(DifferenceKind::Join, None, expected, found);
        changes.differences.push(difference);
    }
}

fn mentions(join: &str, node: &str) -> bool {
    join.split([' ', '(', ')']).any(|word| word == node)
}

/// The targets of the edges, by their sources with their routes.
fn by_source(edges: &[String]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut by_source: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (source, target) in edges.iter().filter_map(|edge| edge.rsplit_once(" -> ")) {
        by_source.entry(source).or_default().insert(target);
    }
    by_source
}

fn keys(was: &Outline, is: &Outline, changes: &mut ProgramChanges) {
    let text = |key: Option<&KeyOutline>| {
        let text = key.map_or(NOTHING.into(), ToString::to_string);
        // Its name is said before.
        text.split_once(": ")
            .map_or(text.clone(), |(_, rest)| rest.into())
    };
    let names: BTreeSet<&str> = was
        .keys
        .iter()
        .chain(&is.keys)
        .map(|key| &*key.id)
        .collect();
    for name in names {
        let was = KeyOutline::find(&was.keys, name);
        let is = KeyOutline::find(&is.keys, name);
        if was != is {
            let kind = DifferenceKind::Key;
            let mut difference = Difference::of_program(kind, None, &text(was), &text(is));
            difference.name = name.into();
            changes.differences.push(difference);
            changes.keys.insert(name.into());
        }
    }
}
