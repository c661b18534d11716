//! Messages about options, failures and tools.

use super::list_of;

/// PF024: `known` are the options that exist.
pub fn unknown_option(option: &str, similar: Option<&str>, known: &[&str]) -> String {
    let advice = match similar {
        Some(similar) => format!("did you mean `{similar}`?"),
        None => format!("the options are {}", list_of(known, known.len())),
    };
    format!("there is no option `{option}`; {advice}")
}

/// PF024.
pub fn repeated_option(option: &str) -> String {
    format!("option `{option}` is given twice; remove one of them")
}

/// PF024: `which` is "before" or "after".
pub fn interrupted_twice(which: &str, node: &str) -> String {
    format!("`interrupt {which}` names `{node}` twice; remove one of them")
}

/// PF024.
pub fn keep_takes_thread() -> String {
    "`keep` takes only `thread`: write `keep: thread`; without `keep` the state of the sub-flow is new each time".into()
}

/// PF024, for `id` in `with`.
pub fn id_takes_text() -> &'static str {
    "`id` takes the name under which the node is stored; write `id: \"…\"`"
}

/// PF024, for `remote` in `with`.
pub fn remote_takes_text() -> &'static str {
    "`remote` takes the name of the pool of processes that run the node; write `remote: \"…\"`"
}

/// PF024, for `keep` in `with`.
pub fn keep_beside_in() -> String {
    "`keep` is not an option of `with`; write it in the braces of the sub-flow, as in `{ in: .., out: .., keep: thread }`".into()
}

/// PF024, for `keep` on a node that is not a sub-flow.
pub fn keeps_nothing(node: &str) -> String {
    format!("`keep` names `{node}`, which is not a sub-flow and has no state of its own; remove it")
}

/// PF028, for `keep` on a sub-flow that takes an item.
pub fn kept_for_items(node: &str) -> String {
    format!(
        "sub-flow `{node}` takes an item, so it cannot keep its state: the state would belong to the position of the item, and the next item there would get it; remove `keep: thread`, and store what belongs to an item in the state of this flow"
    )
}

/// PF028, for `keep` on a sub-flow whose results are cached.
pub fn kept_and_cached(node: &str) -> String {
    format!(
        "sub-flow `{node}` keeps its state, so its results cannot be cached: another thread would get the result of this one; remove `keep: thread` or `cache`"
    )
}

/// PF026: a failure leads to START or END.
pub fn caught_by_no_node(to: &str) -> String {
    format!(
        "a failure must be caught by a node, but `{to}` is not a node; write a node that takes `#[item] failure: &NodeError`"
    )
}

/// PF026.
pub fn caught_twice(node: &str) -> String {
    format!("the failure of node `{node}` is caught twice; remove one `catch`")
}

/// PF026.
pub fn catches_itself(node: &str) -> String {
    format!(
        "node `{node}` catches its own failure, so it would run again after each failure; use `with {node} {{ retry: .. }}`, or catch it with another node"
    )
}

/// PF024, for a node that chooses its routes by name.
pub fn routes_not_listed(node: &str) -> String {
    format!(
        "node `{node}` chooses its routes by name, and the names are not listed; add `.routes(\"{node}\", [..])`"
    )
}

/// PF024, for `routes` of a node that does not choose by name.
pub fn routes_of_type(node: &str) -> String {
    format!(
        "`routes` lists routes of node `{node}`, which does not return `Routes`; its type has its routes; remove the list"
    )
}

/// PF024.
pub fn routes_listed_twice(node: &str) -> String {
    format!("the routes of node `{node}` are listed twice; write one list")
}

/// PF024.
pub fn route_listed_twice(node: &str, route: &str) -> String {
    format!("the list of the routes of node `{node}` contains `{route}` twice; remove one")
}
