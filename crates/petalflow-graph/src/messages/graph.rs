//! Messages about the graph alone.

use super::{MAX_LISTED, list_of};

/// PF001: `sources` are the nodes without an edge into them; `first` is a node for the suggested edge.
pub fn no_start(sources: &[&str], first: &str) -> String {
    match sources {
        [] => format!(
            "the flow has no first node: every node has an edge into it; add an edge from START, such as `START -> {first}`"
        ),
        [source] => format!(
            "the flow has no edge from START: `{source}` has no edge into it; write `START -> {source}`"
        ),
        _ => {
            let list = list_of(sources, MAX_LISTED);
            let joined = sources[..sources.len().min(MAX_LISTED)].join(" & ");
            let more = if sources.len() > MAX_LISTED {
                " & .."
            } else {
                ""
            };
            format!(
                "the flow has several possible first nodes: {list} have no edge into them; write `START -> {joined}{more}`, or lead an edge to each node that is not a first node"
            )
        }
    }
}

/// PF001, if no edge leads to the first node `name`, but one to the node `similar`.
pub fn no_start_but_similar(name: &str, similar: &str) -> String {
    let advice = one_name(name, similar);
    format!(
        "the flow has several possible first nodes: no edge leads to `{name}`, but one leads to {advice}write which nodes are first: `START -> ..`"
    )
}

/// PF001, for a flow without edges.
pub fn empty() -> String {
    "the flow has no edges, so it has no first node; add one, such as `START -> first`".into()
}

/// PF002: `user` is the statement with the name: "an edge", "`catch`", "`defer`", "`with`", "`interrupt`"; `known` are the nodes.
pub fn unknown_node(user: &str, name: &str, similar: Option<&str>, known: &[&str]) -> String {
    let advice = match similar {
        Some(similar) => format!("did you mean `{similar}`?"),
        None if known.is_empty() => "add the node or remove the name".into(),
        None => format!("the nodes are {}", list_of(known, MAX_LISTED)),
    };
    format!("{user} names `{name}`, but no node of the flow has that name; {advice}")
}

/// PF003.
pub fn declared_twice(name: &str) -> String {
    format!("node `{name}` is declared twice; rename one of them, or remove it")
}

/// PF003, for the names in checkpoints.
pub fn stored_twice(first: &str, second: &str, stored: &str) -> String {
    format!(
        "nodes `{first}` and `{second}` are both stored as `{stored}`, so a checkpoint could not distinguish them; give one of them another `id`"
    )
}

/// PF003, at the first of two declarations.
pub fn first_here() -> &'static str {
    "first declared here"
}

/// PF004, at the first of two edges.
pub fn first_written_here() -> &'static str {
    "first written here"
}

/// PF004.
pub fn edge_twice(from: &str, to: &str) -> String {
    format!(
        "the edge from `{from}` to `{to}` is written twice; an edge fires once per superstep, so remove one of them"
    )
}

/// PF004, for a node that is twice in a join.
pub fn side_twice(node: &str) -> String {
    format!(
        "`{node}` is named twice before this edge; a join waits once for each of its nodes, so remove one of the two"
    )
}

/// PF004, for two arms of one route.
pub fn route_twice(node: &str, route: &str) -> String {
    format!(
        "route `{route}` of node `{node}` has two arms; to lead it to several nodes write `{route} => a & b`"
    )
}

/// PF004, for two `match` with the same routes.
pub fn matched_twice(node: &str) -> String {
    format!(
        "the routes of node `{node}` already have arms; a node has the same edges everywhere in the flow, so write one `match`"
    )
}

/// PF005.
pub fn into_start(from: &str) -> String {
    format!(
        "an edge from `{from}` leads into START, but a run starts only once; lead the edge to the first node instead"
    )
}

/// PF006: `to` is what follows END.
pub fn out_of_end(to: &str) -> String {
    format!(
        "no edge can leave END, because END ends its path, but here `{to}` follows END; lead to it from the node before END"
    )
}

/// PF006, for END as a side of a join.
pub fn end_in_join() -> String {
    "a join cannot wait for END, because END ends its path; join the nodes before END".into()
}

/// PF007: `one` and `other` show how to write the two meanings.
pub fn mixed_operators(one: &str, other: &str) -> String {
    format!(
        "`&` and `|` are mixed without parentheses, which has two meanings; write {one}, or {other}"
    )
}

/// PF007, where the meanings are too long to show.
pub fn mixed_at_length() -> String {
    "`&` and `|` are mixed without parentheses, which has several meanings; write every route with its name: `match { Name => a & b, .. }`".into()
}

/// PF007, in an arm, where no choice is possible.
pub fn mixed_in_arm(targets: &str) -> String {
    format!(
        "`&` and `|` are mixed, but a route leads to all of its targets; write `{targets}`, or lead the route to a node that chooses"
    )
}

/// PF008.
pub fn unused_node(name: &str, similar: Option<&str>) -> String {
    let advice = match similar {
        Some(similar) => format!(
            ", only {}add an edge, or remove the node",
            one_name(name, similar)
        ),
        None => "; add an edge or remove the node".into(),
    };
    format!("node `{name}` is declared, but no edge uses it{advice}")
}

/// PF009, for a node without an edge into it. `similar` is a node that an edge leads to, and that leads nowhere.
pub fn unreachable_node(name: &str, similar: Option<&str>) -> String {
    let advice = match similar {
        Some(similar) => format!(
            ", but one leads to {}add an edge, such as `START -> {name}`",
            one_name(name, similar)
        ),
        None => format!("; add an edge, such as `START -> {name}`, or remove the node"),
    };
    format!("node `{name}` is unreachable: no edge leads to it{advice}")
}

/// The advice for two nodes that may be one with a misspelled name.
fn one_name(name: &str, similar: &str) -> String {
    format!(
        "the similar name `{similar}`; if they are one node, write `{name}` or `{similar}` in both places, else "
    )
}

/// PF003, for an empty name. `number` counts the nodes from 1.
pub fn no_name(number: usize) -> String {
    format!("node number {number} has no name, so that no edge can lead to it; give it a name")
}

/// PF003, for a name that the graph itself uses.
pub fn reserved_name(name: &str) -> String {
    format!(
        "a node cannot be called `{name}`, because that name is reserved for the graph itself; rename the node"
    )
}
