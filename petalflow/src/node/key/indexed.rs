//! An indexed key in the table of its state.

use super::Key;
use crate::state::{IndexedKey, State};

impl<S: State> IndexedKey<S> {
    /// The entry of the key `K`.
    pub const fn of<K: Key<State = S>>() -> Self {
        IndexedKey {
            index: K::INDEX,
            name: K::META.id,
            kind: K::ATTRIBUTE,
            attribute: |state| K::attribute(K::get(state)),
        }
    }
}
