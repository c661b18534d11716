//! Messages about reads and writes of keys.

use super::list;
use crate::text::Text;

/// How precise an analysis was. An imprecise one may reject a flow that would run without the mistake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// The states of the run were analyzed. A rejected flow can fail.
    #[default]
    Exact,
    /// The edges were analyzed, because there are too many states.
    TooLarge,
    /// The edges were analyzed, because a node of this flow picks any number of its routes.
    AnyRoutes,
    /// The edges were analyzed, because a node takes several items, and each can take another route.
    Deliveries,
}

impl Precision {
    /// Adds the reason why the analysis is not exact.
    #[expect(
        clippy::large_types_passed_by_value,
        reason = "the result of each call is the input of the next"
    )]
    const fn explain(self, text: Text) -> Text {
        match self {
            Precision::Exact => text,
            Precision::TooLarge => text.push(
                " (the graph is too large to explore exactly, so only its edges were analyzed)",
            ),
            Precision::AnyRoutes => text.push(
                " (a node of the flow picks any number of routes, so only the edges were analyzed)",
            ),
            Precision::Deliveries => {
                text.push(" (a node takes several items at once, so only the edges were analyzed)")
            }
        }
    }
}

/// PF016.
pub const fn conflict(first: &str, second: &str, key: &str, precision: Precision) -> Text {
    let text = Text::new("nodes ")
        .name(first)
        .push(" and ")
        .name(second)
        .push(" can run in one superstep and may both write ")
        .name(key)
        .push(", so one value would be lost");
    precision
        .explain(text)
        .push("; give the key a reducer, or order the nodes")
}

/// PF016, for a node that runs on several items.
pub const fn conflict_with_itself(node: &str, key: &str, precision: Precision) -> Text {
    let text = Text::new("node ")
        .name(node)
        .push(" can run on several items in one superstep, and each run may write ")
        .name(key)
        .push(", so all values but one would be lost");
    precision.explain(text).push("; give the key a reducer")
}

/// The nodes that write a key which may have no value when it is read.
#[derive(Clone, Copy, Debug)]
pub enum Writers<'a> {
    /// No other node.
    None,
    /// This node, but not whenever it runs.
    Sometimes(&'a str),
    /// This node, but not on every path.
    Elsewhere(&'a str),
}

/// PF017: `after` is a node that can run directly before the reader. `None` for START.
pub const fn unwritten_read(
    node: &str,
    key: &str,
    after: Option<&str>,
    writers: Writers<'_>,
    precision: Precision,
) -> Text {
    let reader = Text::new("node ").name(node);
    unwritten(reader, key, after, writers, precision)
}

/// PF017, for the guard of an `interrupt`; `which` is "before" or "after".
pub const fn unwritten_guard_read(
    which: &str,
    node: &str,
    key: &str,
    after: Option<&str>,
    writers: Writers<'_>,
    precision: Precision,
) -> Text {
    let reader = Text::new("the guard of `interrupt ")
        .push(which)
        .push(" ")
        .push(node)
        .push("`");
    unwritten(reader, key, after, writers, precision)
}

#[expect(
    clippy::large_types_passed_by_value,
    reason = "the result of each call is the input of the next"
)]
const fn unwritten(
    reader: Text,
    key: &str,
    after: Option<&str>,
    writers: Writers<'_>,
    precision: Precision,
) -> Text {
    let text = reader.push(" reads ").name(key).push(", but ");
    let (writer, why) = match writers {
        Writers::None => return text.push("no node before it writes that key; write it in an earlier node, make it an input, or give it a default"),
        Writers::Sometimes(writer) => (writer, "does not always write it"),
        Writers::Elsewhere(writer) => (writer, "writes it only later, on another path, or not every time"),
    };
    let text = match after {
        Some(after) => text.push("after ").name(after),
        None => text.push("after START"),
    };
    let text = text
        .push(" the key may have no value yet: ")
        .name(writer)
        .push(" ")
        .push(why);
    precision
        .explain(text)
        .push("; write it on every path that leads here, or give it a default")
}

/// PF019.
pub const fn written_twice(node: &str, key: &str) -> Text {
    Text::new("node ").name(node).push(" writes ").name(key).push(" twice in one result, so one value would be lost; return it once, or give the key a reducer such as `append`")
}

/// PF021.
pub const fn missing_output(key: &str, last: &str, precision: Precision) -> Text {
    let text = Text::new("output ")
        .name(key)
        .push(" is not written on every path to END: a run that ends after ")
        .name(last)
        .push(" may leave it unwritten");
    precision
        .explain(text)
        .push("; write it on that path too, or give it a default")
}

/// PF027.
pub const fn too_many_keys(state: &str, keys: usize) -> Text {
    Text::new("state ")
        .name(state)
        .push(" has ")
        .number(keys)
        .push(" keys, but a state can have at most 256; group some of them in a struct")
}

/// The traits of a key's type. A `true` for serde's traits if the state is not stored.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says whether the type has one trait"
)]
pub struct KeyTraits {
    /// `Send` and `Sync`.
    pub shared: bool,
    /// `Clone`.
    pub clone: bool,
    /// `Serialize`.
    pub serialize: bool,
    /// `Deserialize`.
    pub deserialize: bool,
}

/// A key whose type lacks a trait. `None` if it has all.
pub const fn unfit_key(key: &str, ty: &str, traits: KeyTraits) -> Option<Text> {
    let text = Text::new("key ")
        .name(key)
        .push(" cannot be of type ")
        .name(ty);
    if !traits.shared {
        return Some(text.push(", because nodes on several threads read the state, and this type is not `Send` and `Sync`; use `Arc` for `Rc`, a `Mutex` or an atomic for a `Cell`, and `dyn Fn() + Send + Sync` for `dyn Fn()`"));
    }
    let (mut missing, mut derive, mut count) = ([""; 3], [""; 3], 0);
    let named = [
        (traits.clone, "Clone", "Clone"),
        (traits.serialize, "Serialize", "serde::Serialize"),
        (traits.deserialize, "Deserialize", "serde::Deserialize"),
    ];
    let mut i = 0;
    while i < named.len() {
        if !named[i].0 {
            (missing[count], derive[count]) = (named[i].1, named[i].2);
            count += 1;
        }
        i += 1;
    }
    if count == 0 {
        return None;
    }
    let text = list(
        text.push(", because it is not "),
        missing.split_at(count).0,
        3,
    );
    if is_shared(ty) {
        return Some(text.push("; what nodes share without storing it is not a key: a node takes it as a parameter such as `db: Managed<Db>`, and the run gets it with `.manage(..)`"));
    }
    let text = text.push("; derive ");
    let text = list(text, derive.split_at(count).0, 3).push(" for it");
    Some(if traits.serialize && traits.deserialize {
        text.push(", or share it in an `Arc`")
    } else {
        text.push(
            "; if it is from another crate, keep a value from which it can be made; or mark the state `#[state(volatile)]`, which is never stored and needs no serde",
        )
    })
}

/// Whether a type is written as an `Arc`.
const fn is_shared(ty: &str) -> bool {
    let (ty, arc) = (ty.as_bytes(), b"Arc<");
    if ty.len() < arc.len() {
        return false;
    }
    let mut i = 0;
    while i < arc.len() {
        if ty[i] != arc[i] {
            return false;
        }
        i += 1;
    }
    true
}

/// An answer whose type lacks a trait. `None` if it has both.
pub const fn unfit_answer(ty: &str, serialize: bool, deserialize: bool) -> Option<Text> {
    let (is_not, derive) = match (serialize, deserialize) {
        (true, true) => return None,
        (false, true) => ("`Serialize`", "`serde::Serialize`"),
        (true, false) => ("`Deserialize`", "`serde::Deserialize`"),
        (false, false) => (
            "`Serialize` and `Deserialize`",
            "`serde::Serialize` and `serde::Deserialize`",
        ),
    };
    let text = Text::new("an answer cannot be of type ")
        .name(ty)
        .push(", because answers are stored and it is not ")
        .push(is_not);
    Some(text.push("; derive ").push(derive).push(" for it"))
}

/// A key with a reference, whose value cannot be read back.
pub const fn borrowed_key(key: &str, ty: &str) -> Text {
    Text::new("key ").name(key).push(" cannot be of type ").name(ty).push(", because a thread is stored, and what is read back owns its data; use an owned type such as `String`, or `Cow<'static, str>`, or mark the state `#[state(volatile)]`")
}
