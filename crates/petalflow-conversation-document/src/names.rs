//! Names that are similar to a misspelt one.

use petalflow_source::names::suggestion;

/// `; did you mean ..?`, if one of the names is similar.
pub(crate) fn similar<'n>(name: &str, names: impl IntoIterator<Item = &'n String>) -> String {
    suggestion(name, names.into_iter().map(String::as_str))
}
