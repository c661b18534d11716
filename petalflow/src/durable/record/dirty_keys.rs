//! The keys that have changed since the last checkpoint, and their encoded entries.

use std::ops::Range;

use crate::checkpoint::{KeyEntry, KeyKind};
use crate::erased::{AnyCodec, AnyEffects, AnyState, StateType};
use crate::outcome::ThreadError;
use crate::state::KeySet;

/// The keys that have changed since the last checkpoint. Writes to a key that grows are encoded at once. The value of any
/// other key is encoded with the checkpoint.
#[derive(Default)]
pub(crate) struct DirtyKeys {
    bytes: Vec<u8>,
    deltas: Vec<(usize, Range<usize>)>,
    changed: KeySet,
    /// The keys of [`StateType::keys_with_noted_loss`] that have a value, or that had one when the thread was loaded.
    noted: KeySet,
}

/// The encoded entries of a checkpoint, in one buffer.
#[derive(Default)]
pub(crate) struct KeyEntries {
    bytes: Vec<u8>,
    keys: Vec<(&'static str, KeyKind, Range<usize>)>,
}

impl DirtyKeys {
    /// Records the writes of a superstep, before they are applied.
    pub(crate) fn record(
        &mut self,
        codec: AnyCodec,
        effects: &[&dyn AnyEffects],
        overwritten: KeySet,
    ) -> Result<(), ThreadError> {
        let ty = codec.ty;
        for effects in effects {
            let new = effects.written().intersection(ty.keys_with_noted_loss());
            let new = new.minus(self.noted);
            self.noted = self.noted.union(new);
            self.changed = self.changed.union(new);
            for key in effects.written().minus(ty.untracked).iter() {
                // One checkpoint may span several supersteps, and an ephemeral value lasts only one of them.
                let replaced = overwritten.contains(key)
                    || self.changed.contains(key)
                    || ty.ephemeral.contains(key);
                if replaced || !ty.keys[key].is_delta() {
                    self.changed.insert(key);
                    continue;
                }
                let start = self.bytes.len();
                (codec.save_writes)(*effects, key, &mut self.bytes).map_err(of_key(ty, key))?;
                self.deltas.push((key, start..self.bytes.len()));
            }
        }
        Ok(())
    }

    /// Marks keys whose values have changed in another way than by writes.
    pub(crate) fn mark(&mut self, ty: &StateType, keys: KeySet) {
        let forgotten = keys.intersection(self.noted);
        self.noted = self.noted.minus(forgotten);
        let stored = keys.minus(ty.untracked);
        self.changed = self.changed.union(stored).union(forgotten);
    }

    /// Sets the keys that had a value when the thread was loaded, which was not stored.
    pub(crate) fn set_lost(&mut self, lost: KeySet) {
        self.noted = lost;
    }

    /// Encodes all keys that have a value, and clears the changes.
    pub(crate) fn take_all(
        &mut self,
        codec: AnyCodec,
        state: &dyn AnyState,
        written: KeySet,
        entries: &mut KeyEntries,
    ) -> Result<(), ThreadError> {
        entries.save_all(codec, state, written)?;
        for key in self.noted.iter() {
            entries.push(codec.ty, key, KeyKind::Lost, entries.bytes.len());
        }
        self.clear();
        Ok(())
    }

    /// Encodes the changes as entries of a checkpoint, and clears them.
    pub(crate) fn take(
        &mut self,
        codec: AnyCodec,
        state: &dyn AnyState,
        written: KeySet,
        entries: &mut KeyEntries,
    ) -> Result<(), ThreadError> {
        entries.clear();
        for (key, range) in self.deltas.drain(..) {
            // A value that was replaced later contains these writes, or has discarded them.
            if !self.changed.contains(key) {
                let start = entries.bytes.len();
                entries.bytes.extend_from_slice(&self.bytes[range]);
                entries.push(codec.ty, key, KeyKind::Delta, start);
            }
        }
        for key in self.changed.iter() {
            entries.value(codec, state, written, key)?;
        }
        self.clear();
        Ok(())
    }

    /// Removes all changes.
    fn clear(&mut self) {
        self.bytes.clear();
        self.deltas.clear();
        self.changed = KeySet::NONE;
    }
}

impl KeyEntries {
    /// Encodes all keys that have a value.
    pub(crate) fn save_all(
        &mut self,
        codec: AnyCodec,
        state: &dyn AnyState,
        written: KeySet,
    ) -> Result<(), ThreadError> {
        self.clear();
        for key in written.minus(codec.ty.untracked).iter() {
            self.value(codec, state, written, key)?;
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.keys.clear();
    }

    fn value(
        &mut self,
        codec: AnyCodec,
        state: &dyn AnyState,
        written: KeySet,
        key: usize,
    ) -> Result<(), ThreadError> {
        let (ty, start) = (codec.ty, self.bytes.len());
        let kind = if !written.contains(key) {
            KeyKind::Unset
        } else if ty.untracked.contains(key) {
            KeyKind::Lost
        } else {
            (codec.save)(state, key, &mut self.bytes).map_err(of_key(ty, key))?;
            KeyKind::Value
        };
        self.push(ty, key, kind, start);
        Ok(())
    }

    fn push(&mut self, ty: &StateType, key: usize, kind: KeyKind, start: usize) {
        self.keys
            .push((ty.keys[key].id, kind, start..self.bytes.len()));
    }

    /// The bytes of all entries.
    pub(crate) fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    pub(crate) fn get(&self) -> impl ExactSizeIterator<Item = KeyEntry<'_>> {
        self.keys.iter().map(|(id, kind, range)| KeyEntry {
            id,
            kind: *kind,
            bytes: &self.bytes[range.clone()],
        })
    }
}

/// The error of a key that cannot be encoded.
pub(crate) fn of_key(
    ty: &'static StateType,
    key: usize,
) -> impl FnOnce(petalflow_store::codec::CodecError) -> ThreadError {
    // The text is created only for an error.
    move |problem| {
        ThreadError::value(format!("key `{}` of `{}`", ty.keys[key].name, ty.name))(problem)
    }
}
