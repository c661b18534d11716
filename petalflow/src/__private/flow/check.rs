//! Compile errors from constant evaluation: one call per node, arm and further edge, at the token the user wrote.

use petalflow_graph::{
    KeyFacts, NodeFacts, NodeIdx, Rule, Text, Verdict, kind, messages, report, report_arm,
    report_routes, same,
};

use super::{EdgeRow, Spec};

/// All that one pass found out.
#[derive(Clone, Copy, Debug)]
pub struct Checked {
    pub keys: &'static [KeyFacts<'static>],
    pub specs: &'static [Spec],
    /// The same, with what the guards of interrupts read.
    pub nodes: &'static [NodeFacts<'static>],
    pub verdicts: &'static [Verdict],
    pub edges: &'static [EdgeRow],
    pub joins: &'static [&'static str],
    /// By edge, then by node.
    pub items: &'static [Items],
}

/// Whether what an edge delivers is what its target takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Items {
    Fit,
    /// The target takes an item and gets none.
    Needed,
    /// The target gets an item and takes none.
    Refused,
    /// An `each` edge from a node that returns no items.
    NotSent,
    /// An `each` arm for a route that carries nothing.
    NotCarried,
    /// A plain edge from a node that returns items to one that takes one.
    EachForgotten,
    /// A node that returns items and has no `each` edge.
    Unused,
    /// The node has no such route, which is said at the arm.
    NoRoute,
}

/// Compares all edges with their nodes; `E` is the number of edges and nodes together.
pub const fn items<const E: usize>(specs: &[Spec], edges: &[EdgeRow]) -> [Items; E] {
    let mut items = [Items::Fit; E];
    let mut at = 0;
    let nodes = specs.len();
    while at < nodes {
        if specs[at].node.sends {
            items[edges.len() + at] = Items::Unused;
        }
        at += 1;
    }
    let mut at = 0;
    while at < edges.len() {
        let EdgeRow {
            from,
            to,
            kind: what,
            route,
        } = edges[at];
        let (from, to) = (from as usize, to as usize);
        let to_node = to < nodes;
        let takes = to_node && specs[to].node.facts.takes_item;
        if what == kind::EACH {
            items[edges.len() + from] = Items::Fit;
            if !specs[from].node.sends && !specs[from].node.broken {
                items[at] = Items::NotSent;
            } else if to_node && !takes && !specs[to].node.broken {
                items[at] = Items::Refused;
            }
        } else if what == kind::ROUTE || what == kind::ROUTE_EACH {
            if let Some(index) = index_of(specs[from].node.facts.routes, route) {
                let carries = specs[from].node.payloads[index];
                if what == kind::ROUTE_EACH && !carries {
                    items[at] = Items::NotCarried;
                } else if takes && !carries {
                    items[at] = Items::Needed;
                } else if to_node && carries && !takes && !specs[to].node.broken {
                    items[at] = Items::Refused;
                }
            } else {
                items[at] = Items::NoRoute;
            }
        } else if what == kind::PLAIN && takes {
            // Items that are returned at the one end and needed at the other are one mistake.
            items[at] = if from < nodes && specs[from].node.sends {
                items[edges.len() + from] = Items::Fit;
                Items::EachForgotten
            } else {
                Items::Needed
            };
        }
        at += 1;
    }
    items
}

#[inline]
const fn index_of(routes: &[&str], name: &str) -> Option<usize> {
    let mut i = 0;
    while i < routes.len() {
        if same(routes[i], name) {
            return Some(i);
        }
        i += 1;
    }
    None
}

/// Reports what is wrong with a node that has no arms, and with the first edge to it.
#[track_caller]
#[inline]
pub const fn node(checked: &Checked, place: u32, first: u32, plain: bool) {
    let node = &checked.nodes[place as usize];
    if node.has_route {
        report_routes(node, &[], plain);
    }
    routed(checked, place, first);
}

/// Reports what is wrong with a node, but for its routes, and with the first edge to it.
#[track_caller]
#[inline]
pub const fn routed(checked: &Checked, place: u32, first: u32) {
    if let Items::Unused = checked.items[checked.edges.len() + place as usize] {
        item_mismatch(&messages::items_unused(checked.nodes[place as usize].name));
    }
    if (first as usize) < checked.edges.len()
        && !matches!(checked.items[first as usize], Items::Fit)
    {
        edge(checked, first);
    }
    let verdict = &checked.verdicts[place as usize];
    // Constant evaluation pays for each call, so the rest is for a node with a mistake.
    if verdict.is_fine() {
        return;
    }
    if let Some(_) = verdict.unwritten_read
        && is_guards(checked, place)
    {
        let own = Verdict {
            unwritten_read: None,
            ..*verdict
        };
        report(NodeIdx::new(place), checked.keys, checked.nodes, &own);
        return;
    }
    report(NodeIdx::new(place), checked.keys, checked.nodes, verdict);
}

/// Reports what is wrong with the items of an edge.
#[track_caller]
#[inline]
pub const fn edge(checked: &Checked, edge: u32) {
    let EdgeRow {
        from, to, route, ..
    } = checked.edges[edge as usize];
    let (from, to) = (from as usize, to as usize);
    let nodes = checked.nodes.len();
    let source = if from < nodes {
        checked.nodes[from].name
    } else if from - nodes < checked.joins.len() {
        checked.joins[from - nodes]
    } else {
        "START"
    };
    let text = match checked.items[edge as usize] {
        Items::Fit | Items::Unused | Items::NoRoute => return,
        Items::EachForgotten => messages::each_forgotten(checked.nodes[to].name, source),
        Items::Needed => messages::needs_item(checked.nodes[to].name, source),
        Items::Refused => messages::takes_no_item(checked.nodes[to].name, source),
        Items::NotSent => {
            messages::sends_no_items(source, to < nodes && checked.nodes[to].takes_item)
        }
        Items::NotCarried => {
            messages::carries_no_items(source, route, to < nodes && checked.nodes[to].takes_item)
        }
    };
    item_mismatch(&text);
}

/// Reports what is wrong with the routes of a node as a whole; each arm comes with an edge of its own.
#[track_caller]
#[inline]
pub const fn route(checked: &Checked, place: u32, arms: &[&str], edges: &[u32]) {
    let node = &checked.nodes[place as usize];
    // As many arms as routes, and none that is not a route: asked first, because names are dear to compare.
    if node.has_route && arms.len() == node.routes.len() && edges.len() == arms.len() {
        let mut at = 0;
        while at < edges.len() && !matches!(checked.items[edges[at] as usize], Items::NoRoute) {
            at += 1;
        }
        if at == edges.len() {
            return;
        }
    }
    report_routes(node, arms, false);
}

/// Reports an arm for a route that the node does not have; `edge` is one of the arm's.
#[track_caller]
#[inline]
pub const fn arm(checked: &Checked, place: u32, arm: &str, edge: u32) {
    if let Items::NoRoute = checked.items[edge as usize] {
        report_arm(&checked.nodes[place as usize], arm);
    }
}

#[track_caller]
#[inline]
const fn item_mismatch(text: &Text) -> ! {
    panic!("{}", messages::coded(Rule::ItemMismatch, text).as_str())
}

/// Whether what a node is blamed for is that the guard of its interrupt reads a key: that is said at the guard.
#[inline]
pub(super) const fn is_guards(checked: &Checked, place: u32) -> bool {
    match checked.verdicts[place as usize].unwritten_read {
        Some(read) => !checked.specs[place as usize]
            .node
            .facts
            .reads
            .contains(read.key as usize),
        None => false,
    }
}
