//! The keys of a protection: one that seals, and others that still open.

use std::fmt;

use super::key::Use;
use super::{KeyError, SecretKey};
use crate::checkpoint::StoreError;

/// Keys by their id, each ready for use as a `C`.
pub(super) struct Ring<C> {
    newest: Entry<C>,
    /// No two ids of the ring are the same.
    older: Vec<Entry<C>>,
}

/// A key in a ring.
pub(super) struct Entry<C> {
    pub(super) id: String,
    pub(super) cipher: C,
    /// Tells two secrets apart without being one.
    fingerprint: [u8; 32],
}

impl<C> Entry<C> {
    fn new(key: &SecretKey, cipher: C) -> Self {
        Entry {
            id: key.id().into(),
            cipher,
            fingerprint: *key.derive(Use::Id),
        }
    }
}

impl<C> Ring<C> {
    pub(super) fn new(key: &SecretKey, cipher: C) -> Self {
        Ring {
            newest: Entry::new(key, cipher),
            older: Vec::new(),
        }
    }

    /// Adds a key that opens and does not seal. One that is there already is not added again.
    pub(super) fn also_accept(&mut self, key: &SecretKey, cipher: C) -> Result<(), KeyError> {
        let entry = Entry::new(key, cipher);
        match self.find(&entry.id) {
            None => self.older.push(entry),
            Some(same) if same.fingerprint == entry.fingerprint => {}
            Some(_) => return Err(KeyError::SameId { id: entry.id }),
        }
        Ok(())
    }

    /// The key that seals.
    pub(super) fn newest(&self) -> &Entry<C> {
        &self.newest
    }

    /// The key that a payload names.
    pub(super) fn get(&self, id: &str) -> Result<&Entry<C>, StoreError> {
        self.find(id).ok_or_else(|| {
            let known: Vec<String> = self.entries().map(|key| format!("`{}`", key.id)).collect();
            StoreError::Protection(format!(
                "it is sealed with the key `{id}`, and this program has only {}: add the key with `also_accept`",
                known.join(", ")
            ))
        })
    }

    fn find(&self, id: &str) -> Option<&Entry<C>> {
        self.entries().find(|key| key.id == id)
    }

    fn entries(&self) -> impl Iterator<Item = &Entry<C>> {
        std::iter::once(&self.newest).chain(&self.older)
    }
}

impl<C> fmt::Debug for Ring<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.entries().map(|key| &key.id))
            .finish()
    }
}
