//! The messages of the rules, for the macros, constant evaluation and the run-time builder.
//!
//! Every function returns one line without the code of its rule. [`with_code`] adds the code. A message that constant evaluation
//! needs is a [`Text`].

#[cfg(feature = "analysis")]
mod graph;
mod items;
mod keys;
mod routes;
#[cfg(feature = "analysis")]
mod settings;

use crate::rule::Rule;
use crate::text::Text;

#[cfg(feature = "analysis")]
pub use graph::{
    declared_twice, edge_twice, empty, end_in_join, first_here, first_written_here, into_start,
    matched_twice, mixed_at_length, mixed_in_arm, mixed_operators, no_name, no_start,
    no_start_but_similar, out_of_end, reserved_name, route_twice, side_twice, stored_twice,
    unknown_node, unreachable_node, unused_node,
};
pub use items::{
    cannot_take_item, carries_no_items, carries_no_list, each_edge_forgotten, each_forgotten,
    items_of_no_edge, items_unused, needs_item, other_item, sends_no_items, takes_no_item,
};
pub use keys::{
    KeyTraits, Precision, Writers, borrowed_key, conflict, conflict_with_itself, missing_output,
    too_many_keys, unfit_answer, unfit_key, unwritten_guard_read, unwritten_read, written_twice,
};
pub use routes::{
    endless_by_choice, missing_routes, named_alike, no_route, plain_beside_route, stuck_by_many,
    tool_twice, unknown_route, value_undeclared,
};
#[cfg(feature = "analysis")]
pub use settings::{
    catches_itself, caught_by_no_node, caught_twice, id_takes_text, interrupted_twice,
    keep_beside_in, keep_takes_thread, keeps_nothing, kept_and_cached, kept_for_items,
    remote_takes_text, repeated_option, route_listed_twice, routes_listed_twice, routes_not_listed,
    routes_of_type, unknown_option,
};

/// The line with its code, for users.
pub const fn with_code(rule: Rule, text: &Text) -> Text {
    Text::new(rule.code()).push(": ").push(text.as_str())
}

#[expect(
    clippy::large_types_passed_by_value,
    reason = "the result of each call is the input of the next"
)]
/// The line followed by a suggestion if there is a similar name, else by `otherwise`.
const fn suggest(text: Text, similar: Option<&str>, otherwise: &str) -> Text {
    match similar {
        Some(similar) => text.push("; did you mean ").name(similar).push("?"),
        None => text.push(otherwise),
    }
}

/// The maximum number of names in a list.
const MAX_LISTED: usize = 8;

/// The line followed by names in backticks, separated by commas.
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

/// Names in backticks, separated by commas, at most so many.
#[cfg(feature = "analysis")]
fn list_of(names: &[&str], most: usize) -> String {
    let quoted = names.iter().take(most).map(|name| format!("`{name}`"));
    let rest = (names.len() > most).then(|| "..".to_owned());
    quoted.chain(rest).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A type without `Send` or without serde's traits.
    fn without(shared: bool, serde: bool) -> KeyTraits {
        KeyTraits {
            shared,
            clone: shared,
            serialize: serde,
            deserialize: serde,
        }
    }

    fn about_graphs_and_settings() -> Vec<String> {
        vec![
            no_start(&[], "a"),
            no_start(&["a", "b"], "a"),
            no_start_but_similar("polish", "polsh"),
            empty(),
            unknown_node("an edge", "citique", Some("critique"), &["critique"]),
            unknown_node("`defer`", "citique", None, &["a"]),
            declared_twice("a"),
            edge_twice("a", "b"),
            side_twice("a"),
            into_start("a"),
            route_twice("a", "R"),
            matched_twice("a"),
            out_of_end("a"),
            end_in_join(),
            mixed_operators("`a -> (b & c) | d`", "`a -> b & (c | d)`"),
            mixed_at_length(),
            mixed_in_arm("a & b"),
            unused_node("again", None),
            unused_node("again", Some("agian")),
            unreachable_node("polish", None),
            unreachable_node("polish", Some("polsh")),
            unknown_option("retrys", Some("retry"), &["retry"]),
            unknown_option("retries", None, &["retry"]),
            repeated_option("retry"),
            keep_takes_thread(),
            keep_beside_in(),
            id_takes_text().to_string(),
            remote_takes_text().to_string(),
            keeps_nothing("a"),
            kept_and_cached("a"),
            kept_for_items("a"),
            stored_twice("a", "b", "c"),
            interrupted_twice("before", "a"),
            caught_by_no_node("END"),
            caught_twice("a"),
            catches_itself("a"),
        ]
    }

    fn about_nodes_and_keys() -> Vec<Text> {
        vec![
            named_alike("a", "b", "c"),
            missing_routes("a", &["Publish"], &[]),
            missing_routes("a", &["Publish", "Revise", "Hold"], &["Revise"]),
            unknown_route("a", "Pubish", Some("critique"), &["Publish"]),
            unknown_route("a", "Pubish", None, &[]),
            plain_beside_route("a"),
            no_route("a"),
            conflict("a", "b", "k", Precision::Exact),
            conflict("a", "b", "k", Precision::TooLarge),
            conflict_with_itself("a", "k", Precision::AnyRoutes),
            unwritten_read("a", "k", None, Writers::None, Precision::Exact),
            unwritten_read("a", "k", None, Writers::Sometimes("b"), Precision::TooLarge),
            unwritten_read(
                "a",
                "k",
                Some("critique"),
                Writers::Elsewhere("b"),
                Precision::AnyRoutes,
            ),
            written_twice("a", "k"),
            takes_no_item("a", "b"),
            needs_item("a", "b"),
            carries_no_list("a", "Found", "String"),
            sends_no_items("a", true),
            carries_no_items("a", "R", false),
            each_forgotten("a", "b"),
            each_edge_forgotten("a", "b"),
            cannot_take_item("a", "b", "add another one"),
            items_unused("a"),
            items_of_no_edge("a"),
            other_item("a", "Topic", "b", "String"),
            missing_output("k", "a", Precision::Deliveries),
            tool_twice("search"),
            unwritten_guard_read(
                "before",
                "a",
                "k",
                None,
                Writers::None,
                Precision::Deliveries,
            ),
            unwritten_guard_read(
                "after",
                "a",
                "k",
                Some("critique"),
                Writers::Sometimes("b"),
                Precision::Deliveries,
            ),
            too_many_keys("Essay", 300),
            borrowed_key("name", "&'static str"),
            unfit_key("log", "Log", without(false, true)).unwrap(),
            unfit_key("log", "Log", without(true, false)).unwrap(),
            unfit_answer("Verdict", false, false).unwrap(),
            unfit_answer("Verdict", true, false).unwrap(),
            stuck_by_many("a"),
            value_undeclared("a"),
            endless_by_choice("a"),
        ]
    }

    #[test]
    fn every_message_is_one_line_that_ends_with_the_fix() {
        let others = about_nodes_and_keys();
        let others = others.iter().map(Text::to_string);
        for text in about_graphs_and_settings().into_iter().chain(others) {
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
            with_code(Rule::DuplicateTool, &tool_twice("search"))
                .as_str()
                .split(':')
                .next(),
            Some("PF023")
        );
        assert_eq!(Rule::TooManyKeys.code(), "PF027");
    }
}
