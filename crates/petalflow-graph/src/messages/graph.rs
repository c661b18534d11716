//! Messages about the graph alone.

use super::{MAX_LISTED, list};
use crate::text::Text;

/// PF001: `sources` are the nodes without an edge into them; `first` is a node for the suggested edge.
pub const fn no_start(sources: &[&str], first: &str) -> Text {
    if sources.is_empty() {
        return Text::new("the flow has no first node: every node has an edge into it; add an edge from START, such as `START -> ").push(first).push("`");
    }
    if sources.len() == 1 {
        return Text::new("the flow has no edge from START: ")
            .name(sources[0])
            .push(" has no edge into it; write `START -> ")
            .push(sources[0])
            .push("`");
    }
    let mut text = list(
        Text::new("the flow has several possible first nodes: "),
        sources,
        MAX_LISTED,
    );
    text = text.push(" have no edge into them; write `START -> ");
    let mut i = 0;
    while i < sources.len() && i < MAX_LISTED {
        if i > 0 {
            text = text.push(" & ");
        }
        text = text.push(sources[i]);
        i += 1;
    }
    if sources.len() > MAX_LISTED {
        text = text.push(" & ..");
    }
    text.push("`, or lead an edge to each node that is not a first node")
}

/// PF001, if no edge leads to the first node `name`, but one to the node `similar`.
pub const fn no_start_but_similar(name: &str, similar: &str) -> Text {
    let text = Text::new("the flow has several possible first nodes: no edge leads to ")
        .name(name)
        .push(", but one leads to");
    one_name(text, name, similar).push("write which nodes are first: `START -> ..`")
}

/// PF001, for a flow without edges.
pub const fn empty() -> Text {
    Text::new("the flow has no edges, so it has no first node; add one, such as `START -> first`")
}

/// PF002: `user` is the statement with the name: "an edge", "`catch`", "`defer`", "`with`", "`interrupt`"; `known` are the nodes.
pub const fn unknown_node(user: &str, name: &str, similar: Option<&str>, known: &[&str]) -> Text {
    let text = Text::new(user)
        .push(" names ")
        .name(name)
        .push(", but no node of the flow has that name; ");
    match similar {
        Some(similar) => text.push("did you mean ").name(similar).push("?"),
        None if known.is_empty() => text.push("add the node or remove the name"),
        None => list(text.push("the nodes are "), known, MAX_LISTED),
    }
}

/// PF003.
pub const fn declared_twice(name: &str) -> Text {
    Text::new("node ")
        .name(name)
        .push(" is declared twice; rename one of them, or remove it")
}

/// PF003, for the names in checkpoints.
pub const fn stored_twice(first: &str, second: &str, stored: &str) -> Text {
    Text::new("nodes ")
        .name(first)
        .push(" and ")
        .name(second)
        .push(" are both stored as ")
        .name(stored)
        .push(", so a checkpoint could not distinguish them; give one of them another `id`")
}

/// PF003, at the first of two declarations.
pub const fn first_here() -> Text {
    Text::new("first declared here")
}

/// PF004, at the first of two edges.
pub const fn first_written_here() -> Text {
    Text::new("first written here")
}

/// PF004.
pub const fn edge_twice(from: &str, to: &str) -> Text {
    Text::new("the edge from ")
        .name(from)
        .push(" to ")
        .name(to)
        .push(" is written twice; an edge fires once per superstep, so remove one of them")
}

/// PF004, for two arms of one route.
pub const fn route_twice(node: &str, route: &str) -> Text {
    Text::new("route ")
        .name(route)
        .push(" of node ")
        .name(node)
        .push(" has two arms; to lead it to several nodes write `")
        .push(route)
        .push(" => a & b`")
}

/// PF004, for two `match` with the same routes.
pub const fn matched_twice(node: &str) -> Text {
    Text::new("the routes of node ")
        .name(node)
        .push(" already have arms; a node has the same edges everywhere in the flow, so write one `match`")
}

/// PF005.
pub const fn into_start(from: &str) -> Text {
    Text::new("an edge from ").name(from).push(
        " leads into START, but a run starts only once; lead the edge to the first node instead",
    )
}

/// PF006: `to` is what follows END.
pub const fn out_of_end(to: &str) -> Text {
    Text::new("no edge can leave END, because END ends its path, but here ")
        .name(to)
        .push(" follows END; lead to it from the node before END")
}

/// PF006, for END as a side of a join.
pub const fn end_in_join() -> Text {
    Text::new("a join cannot wait for END, because END ends its path; join the nodes before END")
}

/// PF007: `one` and `other` show how to write the two meanings.
pub const fn mixed_operators(one: &str, other: &str) -> Text {
    Text::new("`&` and `|` are mixed without parentheses, which has two meanings; write ")
        .push(one)
        .push(", or ")
        .push(other)
}

/// PF007, where the meanings are too long to show.
pub const fn mixed_at_length() -> Text {
    Text::new(
        "`&` and `|` are mixed without parentheses, which has several meanings; write every route with its name: `match { Name => a & b, .. }`",
    )
}

/// PF007, in an arm, where no choice is possible.
pub const fn mixed_in_arm(targets: &str) -> Text {
    Text::new("`&` and `|` are mixed, but a route leads to all of its targets; write ")
        .name(targets)
        .push(", or lead the route to a node that chooses")
}

/// PF008.
pub const fn unused_node(name: &str, similar: Option<&str>) -> Text {
    let text = Text::new("node ")
        .name(name)
        .push(" is declared, but no edge uses it");
    match similar {
        Some(similar) => {
            one_name(text.push(", only"), name, similar).push("add an edge, or remove the node")
        }
        None => text.push("; add an edge or remove the node"),
    }
}

/// PF009, for a node without an edge into it. `similar` is a node that an edge leads to, and that leads nowhere.
pub const fn unreachable_node(name: &str, similar: Option<&str>) -> Text {
    let text = Text::new("node ")
        .name(name)
        .push(" is unreachable: no edge leads to it");
    match similar {
        Some(similar) => one_name(text.push(", but one leads to"), name, similar)
            .push("add an edge, such as `START -> ")
            .push(name)
            .push("`"),
        None => text
            .push("; add an edge, such as `START -> ")
            .push(name)
            .push("`, or remove the node"),
    }
}

/// The advice for two nodes that may be one with a misspelled name.
#[expect(
    clippy::large_types_passed_by_value,
    reason = "the result of each call is the input of the next"
)]
const fn one_name(text: Text, name: &str, similar: &str) -> Text {
    text.push(" the similar name ")
        .name(similar)
        .push("; if they are one node, write ")
        .name(name)
        .push(" or ")
        .name(similar)
        .push(" in both places, else ")
}

/// PF003, for an empty name. `number` counts the nodes from 1.
pub const fn no_name(number: usize) -> Text {
    Text::new("node number ")
        .number(number)
        .push(" has no name, so that no edge can lead to it; give it a name")
}

/// PF003, for a name that the graph itself uses.
pub const fn reserved_name(name: &str) -> Text {
    Text::new("a node cannot be called ")
        .name(name)
        .push(", because that name is reserved for the graph itself; rename the node")
}
