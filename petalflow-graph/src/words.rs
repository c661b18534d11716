//! The wording of each rule, for macros, constant evaluation and the run-time builder alike.
//!
//! Every function returns the line without its code; [`coded`] puts the code in front.

use crate::rule::Rule;
use crate::text::Text;

/// The line with its code, as users see it.
pub const fn coded(rule: Rule, text: &Text) -> Text {
    Text::new(rule.code()).push(": ").push(text.as_str())
}

#[expect(
    clippy::large_types_passed_by_value,
    reason = "each piece is pushed to a line of its own"
)]
const fn offer(text: Text, similar: Option<&str>, otherwise: &str) -> Text {
    match similar {
        Some(similar) => text.push("; did you mean ").name(similar).push("?"),
        None => text.push(otherwise),
    }
}

/// PF001.
pub const fn no_start() -> Text {
    Text::new("nothing starts the flow: no edge begins at START; add one, such as `START -> first`")
}

/// PF001, for a flow without edges.
pub const fn empty() -> Text {
    Text::new("nothing starts the flow: it has no edges; add one, such as `START -> first`")
}

/// PF002: `user` is what names it: "an edge", "`catch`", "`defer`", "`with`", "`interrupt`".
pub const fn unknown_node(user: &str, name: &str, similar: Option<&str>) -> Text {
    offer(
        Text::new(user)
            .push(" names ")
            .name(name)
            .push(", but no node of the flow has that name"),
        similar,
        "; add the node or remove the name",
    )
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
        .push(", so a checkpoint could not tell them apart; give one of them another `id`")
}

/// PF003 and others, at the first of two places.
pub const fn first_here() -> Text {
    Text::new("first declared here")
}

/// PF004.
pub const fn edge_twice(from: &str, to: &str) -> Text {
    Text::new("the edge from ")
        .name(from)
        .push(" to ")
        .name(to)
        .push(" is written twice; an edge fires once per superstep, so remove one of them")
}

/// PF005.
pub const fn into_start(from: &str) -> Text {
    Text::new("an edge from ")
        .name(from)
        .push(" leads into START, but a run starts only once; lead it to the first node instead")
}

/// PF006.
pub const fn out_of_end(to: &str) -> Text {
    Text::new("an edge leads out of END to ")
        .name(to)
        .push(", but END ends its path; lead the edge from the node before END instead")
}

/// PF007.
pub const fn mixed_operators(one: &str, other: &str) -> Text {
    Text::new("`&` and `|` are mixed without parentheses: this could mean ")
        .name(one)
        .push(" or ")
        .name(other)
        .push("; write the one you mean")
}

/// PF008.
pub const fn unused_node(name: &str) -> Text {
    Text::new("node ")
        .name(name)
        .push(" is declared, but no edge uses it; add an edge or remove the node")
}

/// PF012: a route of the node that no edge is for.
pub const fn missing_route(node: &str, route: &str) -> Text {
    Text::new("route ")
        .name(route)
        .push(" of node ")
        .name(node)
        .push(" has no edge, so a run that chooses it could not go on; add `")
        .push(route)
        .push(" => ..`, or `")
        .push(route)
        .push(" => END`")
}

/// PF013: an edge for a route that the node does not have.
pub const fn unknown_route(node: &str, route: &str, similar: Option<&str>) -> Text {
    offer(
        Text::new("node ")
            .name(node)
            .push(" has no route ")
            .name(route),
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

/// PF016.
pub const fn conflict(first: &str, second: &str, key: &str) -> Text {
    Text::new("nodes ")
        .name(first)
        .push(" and ")
        .name(second)
        .push(" can run in one superstep and may both write ")
        .name(key)
        .push(", so one value would be lost; give the key a reducer, or order the nodes")
}

/// PF016, for one node on several items.
pub const fn conflict_with_itself(node: &str, key: &str) -> Text {
    Text::new("node ")
        .name(node)
        .push(" can run on several items in one superstep, and each run may write ")
        .name(key)
        .push(", so all values but one would be lost; give the key a reducer")
}

/// Who writes a key that is read before it is surely written.
#[derive(Clone, Copy, Debug)]
pub enum Writers<'a> {
    /// No other node.
    None,
    /// This one, but not whenever it runs.
    Sometimes(&'a str),
    /// This one, but not on every path.
    Elsewhere(&'a str),
}

/// PF017: `after` is a node that can run right before; none for START.
pub const fn unwritten_read(
    node: &str,
    key: &str,
    after: Option<&str>,
    writers: Writers<'_>,
) -> Text {
    unwritten(Text::new("node ").name(node), key, after, writers)
}

/// PF017, where it is not the node itself that reads but the guard of its `interrupt`; `which` is "before" or "after".
pub const fn unwritten_guard_read(
    which: &str,
    node: &str,
    key: &str,
    after: Option<&str>,
    writers: Writers<'_>,
) -> Text {
    let reader = Text::new("the guard of `interrupt ")
        .push(which)
        .push(" ")
        .push(node)
        .push("`");
    unwritten(reader, key, after, writers)
}

#[expect(
    clippy::large_types_passed_by_value,
    reason = "each piece is pushed to a line of its own"
)]
const fn unwritten(reader: Text, key: &str, after: Option<&str>, writers: Writers<'_>) -> Text {
    let text = reader.push(" reads ").name(key).push(", but ");
    let (writer, why) = match writers {
        Writers::None => return text.push("no node before it writes it; write it in an earlier node, make it an input, or give it a default"),
        Writers::Sometimes(writer) => (writer, "does not always write it"),
        Writers::Elsewhere(writer) => (writer, "writes it only later, on another path, or not in every case"),
    };
    let text = match after {
        Some(after) => text.push("after ").name(after),
        None => text.push("after START"),
    };
    text.push(" it can run before anything has surely written it: ")
        .name(writer)
        .push(" ")
        .push(why)
        .push("; write it on every path before, or give it a default")
}

/// PF018.
pub const fn unknown_key(state: &str, key: &str, similar: Option<&str>) -> Text {
    offer(
        Text::new("state ")
            .name(state)
            .push(" has no key ")
            .name(key),
        similar,
        "; add the key to the state, or read one that it has",
    )
}

/// PF019.
pub const fn written_twice(node: &str, key: &str) -> Text {
    Text::new("node ").name(node).push(" writes ").name(key).push(" twice in one result, so the first value would be lost; return it once, or give the key a reducer")
}

/// PF020: an item is delivered to a node that takes none.
pub const fn takes_no_item(node: &str, from: &str) -> Text {
    Text::new("node ")
        .name(node)
        .push(" takes no item, but the edge from ")
        .name(from)
        .push(" delivers one; add an `#[item]` parameter, or use a plain edge")
}

/// PF020: a node needs an item and none is delivered.
pub const fn needs_item(node: &str, from: &str) -> Text {
    Text::new("node ").name(node).push(" takes an item, but the edge from ").name(from).push(" delivers none; use `each` or a route with a payload, or remove the `#[item]` parameter")
}

/// PF020: an `each` edge from a node that returns no items.
pub const fn sends_no_items(from: &str) -> Text {
    Text::new("`each` runs its target once per item, but node ")
        .name(from)
        .push(" returns no items; return `Each<..>` last, or use a plain edge")
}

/// PF020: an `each` arm for a route that carries nothing.
pub const fn carries_no_items(from: &str, route: &str) -> Text {
    Text::new("`each` runs its target once per item, but route ")
        .name(route)
        .push(" of node ")
        .name(from)
        .push(" carries nothing; let the variant carry a `Vec`, or leave out `each`")
}

/// PF020: an `each` arm for a route that carries one value.
pub const fn carries_no_list(from: &str, route: &str, carries: &str) -> Text {
    Text::new("`each` runs its target once per item, but route ")
        .name(route)
        .push(" of node ")
        .name(from)
        .push(" carries a ")
        .name(carries)
        .push("; let the variant carry a `Vec`, or leave out `each`")
}

/// PF020: a node returns items that no edge takes.
pub const fn items_unused(node: &str) -> Text {
    Text::new("node ")
        .name(node)
        .push(" returns items (`Each`), but no edge takes them; add one, such as `")
        .push(node)
        .push(" -> each target`")
}

/// PF020: the item is of another type.
pub const fn other_item(node: &str, takes: &str, from: &str, sends: &str) -> Text {
    Text::new("node ")
        .name(node)
        .push(" takes an item of type ")
        .name(takes)
        .push(", but the edge from ")
        .name(from)
        .push(" delivers ")
        .name(sends)
        .push("; change one of the two types")
}

/// PF021.
pub const fn missing_output(key: &str, last: &str) -> Text {
    Text::new("output ")
        .name(key)
        .push(" is not written on every path to END: a run that ends after ")
        .name(last)
        .push(" may leave it out; write it on that path too, or give it a default")
}

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

/// PF024.
pub const fn unknown_option(option: &str, similar: Option<&str>) -> Text {
    offer(
        Text::new("unknown option ").name(option),
        similar,
        "; remove it",
    )
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

/// PF027.
pub const fn too_many_keys(state: &str, keys: usize) -> Text {
    Text::new("state ")
        .name(state)
        .push(" has ")
        .number(keys)
        .push(" keys, but a state can have 256; group some of them in a struct")
}

/// PF011, for a node that turns out to pick any number of routes, or one for each of several deliveries.
pub const fn stuck_by_many(node: &str) -> Text {
    Text::new("a join after node ").name(node).push(" can be left waiting, because a node of the flow can take several of its routes at once, or none, so some sides may never arrive; use plain edges and `defer` the node after the join")
}

/// PF010, for a cycle that its nodes cannot leave by choosing.
pub const fn endless_by_choice(node: &str) -> Text {
    Text::new("the cycle through ").name(node).push(" has no way out: whichever route its nodes choose, one of them runs again, so the run cannot end; give a node of it a route that leaves the cycle, such as `Done => END`")
}

/// PF003, for a name that the graph itself uses.
pub const fn reserved_name(name: &str) -> Text {
    Text::new("a node cannot be called ")
        .name(name)
        .push(", because the graph itself has a place of that name; rename the node")
}

/// PF020: a node sends items and no edge takes them.
pub const fn sends_nowhere(node: &str) -> Text {
    Text::new("node ")
        .name(node)
        .push(" sends items, but no `each` edge takes them; add one, such as `")
        .push(node)
        .push(" -> each worker`")
}

/// PF020: an `each` edge and nothing to send along it.
pub const fn sends_nothing(node: &str) -> Text {
    Text::new("node ")
        .name(node)
        .push(" has an `each` edge, but sends no items; return `Each<T>` last, or use a plain edge")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_is_one_line_that_says_the_fix_last() {
        let some = Some("critique");
        let all = vec![
            no_start(),
            empty(),
            unknown_node("an edge", "citique", some),
            unknown_node("`defer`", "citique", None),
            declared_twice("a"),
            edge_twice("a", "b"),
            into_start("a"),
            out_of_end("a"),
            mixed_operators("a -> (b & c) | d", "a -> b & (c | d)"),
            unused_node("a"),
            missing_route("a", "Publish"),
            unknown_route("a", "Pubish", some),
            unknown_route("a", "Pubish", None),
            plain_beside_route("a"),
            no_route("a"),
            conflict("a", "b", "k"),
            conflict_with_itself("a", "k"),
            unwritten_read("a", "k", None, Writers::None),
            unwritten_read("a", "k", None, Writers::Sometimes("b")),
            unwritten_read("a", "k", some, Writers::Elsewhere("b")),
            unknown_key("Essay", "dratf", Some("draft")),
            unknown_key("Essay", "dratf", None),
            written_twice("a", "k"),
            takes_no_item("a", "b"),
            needs_item("a", "b"),
            carries_no_list("a", "Found", "String"),
            other_item("a", "Topic", "b", "String"),
            missing_output("k", "a"),
            tool_schema("search", "query"),
            tool_twice("search"),
            unknown_option("retries", Some("retry")),
            unknown_option("retries", None),
            repeated_option("retry"),
            keep_takes_thread(),
            keep_beside_in(),
            keeps_nothing("a"),
            stored_twice("a", "b", "c"),
            interrupted_twice("before", "a"),
            unwritten_guard_read("before", "a", "k", None, Writers::None),
            unwritten_guard_read("after", "a", "k", some, Writers::Sometimes("b")),
            not_a_node("Write", "Essay"),
            caught_twice("a"),
            catches_itself("a"),
            too_many_keys("Essay", 300),
            stuck_by_many("a"),
            endless_by_choice("a"),
        ];
        for text in all.iter().map(Text::to_string) {
            let first = text.trim_start_matches('`').chars().next().unwrap();
            assert!(text.starts_with('`') || first.is_lowercase(), "{text}");
            assert!(
                !text.contains('\n') && !text.ends_with('.') && text.matches('`').count() % 2 == 0,
                "{text}"
            );
            assert!(text.contains("; "), "{text}");
            assert!(text.len() < 400, "{text}");
        }
        assert_eq!(
            coded(Rule::DuplicateTool, &tool_twice("search"))
                .as_str()
                .split(':')
                .next(),
            Some("PF023")
        );
        assert_eq!(Rule::TooManyKeys.code(), "PF027");
    }
}
