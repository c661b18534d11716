//! The wording of options, failures, node types and tools.

use super::list;
use crate::text::Text;

/// PF022.
pub const fn tool_schema(tool: &str, argument: &str) -> Text {
    Text::new("argument ")
        .name(argument)
        .push(" of tool ")
        .name(tool)
        .push(" has no JSON Schema; derive one for its type")
}

/// PF023.
pub const fn tool_twice(name: &str) -> Text {
    Text::new("two tools are called ")
        .name(name)
        .push(", so a model could not tell them apart; rename one of them")
}

/// PF024: `known` are the options that there are.
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
        "`keep` takes `thread`, so write `keep: thread`; without it the state of the sub-flow is fresh each time",
    )
}

/// PF024, for `keep` in `with`.
pub const fn keep_beside_in() -> Text {
    Text::new(
        "`keep` is no option of `with`; write it in the braces of the sub-flow, as in `{ in: .., out: .., keep: thread }`",
    )
}

/// PF024, for `keep` on a node that is no sub-flow.
pub const fn keeps_nothing(node: &str) -> Text {
    Text::new("`keep` names ")
        .name(node)
        .push(", which is no sub-flow and so has no state of its own; remove it")
}

/// PF025.
pub const fn not_a_node(name: &str, state: &str) -> Text {
    Text::new("")
        .name(name)
        .push(" is not a node over ")
        .name(state)
        .push("; annotate the function with `#[node(")
        .push(state)
        .push(")]`")
}

/// PF026: a failure leads to START or END.
pub const fn caught_by_no_node(to: &str) -> Text {
    Text::new("a failure is caught by a node, and ")
        .name(to)
        .push(" is none; write a node that takes `#[item] failure: &NodeError`")
}

/// PF026.
pub const fn caught_twice(node: &str) -> Text {
    Text::new("the failure of node ")
        .name(node)
        .push(" is caught twice; keep one `catch`")
}

/// PF026.
pub const fn catches_itself(node: &str) -> Text {
    Text::new("node ")
        .name(node)
        .push(" catches its own failure, so it would run again as if it had succeeded; use `with ")
        .push(node)
        .push(" { retry: .. }`, or another node")
}
