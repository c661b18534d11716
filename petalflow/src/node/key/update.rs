//! The writes to one key among those of a node.

use super::Key;
use crate::error::BoxError;
use crate::state::{KeyFlag, State, Update, Write, WriteError, Writes};

impl<S: State> Update<S> {
    /// The writes to a key.
    pub fn of<K: Key<State = S>>(&self) -> &Writes<K::Value> {
        K::slot(&self.slots)
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
    pub(crate) fn take_first<K: Key<State = S>>(&mut self) -> Option<K::Value> {
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
}
