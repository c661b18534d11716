//! Messages about options, failures and tools.

use super::list;
use crate::text::Text;

/// PF024: `known` are the options that exist.
pub const fn unknown_option(option: &str, similar: Option<&str>, known: &[&str]) -> Text {
    let text = Text::new("there is no option ").name(option).push("; ");
    match similar {
        Some(similar) => text.push("did you mean ").name(similar).push("?"),
        None => list(text.push("the options are "), known, known.len()),
    }
}

/// PF024.
pub const fn repeated_option(option: &str) -> Text {
    Text::new("option ")
        .name(option)
        .push(" is given twice; remove one of them")
}

/// PF024: `which` is "before" or "after".
pub const fn interrupted_twice(which: &str, node: &str) -> Text {
    Text::new("`interrupt ")
        .push(which)
        .push("` names ")
        .name(node)
        .push(" twice; remove one of them")
}

/// PF024.
pub const fn keep_takes_thread() -> Text {
    Text::new(
        "`keep` takes only `thread`: write `keep: thread`; without `keep` the state of the sub-flow is new each time",
    )
}

/// PF024, for `keep` in `with`.
pub const fn keep_beside_in() -> Text {
    Text::new(
        "`keep` is not an option of `with`; write it in the braces of the sub-flow, as in `{ in: .., out: .., keep: thread }`",
    )
}

/// PF024, for `keep` on a node that is not a sub-flow.
pub const fn keeps_nothing(node: &str) -> Text {
    Text::new("`keep` names ")
        .name(node)
        .push(", which is not a sub-flow and has no state of its own; remove it")
}

/// PF026: a failure leads to START or END.
pub const fn caught_by_no_node(to: &str) -> Text {
    Text::new("a failure must be caught by a node, but ")
        .name(to)
        .push(" is not a node; write a node that takes `#[item] failure: &NodeError`")
}

/// PF026.
pub const fn caught_twice(node: &str) -> Text {
    Text::new("the failure of node ")
        .name(node)
        .push(" is caught twice; remove one `catch`")
}

/// PF026.
pub const fn catches_itself(node: &str) -> Text {
    Text::new("node ")
        .name(node)
        .push(" catches its own failure, so it would run again after each failure; use `with ")
        .push(node)
        .push(" { retry: .. }`, or catch it with another node")
}

/// PF024, for a node that chooses its routes by name.
pub const fn routes_not_listed(node: &str) -> Text {
    Text::new("node ")
        .name(node)
        .push(" chooses its routes by name, and the names are not listed; add `.routes(\"")
        .push(node)
        .push("\", [..])`")
}

/// PF024, for `routes` of a node that does not choose by name.
pub const fn routes_of_type(node: &str) -> Text {
    Text::new("`routes` lists routes of node ")
        .name(node)
        .push(", which does not return `Routes`; its type has its routes; remove the list")
}

/// PF024.
pub const fn routes_listed_twice(node: &str) -> Text {
    Text::new("the routes of node ")
        .name(node)
        .push(" are listed twice; write one list")
}

/// PF024.
pub const fn route_listed_twice(node: &str, route: &str) -> Text {
    Text::new("the list of the routes of node ")
        .name(node)
        .push(" contains ")
        .name(route)
        .push(" twice; remove one")
}
