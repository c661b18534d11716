//! An indexed key in the table of its state.

use super::Key;
use crate::state::{Indexed, IndexedKey, State};

impl<S: State> IndexedKey<S> {
    /// The entry of the key `K`.
    pub const fn of<K: Key<State = S>>() -> Self
    where
        K::Value: Indexed,
    {
        IndexedKey {
            index: K::INDEX,
            name: K::META.id,
            kind: <K::Value as Indexed>::KIND,
            attribute: |state| K::get(state).attribute(),
        }
    }
}
