//! Messages about routes, arms and names.

use super::{MAX_LISTED, list, suggest};
use crate::similar::same;
use crate::text::Text;

/// PF012: some routes of a node have no arm.
pub const fn missing_routes(node: &str, routes: &[&str], arms: &[&str]) -> Text {
    let (mut missing, mut first, mut i) = (0, "", 0);
    while i < routes.len() {
        if !contains(arms, routes[i]) {
            missing += 1;
            if missing == 1 {
                first = routes[i];
            }
        }
        i += 1;
    }
    let mut text = Text::new(if missing == 1 { "route " } else { "routes " });
    let (mut listed, mut i) = (0, 0);
    while i < routes.len() && listed < MAX_LISTED {
        if !contains(arms, routes[i]) {
            if listed > 0 {
                text = text.push(", ");
            }
            text = text.name(routes[i]);
            listed += 1;
        }
        i += 1;
    }
    if missing > MAX_LISTED {
        text = text.push(", ..");
    }
    text = text.push(" of node ").name(node);
    text = text.push(if missing == 1 {
        " has no edge, so a run that chooses it could not continue; add `"
    } else {
        " have no edges, so a run that chooses one of them could not continue; add `"
    });
    text = text
        .push(first)
        .push(" => ..`, or `")
        .push(first)
        .push(" => END`");
    if missing > 1 {
        text = text.push(", for each");
    }
    text
}

const fn contains(names: &[&str], name: &str) -> bool {
    let mut i = 0;
    while i < names.len() {
        if same(names[i], name) {
            return true;
        }
        i += 1;
    }
    false
}

/// PF013: an edge for a route that the node does not have; `routes` are the routes that it has.
pub const fn unknown_route(
    node: &str,
    route: &str,
    similar: Option<&str>,
    routes: &[&str],
) -> Text {
    let text = Text::new("node ")
        .name(node)
        .push(" has no route ")
        .name(route);
    let text = if routes.is_empty() {
        text
    } else {
        list(text.push(", only "), routes, MAX_LISTED)
    };
    suggest(
        text,
        similar,
        "; remove the edge, or add the route to what the node returns",
    )
}

/// PF014.
pub const fn plain_beside_route(node: &str) -> Text {
    Text::new("node ").name(node).push(" chooses a route but also has plain edges, which would fire whichever route it chooses; give each route its own edges, such as `").push(node).push(" -> match { .. }`")
}

/// PF015.
pub const fn no_route(node: &str) -> Text {
    Text::new("node ").name(node).push(" does not choose a route, but its edges need one; return a `Route` as the last value, or write `&` to take all edges")
}

/// PF025, for a node that the flow names as a function.
pub const fn value_undeclared(node: &str) -> Text {
    Text::new("")
        .name(node)
        .push(" is a node value, and not a function; declare it with `node name: ")
        .push(node)
        .push(" = value;`, and use that name in the edges")
}

/// PF011, for a flow with a node that picks any number of routes, or one route for each of several deliveries.
pub const fn stuck_by_many(node: &str) -> Text {
    Text::new("a join after node ").name(node).push(" can wait forever: a node of the flow can take several of its routes at once, or none, so some sides may never arrive; use plain edges and `defer` the node after the join")
}

/// PF010, for a cycle that no choice of its nodes leaves.
pub const fn endless_by_choice(node: &str) -> Text {
    Text::new("the cycle through ").name(node).push(" has no way out: whichever route its nodes choose, one of them runs again, so the run cannot end; give one of its nodes a route that leaves the cycle, such as `Done => END`")
}

/// PF003, for the option `name` of `#[node]`: `renamed` and `other` are the names in the flow.
pub const fn named_alike(name: &str, renamed: &str, other: &str) -> Text {
    Text::new("nodes ")
        .name(renamed)
        .push(" and ")
        .name(other)
        .push(" would both be called ")
        .name(name)
        .push(" in the graph; give one of them another name: `node other = ")
        .push(renamed)
        .push(";`, or another `name` in `#[node]`")
}

/// PF023.
pub const fn tool_twice(name: &str) -> Text {
    Text::new("two tools are called ")
        .name(name)
        .push(", so a model could not distinguish them; rename one of them")
}
