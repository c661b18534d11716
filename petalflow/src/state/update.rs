//! All writes of one node.

use std::fmt;

use super::{KeyFlag, KeySet, State, Write, Writes};
use crate::error::BoxError;
use crate::node::Key;

/// The writes of one node to a state.
///
/// ```
/// use petalflow::node::{Effects, Output};
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Essay {
///     draft: String,
///     #[key(append)]
///     notes: Vec<String>,
/// }
///
/// let mut effects = Effects::<Essay>::default();
/// Overwrite(EssayNotes(vec!["fresh".into()])).apply(&mut effects).unwrap();
/// let update: &EssayUpdate = &effects.update;
/// assert!(update.written().contains(1) && update.overwritten().contains(1));
/// assert!(update.of::<EssayDraft>().is_empty());
/// assert_eq!(update.of::<EssayNotes>().only().unwrap(), &["fresh"]);
/// ```
pub struct Update<S: State> {
    pub(crate) slots: S::Slots,
    written: KeySet,
    overwritten: KeySet,
}

impl<S: State> Update<S> {
    /// The writes to a key.
    pub fn of<K: Key<State = S>>(&self) -> &Writes<K::Value> {
        K::slot(&self.slots)
    }

    /// The keys that were written.
    pub fn written(&self) -> KeySet {
        self.written
    }

    /// The keys that were written with [`Overwrite`](crate::Overwrite).
    pub fn overwritten(&self) -> KeySet {
        self.overwritten
    }

    /// Whether anything was written.
    pub fn written_any(&self) -> bool {
        !self.written.is_empty()
    }

    /// Clears all writes.
    pub fn clear(&mut self) {
        if self.written_any() {
            *self = Update::default();
        }
    }

    /// Adds a write to a key. Fails if the key does not accept it.
    #[doc(hidden)]
    pub fn add<K: Key<State = S>>(
        &mut self,
        value: K::Value,
        overwrite: bool,
    ) -> Result<(), WriteError> {
        if overwrite {
            if self.overwritten.contains(K::INDEX) {
                return Err(WriteError::second_overwrite(K::NAME));
            }
            self.overwritten.insert(K::INDEX);
            K::slot_mut(&mut self.slots).push(Write::Overwrite(value));
        } else if K::is_zero(&value) || self.overwritten.contains(K::INDEX) {
            // An overwrite replaces the other writes.
            return Ok(());
        } else if K::META.has(KeyFlag::Exclusive) && self.written.contains(K::INDEX) {
            return Err(WriteError::second_write(K::NAME));
        } else {
            K::slot_mut(&mut self.slots).push(Write::Fold(value));
        }
        self.written.insert(K::INDEX);
        Ok(())
    }

    /// Adds a write that a node returned.
    #[inline]
    pub(crate) fn write<K: Key<State = S>>(&mut self, value: K::Value) -> Result<(), BoxError> {
        if self.written.contains(K::INDEX) || K::is_zero(&value) {
            return self.write_again::<K>(value);
        }
        self.written.insert(K::INDEX);
        K::slot_mut(&mut self.slots).push_first(value);
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn write_again<K: Key<State = S>>(&mut self, value: K::Value) -> Result<(), BoxError> {
        Ok(self.add::<K>(value, false)?)
    }

    /// Adds a write of the input. A new update accepts one write of each key.
    pub(crate) fn push<K: Key<State = S>>(&mut self, value: K::Value) {
        let _ = self.add::<K>(value, false);
    }

    /// Makes this the value of a key, without a write.
    pub(crate) fn set<K: Key<State = S>>(&mut self, value: K::Value) {
        let slot = K::slot_mut(&mut self.slots);
        slot.clear();
        slot.push(Write::Overwrite(value));
    }

    /// Takes the first of the writes to a key.
    pub(crate) fn taken<K: Key<State = S>>(&mut self) -> Option<K::Value> {
        K::slot_mut(&mut self.slots).take_first()
    }

    /// The value of the key in a new state: the one that is [set](Self::set), the default, or the first write.
    pub(crate) fn value<K: Key<State = S>>(&mut self) -> Option<K::Value> {
        let slot = K::slot_mut(&mut self.slots);
        if slot.is_overwritten() {
            return slot.take_first();
        }
        match K::initial() {
            Some(initial) => Some(initial),
            None => slot.take_first(),
        }
    }

    /// Takes the written keys; the caller takes the writes.
    #[inline]
    pub(crate) fn take_marks(&mut self) -> KeySet {
        self.overwritten = KeySet::NONE;
        std::mem::take(&mut self.written)
    }
}

impl<S: State> Default for Update<S> {
    fn default() -> Self {
        Update {
            slots: S::Slots::default(),
            written: KeySet::NONE,
            overwritten: KeySet::NONE,
        }
    }
}

impl<S: State> Clone for Update<S> {
    fn clone(&self) -> Self {
        let mut copy = Update {
            slots: S::Slots::default(),
            ..*self
        };
        for key in self.written.iter() {
            S::FUNCTIONS[key].copy_writes(self, &mut copy);
        }
        copy
    }
}

/// The names of the written keys.
impl<S: State> fmt::Debug for Update<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.written.iter().map(|key| S::KEYS[key].name);
        write!(f, "{}Update", S::NAME)?;
        f.debug_set().entries(keys).finish()
    }
}

/// A write that its key rejects.
///
/// ```
/// use petalflow::node::{Effects, Output};
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Essay {
///     draft: String,
/// }
///
/// let mut effects = Effects::<Essay>::default();
/// EssayDraft("one".into()).apply(&mut effects).unwrap();
/// let error = EssayDraft("two".into()).apply(&mut effects).unwrap_err();
/// let error = error.downcast::<petalflow::state::WriteError>().unwrap();
/// assert_eq!(error.key, "draft");
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("key `{key}`: {problem}")]
#[non_exhaustive]
pub struct WriteError {
    /// The key.
    pub key: &'static str,
    /// The problem and its solution.
    pub problem: String,
}

crate::error::debug_is_message!(WriteError);

impl WriteError {
    /// A second write to a key that accepts one.
    pub(crate) fn second_write(key: &'static str) -> Self {
        WriteError {
            key,
            problem:
                "takes one write in a superstep; give it a reducer such as `append` to take several"
                    .into(),
        }
    }

    /// A second overwrite of a key.
    pub(crate) fn second_overwrite(key: &'static str) -> Self {
        WriteError {
            key,
            problem: "takes one `Overwrite` in a superstep".into(),
        }
    }
}
