//! Compile errors from constant evaluation. There is one call per node, arm and further edge, with the span of its token.

use petalflow_graph::{
    KeyFacts, NodeFacts, NodeIdx, Rule, Text, Verdict, kind, messages, report, report_arm,
    report_routes, same,
};

use super::{EdgeRow, Spec};

/// The tables and results of the analysis of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Checked {
    pub keys: &'static [KeyFacts<'static>],
    pub specs: &'static [Spec],
    /// The facts of the nodes. A node also reads the keys of the guards of its interrupts.
    pub nodes: &'static [NodeFacts<'static>],
    pub verdicts: &'static [Verdict],
    pub edges: &'static [EdgeRow],
    pub joins: &'static [&'static str],
    /// By edge, then by node.
    pub items: &'static [Items],
}

/// Whether an edge delivers the item that its target takes.
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
    /// The node has no such route. The arm reports it.
    NoRoute,
}

/// Compares all edges with their nodes. `E` is the number of edges and nodes.
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
            // A sender of items and a node that takes one: `each` is missing. That is one mistake.
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

/// Reports the mistakes of a node without arms, and of the first edge to it.
#[track_caller]
pub const fn node(checked: &Checked, index: u32, first: u32, plain: bool) {
    let node = &checked.nodes[index as usize];
    if node.has_route {
        report_routes(node, &[], plain);
    }
    routed(checked, index, first);
}

/// Reports the mistakes of a node except those of its routes, and of the first edge to it.
#[track_caller]
pub const fn routed(checked: &Checked, index: u32, first: u32) {
    if checked.specs[index as usize].lacks_value {
        let text = messages::value_undeclared(checked.nodes[index as usize].name);
        panic!("{}", messages::with_code(Rule::NotANode, &text).as_str());
    }
    if let Items::Unused = checked.items[checked.edges.len() + index as usize] {
        item_mismatch(&messages::items_unused(checked.nodes[index as usize].name));
    }
    if (first as usize) < checked.edges.len()
        && !matches!(checked.items[first as usize], Items::Fit)
    {
        edge(checked, first);
    }
    let verdict = &checked.verdicts[index as usize];
    // Each call costs time in constant evaluation, so the rest runs only for a node with a mistake.
    if verdict.is_fine() {
        return;
    }
    if let Some(_) = verdict.unwritten_read
        && is_guards(checked, index)
    {
        let own = Verdict {
            unwritten_read: None,
            ..*verdict
        };
        report(NodeIdx::new(index), checked.keys, checked.nodes, &own);
        return;
    }
    report(NodeIdx::new(index), checked.keys, checked.nodes, verdict);
}

/// Reports the mistake in the items of an edge.
#[track_caller]
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

/// Reports the mistakes in the routes of a node. Each arm has an edge.
#[track_caller]
pub const fn route(checked: &Checked, index: u32, arms: &[&str], edges: &[u32]) {
    let node = &checked.nodes[index as usize];
    // There are as many arms as routes, and each arm has a route. This is checked first, because comparing names is slow.
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

/// Reports an arm for a route that the node does not have. `edge` is an edge of the arm.
#[track_caller]
pub const fn arm(checked: &Checked, index: u32, arm: &str, edge: u32) {
    if let Items::NoRoute = checked.items[edge as usize] {
        report_arm(&checked.nodes[index as usize], arm);
    }
}

#[track_caller]
const fn item_mismatch(text: &Text) -> ! {
    panic!("{}", messages::with_code(Rule::ItemMismatch, text).as_str())
}

/// Whether the guard of an interrupt reads the key that the verdict of the node names. The guard then reports it.
pub(super) const fn is_guards(checked: &Checked, index: u32) -> bool {
    match checked.verdicts[index as usize].unwritten_read {
        Some(read) => !checked.specs[index as usize]
            .node
            .facts
            .reads
            .contains(read.key as usize),
        None => false,
    }
}
