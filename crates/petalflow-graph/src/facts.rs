//! Properties of nodes and keys that follow from their types, for constant evaluation and for the run-time builder.

use crate::keys::KeySet;

/// The properties of a node that the graph does not have.
#[derive(Clone, Copy, Debug)]
pub struct NodeFacts<'a> {
    /// Its name in the graph.
    pub name: &'a str,
    /// The keys that it reads.
    pub reads: KeySet,
    /// The keys that it may write.
    pub may_write: KeySet,
    /// The keys that it writes whenever it succeeds.
    pub must_write: KeySet,
    /// The names of its routes.
    pub routes: &'a [&'a str],
    /// Whether it picks any number of its routes rather than exactly one.
    pub many: bool,
    /// Whether it chooses a route. (A route can have no names: an enum without variants.)
    pub has_route: bool,
    /// Whether it takes an item. Then it runs once per delivery rather than once per superstep.
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

/// The properties of a key.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent properties, as in the declaration of a key"
)]
pub struct KeyFacts<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether a value is lost if two nodes write the key in one superstep (`replace`).
    pub exclusive: bool,
    /// Whether it has a value before any node has run: an input, a default, or a reducer with an identity.
    pub assigned: bool,
    /// Whether it has no value after one superstep. `false` for a key that is then reset to a default.
    pub ephemeral: bool,
    /// Whether every path to END must write it.
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

/// A property of [`KeyFacts`]. Constant evaluation cannot call a closure, so [`select`] takes this.
#[derive(Clone, Copy)]
pub(crate) enum Property {
    Exclusive,
    Assigned,
    Ephemeral,
    Output,
}
