//! Messages about names that are used twice.

use crate::text::Text;

/// PF003, for the option `name` of `#[node]`: `renamed` and `other` are the names in the flow.
pub const fn named_alike(name: &str, renamed: &str, other: &str) -> Text {
    Text::new("nodes ")
        .name(renamed)
        .push(" and ")
        .name(other)
        .push(" would both be called ")
        .name(name)
        .push(" in the graph; give one of them another name: `node other = ")
        .push(renamed)
        .push(";`, or another `name` in `#[node]`")
}

/// PF023.
pub const fn tool_twice(name: &str) -> Text {
    Text::new("two tools are called ")
        .name(name)
        .push(", so a model could not distinguish them; rename one of them")
}
