//! Names in messages.

use petalflow_source::names::suggestion;

pub(crate) use petalflow_source::names::shown;

/// How many hints a document gets: each compares a name with many others.
const MAX_HINTS: usize = 20;

/// Hints at names that are similar to a misspelt one.
#[derive(Debug, Default)]
pub(crate) struct Hints(usize);

impl Hints {
    /// `; did you mean ..?`, if one of the names is similar.
    pub(crate) fn similar<'n>(
        &mut self,
        name: &str,
        names: impl IntoIterator<Item = &'n String>,
    ) -> String {
        self.0 += 1;
        if self.0 > MAX_HINTS {
            return String::new();
        }
        suggestion(name, names.into_iter().map(String::as_str))
    }
}
