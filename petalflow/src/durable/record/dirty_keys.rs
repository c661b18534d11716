//! The keys that have changed since the last checkpoint, and their encoded entries.

use std::ops::Range;

use crate::checkpoint::{KeyEntry, KeyKind};
use crate::outcome::ThreadError;
use crate::state::{KeyFlag, KeyMeta, KeySet, State, StateCodec, Update};

/// The keys that have changed since the last checkpoint. Writes to a key that grows are encoded at once. The value of any
/// other key is encoded with the checkpoint.
#[derive(Default)]
pub(crate) struct DirtyKeys {
    bytes: Vec<u8>,
    deltas: Vec<(usize, Range<usize>)>,
    changed: KeySet,
    /// The keys of [`noted`] that have a value, or that had one when the thread was loaded.
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
    pub(crate) fn record<'a, S: State>(
        &mut self,
        codec: &StateCodec<S>,
        updates: impl Iterator<Item = &'a Update<S>>,
        overwritten: KeySet,
    ) -> Result<(), ThreadError> {
        for update in updates {
            let new = update.written().intersection(noted::<S>());
            let new = new.minus(self.noted);
            self.noted = self.noted.union(new);
            self.changed = self.changed.union(new);
            for key in update.written().minus(untracked::<S>()).iter() {
                // One checkpoint may span several supersteps, and an ephemeral value lasts only one of them.
                let replaced = overwritten.contains(key)
                    || self.changed.contains(key)
                    || S::EPHEMERAL.contains(key);
                if replaced || !S::KEYS[key].is_delta() {
                    self.changed.insert(key);
                    continue;
                }
                let start = self.bytes.len();
                (codec.save_writes)(update, key, &mut self.bytes).map_err(of_key::<S>(key))?;
                self.deltas.push((key, start..self.bytes.len()));
            }
        }
        Ok(())
    }

    /// Marks keys whose values have changed in another way than by writes.
    pub(crate) fn mark<S: State>(&mut self, keys: KeySet) {
        let forgotten = keys.intersection(self.noted);
        self.noted = self.noted.minus(forgotten);
        let stored = keys.minus(untracked::<S>());
        self.changed = self.changed.union(stored).union(forgotten);
    }

    /// Sets the keys that had a value when the thread was loaded, which was not stored.
    pub(crate) fn set_lost(&mut self, lost: KeySet) {
        self.noted = lost;
    }

    /// Encodes all keys that have a value, and clears the changes.
    pub(crate) fn take_all<S: State>(
        &mut self,
        codec: &StateCodec<S>,
        state: &S,
        written: KeySet,
        entries: &mut KeyEntries,
    ) -> Result<(), ThreadError> {
        entries.save_all(codec, state, written)?;
        for key in self.noted.iter() {
            entries.push::<S>(key, KeyKind::Lost, entries.bytes.len());
        }
        self.clear();
        Ok(())
    }

    /// Encodes the changes as entries of a checkpoint, and clears them.
    pub(crate) fn take<S: State>(
        &mut self,
        codec: &StateCodec<S>,
        state: &S,
        written: KeySet,
        entries: &mut KeyEntries,
    ) -> Result<(), ThreadError> {
        entries.clear();
        for (key, range) in self.deltas.drain(..) {
            // A value that was replaced later contains these writes, or has discarded them.
            if !self.changed.contains(key) {
                let start = entries.bytes.len();
                entries.bytes.extend_from_slice(&self.bytes[range]);
                entries.push::<S>(key, KeyKind::Delta, start);
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
    pub(crate) fn save_all<S: State>(
        &mut self,
        codec: &StateCodec<S>,
        state: &S,
        written: KeySet,
    ) -> Result<(), ThreadError> {
        self.clear();
        for key in written.minus(untracked::<S>()).iter() {
            self.value(codec, state, written, key)?;
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.keys.clear();
    }

    fn value<S: State>(
        &mut self,
        codec: &StateCodec<S>,
        state: &S,
        written: KeySet,
        key: usize,
    ) -> Result<(), ThreadError> {
        let start = self.bytes.len();
        if untracked::<S>().contains(key) && written.contains(key) {
            self.push::<S>(key, KeyKind::Lost, start);
        } else if written.contains(key) {
            (codec.save)(state, key, &mut self.bytes).map_err(of_key::<S>(key))?;
            self.push::<S>(key, KeyKind::Value, start);
        } else {
            self.push::<S>(key, KeyKind::Unset, start);
        }
        Ok(())
    }

    fn push<S: State>(&mut self, key: usize, kind: KeyKind, start: usize) {
        self.keys
            .push((S::KEYS[key].id, kind, start..self.bytes.len()));
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

/// The keys that are never stored.
pub(crate) fn untracked<S: State>() -> KeySet {
    const { KeyMeta::set(S::KEYS, KeyFlag::Untracked) }
}

/// The keys that a node may read only after they were written, and that have no value when a thread is loaded.
pub(crate) fn lossy<S: State>() -> KeySet {
    const { KeyMeta::set(S::KEYS, KeyFlag::Untracked).minus(KeyMeta::set(S::KEYS, KeyFlag::Assigned)) }
}

/// Those of them whose loss is noted in checkpoints. Without the note, a value that was lost cannot be told from one that was
/// never written. Values that last one superstep are not noted, because nothing would remove the note.
pub(crate) fn noted<S: State>() -> KeySet {
    lossy::<S>().minus(S::EPHEMERAL)
}

pub(crate) fn of_key<S: State>(
    key: usize,
) -> impl FnOnce(petalflow_codec::CodecError) -> ThreadError {
    // The text is created only for an error.
    move |problem| {
        ThreadError::value(format!("key `{}` of `{}`", S::KEYS[key].name, S::NAME))(problem)
    }
}
