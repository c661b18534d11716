//! What is stored of one key.

use crate::checkpoint::KeyOutline;

/// What is stored of one key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Log {
    /// The key in the program that wrote it. `None` if a migration has replaced the value.
    pub(crate) outline: Option<KeyOutline>,
    pub(crate) value: Option<Vec<u8>>,
    /// Writes that have yet to fold into the value, by task.
    pub(crate) writes: Vec<Vec<u8>>,
    /// The key had a value and has lost it.
    pub(crate) unset: bool,
}

impl Log {
    /// Whether anything of it must not be lost. A value that is nothing, or empty, may be: it is what the key began with.
    #[inline]
    pub(crate) fn holds(&self) -> bool {
        // Nil, and the empty text, list and map.
        let empty = |value: &Vec<u8>| matches!(value[..], [0xc0 | 0xa0 | 0x90 | 0x80]);
        !self.writes.is_empty() || self.value.as_ref().is_some_and(|value| !empty(value))
    }

    #[inline]
    pub(super) fn is_stored(&self) -> bool {
        self.value.is_some() || !self.writes.is_empty()
    }

    /// The key has a value no more.
    #[inline]
    pub(crate) fn lose(&mut self) {
        self.value = None;
        self.writes.clear();
        self.unset = true;
    }
}
