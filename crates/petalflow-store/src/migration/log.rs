//! The stored value and writes of one key.

use crate::codec::KeyOutline;

/// The stored value and writes of one key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The key in the program that wrote it. `None` if a migration has replaced the value.
    pub outline: Option<KeyOutline>,
    pub value: Option<Vec<u8>>,
    /// Writes that have not been folded into the value, by task.
    pub writes: Vec<Vec<u8>>,
    /// Whether the key had a value and has lost it.
    pub unset: bool,
    /// Whether the key has a value that is not stored.
    pub lost: bool,
}

impl Log {
    /// Whether it has anything that must not be lost. A value that is nil or empty can be lost: the key began with it.
    pub fn holds(&self) -> bool {
        // Nil, and the empty text, list and map.
        let empty = |value: &Vec<u8>| matches!(value[..], [0xc0 | 0xa0 | 0x90 | 0x80]);
        !self.writes.is_empty() || self.value.as_ref().is_some_and(|value| !empty(value))
    }

    pub(super) fn is_stored(&self) -> bool {
        self.value.is_some() || !self.writes.is_empty()
    }

    /// Removes the value and the writes.
    pub fn lose(&mut self) {
        self.value = None;
        self.writes.clear();
        self.unset = true;
    }
}
