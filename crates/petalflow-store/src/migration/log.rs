//! The stored value and writes of one key.

use crate::codec::{KeyOutline, Reducer};

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
    /// Whether a migration has folded or converted the value, so that it does not depend on the old reducer.
    pub converted: bool,
}

impl Log {
    /// Whether it has anything that must not be lost. A value that is nil or empty can be lost: the key began with it.
    pub fn holds(&self) -> bool {
        // Nil, and the empty text, list and map.
        let empty = |value: &Vec<u8>| matches!(value[..], [0xc0 | 0xa0 | 0x90 | 0x80]);
        !self.writes.is_empty() || self.value.as_ref().is_some_and(|value| !empty(value))
    }

    /// Whether its contents depend on the reducer that folded them.
    pub fn depends_on_reducer(&self) -> bool {
        let reducer = self.outline.as_ref().map(|key| key.reducer);
        // A sum begins with it.
        let zero = |value: &Vec<u8>| match value[..] {
            [0x00] => true,
            [0xca | 0xcb, ref float @ ..] => float.iter().all(|byte| *byte == 0),
            _ => false,
        };
        let is_new = reducer == Some(Reducer::Sum) && self.value.as_ref().is_some_and(zero);
        self.holds() && !self.converted && !is_new
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
