//! The wording of what nodes choose from, against the arms of the graph.

use super::{MOST_LISTED, list, offer};
use crate::similar::same;
use crate::text::Text;

/// PF012: the routes of a node for which there is no arm; there is at least one.
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
    let (mut told, mut i) = (0, 0);
    while i < routes.len() && told < MOST_LISTED {
        if !contains(arms, routes[i]) {
            if told > 0 {
                text = text.push(", ");
            }
            text = text.name(routes[i]);
            told += 1;
        }
        i += 1;
    }
    if missing > MOST_LISTED {
        text = text.push(", ..");
    }
    text = text.push(" of node ").name(node);
    text = text.push(if missing == 1 {
        " has no edge, so a run that chooses it could not go on; add `"
    } else {
        " have no edges, so a run that chooses one of them could not go on; add `"
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

/// PF013: an edge for a route that the node does not have; `routes` are those that it has.
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
        list(text.push(", only "), routes, MOST_LISTED)
    };
    offer(
        text,
        similar,
        "; remove the edge, or add the route to what the node returns",
    )
}

/// PF014.
pub const fn plain_beside_route(node: &str) -> Text {
    Text::new("node ").name(node).push(" chooses a route, but also has plain edges, which would fire whatever it chooses; give each route its edges, such as `").push(node).push(" -> match { .. }`")
}

/// PF015.
pub const fn no_route(node: &str) -> Text {
    Text::new("node ").name(node).push(" does not choose a route, but its edges need one; return a `Route` last, or write `&` to take all of the edges")
}

/// PF011, for a node that turns out to pick any number of routes, or one for each of several deliveries.
pub const fn stuck_by_many(node: &str) -> Text {
    Text::new("a join after node ").name(node).push(" can be left waiting, because a node of the flow can take several of its routes at once, or none, so some sides may never arrive; use plain edges and `defer` the node after the join")
}

/// PF010, for a cycle that its nodes cannot leave by choosing.
pub const fn endless_by_choice(node: &str) -> Text {
    Text::new("the cycle through ").name(node).push(" has no way out: whichever route its nodes choose, one of them runs again, so the run cannot end; give a node of it a route that leaves the cycle, such as `Done => END`")
}
