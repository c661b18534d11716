//! The wording of each rule, for macros, constant evaluation and the run-time builder alike.
//!
//! Every function returns the line without its code; [`coded`] puts the code in front.

use crate::rule::Rule;
use crate::similar::same;
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

/// At most so many names are listed.
const MOST_LISTED: usize = 8;

/// The line and names in backticks, with something between them.
const fn list(mut text: Text, names: &[&str], most: usize) -> Text {
    let mut i = 0;
    while i < names.len() && i < most {
        if i > 0 {
            text = text.push(", ");
        }
        text = text.name(names[i]);
        i += 1;
    }
    if names.len() > most {
        text = text.push(", ..");
    }
    text
}

/// PF001: `sources` are the nodes without an edge into them; `first` is a node that the flow may begin with.
pub const fn no_start(sources: &[&str], first: &str) -> Text {
    if sources.is_empty() {
        return Text::new("nothing says where the flow starts: every node has an edge into it; say where it begins, such as `START -> ").push(first).push("`");
    }
    if sources.len() == 1 {
        return Text::new("nothing says where the flow starts: ")
            .name(sources[0])
            .push(" has no edge into it; write `START -> ")
            .push(sources[0])
            .push("`");
    }
    let mut text = list(
        Text::new("nothing says where the flow starts: "),
        sources,
        MOST_LISTED,
    );
    text = text.push(" have no edge into them; write `START -> ");
    let mut i = 0;
    while i < sources.len() && i < MOST_LISTED {
        if i > 0 {
            text = text.push(" & ");
        }
        text = text.push(sources[i]);
        i += 1;
    }
    if sources.len() > MOST_LISTED {
        text = text.push(" & ..");
    }
    text.push("`, or lead an edge to those that do not start it")
}

/// PF001, for a flow without edges.
pub const fn empty() -> Text {
    Text::new("nothing starts the flow: it has no edges; add one, such as `START -> first`")
}

/// PF002: `user` is what names it: "an edge", "`catch`", "`defer`", "`with`", "`interrupt`"; `known` are the nodes.
pub const fn unknown_node(user: &str, name: &str, similar: Option<&str>, known: &[&str]) -> Text {
    let text = Text::new(user)
        .push(" names ")
        .name(name)
        .push(", but no node of the flow has that name; ");
    match similar {
        Some(similar) => text.push("did you mean ").name(similar).push("?"),
        None if known.is_empty() => text.push("add the node or remove the name"),
        None => list(text.push("the nodes are "), known, MOST_LISTED),
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
        .push(", so a checkpoint could not tell them apart; give one of them another `id`")
}

/// PF003, at the first of two places.
pub const fn first_here() -> Text {
    Text::new("first declared here")
}

/// PF004, at the first of two places.
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
        .push(" has an arm already; to lead it to several nodes write `")
        .push(route)
        .push(" => a & b`")
}

/// PF004, for two `match` with the same routes.
pub const fn matched_twice(node: &str) -> Text {
    Text::new("the routes of node ")
        .name(node)
        .push(" have arms already; the node goes on in the same way wherever it stands, so keep one `match`")
}

/// PF005.
pub const fn into_start(from: &str) -> Text {
    Text::new("an edge from ")
        .name(from)
        .push(" leads into START, but a run starts only once; lead it to the first node instead")
}

/// PF006: `to` is what follows END.
pub const fn out_of_end(to: &str) -> Text {
    Text::new("nothing can follow END, because END ends its path, but here ")
        .name(to)
        .push(" does; lead to it from the node before END")
}

/// PF006, for END as a side of a join.
pub const fn end_in_join() -> Text {
    Text::new("a join cannot wait for END, because END ends its path; join the nodes before END")
}

/// PF007: how to write each of the two readings.
pub const fn mixed_operators(one: &str, other: &str) -> Text {
    Text::new("`&` and `|` are mixed without parentheses, which can be read in two ways; write ")
        .push(one)
        .push(", or ")
        .push(other)
}

/// PF007, where the readings are too long to show.
pub const fn mixed_at_length() -> Text {
    Text::new(
        "`&` and `|` are mixed without parentheses, which can be read in several ways; spell the routes out: `match { Name => a & b, .. }`",
    )
}

/// PF007, in an arm, which knows no choice.
pub const fn mixed_in_arm(targets: &str) -> Text {
    Text::new("`&` and `|` are mixed, but a route leads to all of its targets; write ")
        .name(targets)
        .push(", or let a node of its own choose")
}

/// PF008.
pub const fn unused_node(name: &str) -> Text {
    Text::new("node ")
        .name(name)
        .push(" is declared, but no edge uses it; add an edge or remove the node")
}

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

/// What an answer about the states of a run rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grounds {
    /// The states themselves: what is refused can happen.
    #[default]
    States,
    /// The edges, because there are too many states.
    TooLarge,
    /// The edges, because a node of this flow picks any number of its routes.
    AnyRoutes,
    /// The edges, because a node takes items of which each can go another way.
    Deliveries,
}

impl Grounds {
    /// Says so, where the answer is not exact.
    #[expect(
        clippy::large_types_passed_by_value,
        reason = "each piece is pushed to a line of its own"
    )]
    const fn say(self, text: Text) -> Text {
        match self {
            Grounds::States => text,
            Grounds::TooLarge => {
                text.push(" (the graph is too large to explore exactly, so its edges alone decide)")
            }
            Grounds::AnyRoutes => text.push(
                " (a node of the flow picks any number of routes, so the edges alone decide)",
            ),
            Grounds::Deliveries => {
                text.push(" (a node takes several items at once, so the edges alone decide)")
            }
        }
    }
}

/// PF016.
pub const fn conflict(first: &str, second: &str, key: &str, grounds: Grounds) -> Text {
    let text = Text::new("nodes ")
        .name(first)
        .push(" and ")
        .name(second)
        .push(" can run in one superstep and may both write ")
        .name(key)
        .push(", so one value would be lost");
    grounds
        .say(text)
        .push("; give the key a reducer, or order the nodes")
}

/// PF016, for one node on several items.
pub const fn conflict_with_itself(node: &str, key: &str, grounds: Grounds) -> Text {
    let text = Text::new("node ")
        .name(node)
        .push(" can run on several items in one superstep, and each run may write ")
        .name(key)
        .push(", so all values but one would be lost");
    grounds.say(text).push("; give the key a reducer")
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
    grounds: Grounds,
) -> Text {
    let reader = Text::new("node ").name(node);
    unwritten(reader, key, after, writers, grounds)
}

/// PF017, where it is not the node itself that reads but the guard of its `interrupt`; `which` is "before" or "after".
pub const fn unwritten_guard_read(
    which: &str,
    node: &str,
    key: &str,
    after: Option<&str>,
    writers: Writers<'_>,
    grounds: Grounds,
) -> Text {
    let reader = Text::new("the guard of `interrupt ")
        .push(which)
        .push(" ")
        .push(node)
        .push("`");
    unwritten(reader, key, after, writers, grounds)
}

#[expect(
    clippy::large_types_passed_by_value,
    reason = "each piece is pushed to a line of its own"
)]
const fn unwritten(
    reader: Text,
    key: &str,
    after: Option<&str>,
    writers: Writers<'_>,
    grounds: Grounds,
) -> Text {
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
    let text = text
        .push(" it can run before anything has surely written it: ")
        .name(writer)
        .push(" ")
        .push(why);
    grounds
        .say(text)
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
    Text::new("node ").name(node).push(" writes ").name(key).push(" twice in one result, and only one of the values can stand; return it once, or give the key a reducer such as `append`")
}

/// PF020: an item is delivered to a node that takes none.
pub const fn takes_no_item(node: &str, from: &str) -> Text {
    Text::new("node ")
        .name(node)
        .push(" takes no item, but the edge from ")
        .name(from)
        .push(" delivers one; give ")
        .name(node)
        .push(" a parameter `#[item] item: &..`, or lead the edge to a node that has one")
}

/// PF020: a node needs an item and none is delivered.
pub const fn needs_item(node: &str, from: &str) -> Text {
    Text::new("node ").name(node).push(" takes an item, but the edge from ").name(from).push(" delivers none; lead to it with `each` from a node that returns `Each<..>`, or with a route that carries the item, or remove the `#[item]` parameter")
}

/// PF020: a plain edge between a node that returns items and one that takes one.
pub const fn each_forgotten(node: &str, from: &str) -> Text {
    Text::new("node ")
        .name(from)
        .push(" returns items and ")
        .name(node)
        .push(" takes one, but this edge delivers none; write `")
        .push(from)
        .push(" -> each ")
        .push(node)
        .push("`")
}

/// PF020: an `each` edge from a node that returns no items; `takes` says whether its target takes one.
pub const fn sends_no_items(from: &str, takes: bool) -> Text {
    Text::new("`each` runs its target once per item, but node ")
        .name(from)
        .push(" returns no items; return `Each<..>` last")
        .push(if takes { "" } else { ", or leave out `each`" })
}

/// PF020: an `each` arm for a route that carries nothing; `takes` says whether its target takes an item.
pub const fn carries_no_items(from: &str, route: &str, takes: bool) -> Text {
    Text::new("`each` runs its target once per item, but route ")
        .name(route)
        .push(" of node ")
        .name(from)
        .push(" carries nothing; let the variant carry a `Vec`")
        .push(if takes { "" } else { ", or leave out `each`" })
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
pub const fn missing_output(key: &str, last: &str, grounds: Grounds) -> Text {
    let text = Text::new("output ")
        .name(key)
        .push(" is not written on every path to END: a run that ends after ")
        .name(last)
        .push(" may leave it out");
    grounds
        .say(text)
        .push("; write it on that path too, or give it a default")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_is_one_line_that_says_the_fix_last() {
        let some = Some("critique");
        let all = vec![
            no_start(&[], "a"),
            no_start(&["a", "b"], "a"),
            empty(),
            unknown_node("an edge", "citique", some, &["critique"]),
            unknown_node("`defer`", "citique", None, &["a"]),
            declared_twice("a"),
            edge_twice("a", "b"),
            into_start("a"),
            route_twice("a", "R"),
            matched_twice("a"),
            out_of_end("a"),
            end_in_join(),
            mixed_operators("`a -> (b & c) | d`", "`a -> b & (c | d)`"),
            mixed_at_length(),
            mixed_in_arm("a & b"),
            unused_node("a"),
            missing_routes("a", &["Publish"], &[]),
            missing_routes("a", &["Publish", "Revise", "Hold"], &["Revise"]),
            unknown_route("a", "Pubish", some, &["Publish"]),
            unknown_route("a", "Pubish", None, &[]),
            plain_beside_route("a"),
            no_route("a"),
            conflict("a", "b", "k", Grounds::States),
            conflict("a", "b", "k", Grounds::TooLarge),
            conflict_with_itself("a", "k", Grounds::AnyRoutes),
            unwritten_read("a", "k", None, Writers::None, Grounds::States),
            unwritten_read("a", "k", None, Writers::Sometimes("b"), Grounds::TooLarge),
            unwritten_read("a", "k", some, Writers::Elsewhere("b"), Grounds::AnyRoutes),
            unknown_key("Essay", "dratf", Some("draft")),
            unknown_key("Essay", "dratf", None),
            written_twice("a", "k"),
            takes_no_item("a", "b"),
            needs_item("a", "b"),
            carries_no_list("a", "Found", "String"),
            sends_no_items("a", true),
            carries_no_items("a", "R", false),
            each_forgotten("a", "b"),
            items_unused("a"),
            other_item("a", "Topic", "b", "String"),
            missing_output("k", "a", Grounds::Deliveries),
            tool_schema("search", "query"),
            tool_twice("search"),
            unknown_option("retrys", Some("retry"), &["retry"]),
            unknown_option("retries", None, &["retry"]),
            repeated_option("retry"),
            keep_takes_thread(),
            keep_beside_in(),
            keeps_nothing("a"),
            stored_twice("a", "b", "c"),
            interrupted_twice("before", "a"),
            unwritten_guard_read("before", "a", "k", None, Writers::None, Grounds::Deliveries),
            unwritten_guard_read(
                "after",
                "a",
                "k",
                some,
                Writers::Sometimes("b"),
                Grounds::Deliveries,
            ),
            not_a_node("Write", "Essay"),
            caught_by_no_node("END"),
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
