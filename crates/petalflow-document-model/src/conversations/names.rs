//! Names in messages.

use crate::source::names::suggestion;

pub(crate) use crate::source::names::shown;

/// How many hints a document gets: each compares a name with many others.
const MAX_HINTS: usize = 20;

/// How many unknown names a document may have that are compared with the known ones.
pub(crate) const MAX_COMPARED: u32 = 2_000;

/// Hints at names that are similar to a misspelt one.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    given: usize,
    compared: u32,
}

impl Hints {
    /// `; did you mean ..?`, if one of the names is similar.
    pub(crate) fn similar<'n>(
        &mut self,
        name: &str,
        names: impl IntoIterator<Item = &'n String>,
    ) -> String {
        self.given += 1;
        if self.given > MAX_HINTS {
            return String::new();
        }
        suggestion(name, names.into_iter().map(String::as_str))
    }

    /// Whether another unknown name may be compared with the known ones.
    pub(crate) fn may_compare(&mut self) -> bool {
        self.compared += 1;
        self.compared <= MAX_COMPARED
    }
}
