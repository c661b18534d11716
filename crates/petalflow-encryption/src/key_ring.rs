//! The keys of a protection: one that seals, and others that only open.

use std::fmt;

use petalflow::checkpoint::StoreError;

use crate::key::KeyUse;
use crate::{KeyError, SecretKey};

/// Keys by their ids, each with its cipher.
pub(super) struct KeyRing<C> {
    newest: RingKey<C>,
    /// All ids of the ring are different.
    older: Vec<RingKey<C>>,
}

/// A key in a ring.
pub(super) struct RingKey<C> {
    pub(super) id: String,
    pub(super) cipher: C,
    /// Differs between secrets, and does not reveal them.
    fingerprint: [u8; 32],
}

impl<C> RingKey<C> {
    fn new(key: &SecretKey, cipher: C) -> Self {
        RingKey {
            id: key.id().into(),
            cipher,
            fingerprint: *key.derive(KeyUse::Id),
        }
    }
}

impl<C> KeyRing<C> {
    pub(super) fn new(key: &SecretKey, cipher: C) -> Self {
        KeyRing {
            newest: RingKey::new(key, cipher),
            older: Vec::new(),
        }
    }

    /// Adds a key that only opens. Does nothing if the ring has the key already.
    pub(super) fn also_accept(&mut self, key: &SecretKey, cipher: C) -> Result<(), KeyError> {
        let entry = RingKey::new(key, cipher);
        match self.find(&entry.id) {
            None => self.older.push(entry),
            Some(same) if same.fingerprint == entry.fingerprint => {}
            Some(_) => return Err(KeyError::SameId { id: entry.id }),
        }
        Ok(())
    }

    /// The key that seals.
    pub(super) fn newest(&self) -> &RingKey<C> {
        &self.newest
    }

    /// The key that a payload names.
    pub(super) fn get(&self, id: &str) -> Result<&RingKey<C>, StoreError> {
        self.find(id).ok_or_else(|| {
            let known: Vec<String> = self.entries().map(|key| format!("`{}`", key.id)).collect();
            StoreError::Protection(format!(
                "it is sealed with the key `{id}`, and this program has only {}: add the key with `also_accept`",
                known.join(", ")
            ))
        })
    }

    fn find(&self, id: &str) -> Option<&RingKey<C>> {
        self.entries().find(|key| key.id == id)
    }

    fn entries(&self) -> impl Iterator<Item = &RingKey<C>> {
        std::iter::once(&self.newest).chain(&self.older)
    }
}

impl<C> fmt::Debug for KeyRing<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.entries().map(|key| &key.id))
            .finish()
    }
}
