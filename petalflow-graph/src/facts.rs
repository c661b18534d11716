//! What is known of the types of nodes and keys, for constant evaluation and for the run-time builder.

use crate::keys::KeySet;

/// What is known of a node beyond the graph.
#[derive(Clone, Copy, Debug)]
pub struct NodeFacts<'a> {
    /// Its name in the graph.
    pub name: &'a str,
    /// The keys it must be able to read.
    pub reads: KeySet,
    /// The keys it may write.
    pub may_write: KeySet,
    /// The keys it writes whenever it succeeds.
    pub must_write: KeySet,
    /// The names of its routes.
    pub routes: &'a [&'a str],
    /// It picks any number of its routes rather than exactly one.
    pub many: bool,
    /// It chooses a route. (An enum without variants has a route but no names.)
    pub has_route: bool,
    /// It takes an item, so it runs once per delivery rather than once per superstep.
    pub takes_item: bool,
}

impl<'a> NodeFacts<'a> {
    /// A node of this name that reads, writes and chooses nothing.
    pub const fn new(name: &'a str) -> Self {
        NodeFacts {
            name,
            reads: KeySet::NONE,
            may_write: KeySet::NONE,
            must_write: KeySet::NONE,
            routes: &[],
            many: false,
            has_route: false,
            takes_item: false,
        }
    }
}

/// What is known of a state key.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent properties, as in the declaration of a key"
)]
pub struct KeyFacts<'a> {
    /// Its name.
    pub name: &'a str,
    /// Two writers in one superstep would lose a value (`replace`).
    pub exclusive: bool,
    /// Has a value before any node has run: an input, a default, or a reducer with an identity.
    pub assigned: bool,
    /// Has no value any more after one superstep. A key that then falls back to a default always has one: say `false`.
    pub ephemeral: bool,
    /// Has to be written on every path to END.
    pub output: bool,
}

impl<'a> KeyFacts<'a> {
    /// A `replace` key of this name that starts without a value.
    pub const fn new(name: &'a str) -> Self {
        KeyFacts {
            name,
            exclusive: true,
            assigned: false,
            ephemeral: false,
            output: false,
        }
    }
}

/// The keys of the state that have one property.
pub(crate) const fn select(keys: &[KeyFacts<'_>], property: Property) -> KeySet {
    let mut set = KeySet::NONE;
    let mut i = 0;
    while i < keys.len() {
        let has = match property {
            Property::Exclusive => keys[i].exclusive,
            Property::Assigned => keys[i].assigned,
            Property::Ephemeral => keys[i].ephemeral,
            Property::Output => keys[i].output,
        };
        if has {
            set.insert(i);
        }
        i += 1;
    }
    set
}

/// A property of [`KeyFacts`], because constant evaluation cannot call a closure.
#[derive(Clone, Copy)]
pub(crate) enum Property {
    Exclusive,
    Assigned,
    Ephemeral,
    Output,
}
