//! Typed state: keys, what a node writes to them, and how writes fold.

mod codec;
mod copies;
mod encoded_key;
mod messages;
mod storage;
mod update;
mod write;

pub mod reduce;

pub use crate::migration::{Migration, MigrationError};
pub use crate::reducer::Reducer;
pub use codec::{Coder, NoCoder, StateCodec, Values};
pub use copies::{CopyProbe, NoCopy};
pub use encoded_key::{EncodedKey, encode_keys};
pub use messages::{Message, Remove};
pub use petalflow_graph::KeySet;
pub use storage::{CanStore, Durable, Volatile};
pub use update::{Update, WriteError};
pub use write::{Write, Writes};

/// What a flow knows: a struct whose fields are the state keys. Written by [`#[state]`](macro@crate::state).
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
    /// What a run starts from: the keys marked `input`.
    type Input: Send + 'static;
    /// One node's writes.
    type Update: Update<Self>;
    /// Whether runs over this state can be stored: [`Durable`], or [`Volatile`] with `#[state(volatile)]`.
    type Storage;

    /// The struct's name.
    const NAME: &'static str;
    /// The keys in declaration order.
    const KEYS: &'static [KeyMeta];
    /// The keys whose value is gone after one superstep.
    const EPHEMERAL: KeySet = KeyMeta::set(Self::KEYS, KeyFlag::Ephemeral);
    /// The keys of which a superstep takes one write at most.
    const EXCLUSIVE: KeySet = KeyMeta::set(Self::KEYS, KeyFlag::Exclusive);

    /// The state before the first superstep, and which keys have a value then. Input folds like any write, except that a
    /// `replace` key takes it as it is and so needs no `Default`.
    fn start(input: Self::Input) -> (Self, KeySet);

    /// The same input as writes, for a state that already has values.
    fn input(input: Self::Input) -> Self::Update;

    /// Puts the keys back to their defaults; keys without one stay.
    fn reset(&mut self, keys: KeySet);

    /// Folds one node's writes in place and leaves `update` empty. Plain writes to keys in `overwritten` are dropped; keys
    /// that get a value are added to `written`.
    fn commit(&mut self, update: &mut Self::Update, overwritten: KeySet, written: &mut KeySet);

    /// Whether the writes of one superstep, in the order they will fold, can be applied: asked before any of them is.
    ///
    /// # Errors
    ///
    /// The first write that its reducer refuses (today: `messages`, for the removal of an unknown message).
    fn validate<'a>(
        &'a self,
        updates: &mut dyn Iterator<Item = &'a Self::Update>,
    ) -> Result<(), WriteError> {
        let _ = updates;
        Ok(())
    }

    /// How its keys are stored; a volatile state has no way.
    #[doc(hidden)]
    fn codec() -> Option<StateCodec<Self>> {
        None
    }

    /// How it is copied, if it is `Clone`: for who listens to the state of a flow inside another, whose type he does not name.
    #[doc(hidden)]
    fn copier() -> Option<fn(&Self) -> Self> {
        None
    }
}

/// What is known of one key while the program compiles.
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
    /// Its name in storage (`id = "…"`, else the field's name).
    pub id: &'static str,
    /// How writes fold.
    pub reducer: Reducer,
    /// The type of its values, as written; empty where it is not known.
    pub ty: &'static str,
    /// Of the name: constant evaluation compares numbers much faster than texts.
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
pub enum KeyFlag {
    /// Two writers in one superstep would lose a value (`replace`).
    Exclusive = 1,
    /// Has a value before any node has run: `input`, `default`, or a reducer that folds from the default.
    Assigned = 2,
    /// Is part of the run's input.
    Input = 4,
    /// Goes back to its default when a thread starts a new turn.
    Turn = 8,
    /// Must be written on every path to END.
    Output = 16,
    /// Is never stored.
    Untracked = 32,
    /// Is gone after one superstep.
    Ephemeral = 64,
    /// A write of the type's default is no write.
    SkipZero = 128,
    /// Has no default: every thread has got its value from the input.
    Required = 256,
}

impl KeyMeta {
    /// A key of this name and reducer without any [`KeyFlag`].
    #[inline]
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

    /// The same key with one more trait.
    #[must_use]
    #[inline]
    pub const fn with(mut self, property: KeyFlag) -> Self {
        self.traits |= property as u16;
        self
    }

    /// The same key under another name in storage.
    #[must_use]
    #[inline]
    pub const fn stored_as(mut self, id: &'static str) -> Self {
        self.id = id;
        self
    }

    /// The same key with the type of its values, as written.
    #[must_use]
    #[inline]
    pub const fn of_type(mut self, ty: &'static str) -> Self {
        self.ty = ty;
        self
    }

    /// Whether its writes are stored rather than its value: what they fold to is as good as known, and small beside it.
    pub(crate) fn is_delta(&self) -> bool {
        // What is gone after one superstep does not add up.
        self.reducer.stores_writes() && !self.has(KeyFlag::Ephemeral)
    }

    /// Whether the key has the property.
    #[inline]
    pub const fn has(&self, property: KeyFlag) -> bool {
        self.traits & property as u16 != 0
    }

    /// All keys that have the property.
    #[inline]
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

    /// [`named`](Self::named) for the macros, by the hashes of the names.
    #[doc(hidden)]
    #[inline]
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

    /// The keys of these names. A name that is no key is left out: the field access beside it is the error that the user sees.
    #[inline]
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
#[inline]
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

#[inline]
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
