//! The wording of what nodes read and write.

use super::offer;
use crate::text::Text;

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

/// PF027.
pub const fn too_many_keys(state: &str, keys: usize) -> Text {
    Text::new("state ")
        .name(state)
        .push(" has ")
        .number(keys)
        .push(" keys, but a state can have 256; group some of them in a struct")
}
