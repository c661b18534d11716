//! Typed state: keys, writes to them, and reducers.

pub(crate) mod codec;
mod encoded_key;
pub(crate) mod functions;
pub(crate) mod indexed;
mod messages;
#[cfg(feature = "tool")]
mod schema;
mod storage;
mod sums;
mod update;
mod write;

pub mod reduce;

pub use crate::migration::{Migration, MigrationError};
pub use codec::{StateCodec, Values};
pub use encoded_key::{EncodedKey, encode_keys};
pub use indexed::{Indexed, IndexedKey, attribute_kinds};
pub use messages::{Message, Remove};
pub use petalflow_graph::KeySet;
pub use petalflow_store::codec::{RawValue, Reducer};
#[cfg(feature = "tool")]
#[cfg_attr(docsrs, doc(cfg(feature = "tool")))]
pub use schema::StateSchema;
pub use storage::{CanStore, Durable, Recordable, Storable, Stores, ThreadSafe, Volatile};
pub(crate) use sums::check_sum;
pub use update::{Update, WriteError};
pub use write::{Write, Writes};

use petalflow_graph::KeyFacts;
use petalflow_store::codec::FieldOutline;

use self::codec::KeyCodec;
use self::functions::{Input, KeyFunctions};
use crate::migration::Migrate;

/// The state of a flow: a struct whose fields are the state keys. Implemented by [`#[state]`](macro@crate::state).
///
/// ```
/// use petalflow::prelude::*;
///
/// #[state]
/// pub struct Essay {
///     #[key(input)]
///     pub topic: String,
///     #[key(append)]
///     pub notes: Vec<String>,
/// }
///
/// assert_eq!(Essay::KEYS[1].name, "notes");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state",
    label = "not a state",
    note = "annotate the struct with `#[state]`"
)]
pub trait State: Sized + Send + Sync + 'static {
    /// The input of a run: the keys marked `input`.
    type Input: Input<Self>;
    /// The writes of one node: a [`Writes`] per key.
    #[doc(hidden)]
    type Slots: Default + Send + Sync + 'static;
    /// Whether runs over this state can be stored: [`Durable`], or [`Volatile`] with `#[state(volatile)]`.
    type Storage;

    /// The struct's name.
    const NAME: &'static str;
    /// The keys in declaration order.
    const KEYS: &'static [KeyMeta];
    /// The functions of the keys, in the same order.
    #[doc(hidden)]
    const FUNCTIONS: &'static [KeyFunctions<Self>];
    /// The encodings of the keys, in the same order; `None` for a volatile state.
    #[doc(hidden)]
    const CODECS: Option<&'static [KeyCodec<Self>]> = None;
    /// The keys whose values are search attributes.
    #[doc(hidden)]
    const INDEXED: &'static [IndexedKey<Self>] = &[];
    /// The version of stored values, and the function that migrates lower versions to it.
    #[doc(hidden)]
    const MIGRATION: Option<(u32, Migrate)> = None;
    /// The keys that lose their value after one superstep.
    const EPHEMERAL: KeySet = KeyMeta::set(Self::KEYS, KeyFlag::Ephemeral);
    /// The keys that accept one write per superstep.
    const EXCLUSIVE: KeySet = KeyMeta::set(Self::KEYS, KeyFlag::Exclusive);
    /// The keys whose writes are checked before they are applied.
    #[doc(hidden)]
    const CHECKED: KeySet = KeyMeta::checked(Self::KEYS);

    /// A state of these values, and of defaults where there is none. `None` if a key without a default has no value.
    #[doc(hidden)]
    fn build(values: &mut Update<Self>) -> Option<Self>;

    /// The state before the first superstep and the keys that have a value in it. Input folds like any write, but a
    /// `replace` key takes it without a `Default`.
    ///
    /// # Errors
    ///
    /// If a `sum` of the input and the default of its key does not fit in the type, or a key has no value.
    fn start(input: Self::Input) -> Result<(Self, KeySet), WriteError> {
        functions::start(input)
    }

    /// The input as writes, for a state that already has values.
    fn input(input: Self::Input) -> Update<Self> {
        let mut update = Update::default();
        input.write(&mut update);
        update
    }

    /// Resets the keys to their defaults. Keys without a default keep their value.
    fn reset(&mut self, keys: KeySet) {
        for key in keys.iter() {
            // A set may have bits that are no keys.
            if let Some(functions) = Self::FUNCTIONS.get(key) {
                functions.reset(self);
            }
        }
    }

    /// Folds the writes of one node in place and leaves `update` empty. Plain writes to keys in `overwritten` are
    /// dropped. Keys that get a value are added to `written`.
    #[inline]
    fn commit(&mut self, update: &mut Update<Self>, overwritten: KeySet, written: &mut KeySet) {
        functions::commit(self, update, overwritten, written);
    }

    /// Checks whether the writes of one superstep, in the order in which they fold, can be applied. Called before any
    /// of them is applied. The keys in `expired` are reset before.
    ///
    /// # Errors
    ///
    /// The first write that its reducer rejects: `messages` rejects the removal of an unknown message, `sum` rejects a sum
    /// that does not fit in the type.
    #[inline]
    fn validate<'a>(
        &'a self,
        expired: KeySet,
        updates: impl Iterator<Item = &'a Update<Self>> + Clone,
    ) -> Result<(), WriteError> {
        // Known at compile time: most states have no such keys.
        if Self::CHECKED.is_empty() {
            return Ok(());
        }
        functions::validate(self, expired, updates)
    }

    /// The encoding of its keys; `None` for a volatile state.
    #[doc(hidden)]
    fn codec() -> Option<StateCodec<Self>> {
        StateCodec::of_state()
    }

    /// What the values of its keys consist of, sorted: for `flow.lock`.
    #[doc(hidden)]
    fn fields() -> Vec<FieldOutline> {
        Vec::new()
    }

    /// Its clone function, for listeners to a sub-flow's state, whose type they do not name.
    #[doc(hidden)]
    fn copier() -> Option<fn(&Self) -> Self> {
        Some(functions::copy)
    }
}

/// What a run over `S` can begin with: its input, or the value of the only key that is marked `input`.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::state::InputOf;
///
/// #[state]
/// struct Essay {
///     #[key(input)]
///     topic: String,
/// }
///
/// fn begins(_: impl InputOf<Essay>) {}
///
/// begins(EssayInput { topic: "petals".into() });
/// begins("petals".to_string());
/// ```
#[diagnostic::on_unimplemented(
    message = "a run over `{S}` cannot begin with a `{Self}`",
    label = "not the input of `{S}`",
    note = "write `{S}Input {{ .. }}` with every key that is marked `input`; if there is one such key, its value is enough: `\"..\".to_string()` for a `String`; if there is none, write `()`"
)]
pub trait InputOf<S: State>: Into<S::Input> {}

#[diagnostic::do_not_recommend]
impl<S: State, I: Into<S::Input>> InputOf<S> for I {}

/// The compile-time properties of a key.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::state::{KeyFlag, KeyMeta, Reducer};
///
/// #[state]
/// struct Essay {
///     #[key(input)]
///     topic: String,
///     #[key(append, id = "remarks")]
///     notes: Vec<String>,
/// }
///
/// let [topic, notes] = Essay::KEYS else { unreachable!() };
/// assert!(topic.has(KeyFlag::Input) && topic.has(KeyFlag::Exclusive));
/// assert_eq!((notes.name, notes.id, notes.reducer), ("notes", "remarks", Reducer::Append));
/// assert!(KeyMeta::named(Essay::KEYS, &["notes"]).contains(1));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct KeyMeta {
    /// The field's name.
    pub name: &'static str,
    /// The name in storage (`id = "…"`, or the field's name).
    pub id: &'static str,
    /// How writes fold.
    pub reducer: Reducer,
    /// The type of its values as written; empty if unknown.
    pub ty: &'static str,
    /// A hash of the name: constant evaluation compares numbers much faster than texts.
    hash: u64,
    traits: u16,
}

/// A yes-or-no property of a key.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::state::{KeyFlag, KeyMeta};
///
/// #[state]
/// struct Essay {
///     #[key(turn)]
///     draft: String,
///     #[key(untracked)]
///     scratch: String,
/// }
///
/// assert!(KeyMeta::set(Essay::KEYS, KeyFlag::Turn).contains(0));
/// assert!(Essay::KEYS[1].has(KeyFlag::Untracked));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
#[non_exhaustive]
pub enum KeyFlag {
    /// Accepts one writer per superstep, because a second one would lose a value (`replace`).
    Exclusive = 1,
    /// Has a value before the first node runs: `input`, `default`, or a reducer that folds from the default.
    Assigned = 2,
    /// Is part of the run's input.
    Input = 4,
    /// Is reset to its default when a thread starts a new turn.
    Turn = 8,
    /// Must be written on every path to `END`.
    Output = 16,
    /// Is never stored.
    Untracked = 32,
    /// Loses its value after one superstep.
    Ephemeral = 64,
    /// Ignores writes of the type's default.
    SkipZero = 128,
    /// Has no default: every thread got its value from the input.
    Required = 256,
    /// A turn after one that did not end begins with the writes of the tasks that had finished in the last superstep.
    Recover = 512,
    /// Is not shown to clients of a server.
    Secret = 1024,
    /// Takes messages: writes from outside while the thread runs.
    Inbox = 2048,
    /// Takes messages, which nodes receive. They are not folded into its value.
    Receive = 4096,
    /// Is a search attribute: its value is in the index of threads.
    Indexed = 8192,
}

impl KeyMeta {
    /// Creates a key with this name and reducer, without any [`KeyFlag`].
    pub const fn new(name: &'static str, reducer: Reducer) -> Self {
        KeyMeta {
            name,
            id: name,
            reducer,
            ty: "",
            hash: hash(name),
            traits: 0,
        }
    }

    /// Adds a flag.
    #[must_use]
    pub const fn with(mut self, property: KeyFlag) -> Self {
        self.traits |= property as u16;
        self
    }

    /// Adds several flags.
    #[must_use]
    pub const fn with_all(mut self, properties: &[KeyFlag]) -> Self {
        let mut index = 0;
        while index < properties.len() {
            self = self.with(properties[index]);
            index += 1;
        }
        self
    }

    /// Sets the name in storage.
    #[must_use]
    pub const fn stored_as(mut self, id: &'static str) -> Self {
        self.id = id;
        self
    }

    /// Sets the type of the values, as written.
    #[must_use]
    pub const fn of_type(mut self, ty: &'static str) -> Self {
        self.ty = ty;
        self
    }

    /// Whether its writes are stored instead of its value, because they are small compared with the value.
    pub(crate) fn is_delta(&self) -> bool {
        // The value of an ephemeral key does not accumulate.
        self.reducer.stores_writes() && !self.has(KeyFlag::Ephemeral)
    }

    /// Whether the first write replaces the value, because it must not be folded into a made-up one.
    pub(crate) const fn folds_from_first(&self) -> bool {
        matches!(self.reducer, Reducer::Min | Reducer::Max) && !self.has(KeyFlag::Assigned)
    }

    /// The properties of the key that the rules use.
    pub(crate) const fn facts(&self) -> KeyFacts<'static> {
        KeyFacts {
            exclusive: self.has(KeyFlag::Exclusive),
            assigned: self.has(KeyFlag::Assigned),
            // An ephemeral key with a default returns to it, so it always has a value. An input exists once.
            ephemeral: self.has(KeyFlag::Ephemeral)
                && (!self.has(KeyFlag::Assigned) || self.has(KeyFlag::Input)),
            output: self.has(KeyFlag::Output),
            ..KeyFacts::new(self.name)
        }
    }

    /// Whether the key has the flag.
    pub const fn has(&self, property: KeyFlag) -> bool {
        self.traits & property as u16 != 0
    }

    /// All keys that have the flag.
    pub const fn set(keys: &[KeyMeta], property: KeyFlag) -> KeySet {
        let mut set = KeySet::NONE;
        let mut key = 0;
        while key < keys.len() {
            if keys[key].has(property) {
                set.insert(key);
            }
            key += 1;
        }
        set
    }

    /// The keys whose reducers can reject a write.
    pub(crate) const fn checked(keys: &[KeyMeta]) -> KeySet {
        let mut set = KeySet::NONE;
        let mut key = 0;
        while key < keys.len() {
            if matches!(keys[key].reducer, Reducer::Sum | Reducer::Messages) {
                set.insert(key);
            }
            key += 1;
        }
        set
    }

    /// [`named`](Self::named) for the macros, by the hashes of the names.
    #[doc(hidden)]
    pub const fn hashed(keys: &[KeyMeta], hashes: &[u64]) -> KeySet {
        let mut set = KeySet::NONE;
        let mut key = 0;
        while key < keys.len() {
            let hash = keys[key].hash;
            let mut name = 0;
            while name < hashes.len() {
                if hash == hashes[name] {
                    set.insert(key);
                }
                name += 1;
            }
            key += 1;
        }
        set
    }

    /// Whether one of these hashes is that of no key.
    #[doc(hidden)]
    pub const fn lack(keys: &[KeyMeta], hashes: &[u64]) -> bool {
        let mut name = 0;
        while name < hashes.len() {
            let mut key = 0;
            while key < keys.len() && keys[key].hash != hashes[name] {
                key += 1;
            }
            if key == keys.len() {
                return true;
            }
            name += 1;
        }
        false
    }

    /// The keys with these names. Unknown names are skipped: the field access beside it is the error that the user
    /// sees.
    pub const fn named(keys: &[KeyMeta], names: &[&str]) -> KeySet {
        let mut set = KeySet::NONE;
        let mut key = 0;
        while key < keys.len() {
            let mut name = 0;
            while name < names.len() {
                if same(keys[key].name, names[name]) {
                    set.insert(key);
                }
                name += 1;
            }
            key += 1;
        }
        set
    }
}

/// FNV-1a, as in the macros.
const fn hash(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let mut i = 0;
    while i < bytes.len() {
        hash ^= bytes[i] as u64;
        hash = u64::wrapping_mul(hash, 0x0100_0000_01b3);
        i += 1;
    }
    hash
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut byte = 0;
    while byte < a.len() {
        if a[byte] != b[byte] {
            return false;
        }
        byte += 1;
    }
    true
}
