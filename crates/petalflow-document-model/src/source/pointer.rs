//! JSON pointers.

use std::fmt::{self, Write as _};

use serde::Serialize;

/// A JSON pointer (RFC 6901): the names and indices that lead to a value of a document.
///
/// ```
/// use petalflow_document_model::source::Pointer;
///
/// let pointer = Pointer::root().name("a/b").item(2);
/// assert_eq!(pointer, "/a~1b/2");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Pointer(String);

impl Pointer {
    /// Returns the pointer to the whole document.
    pub fn root() -> Self {
        Pointer::default()
    }

    /// Returns the pointer to the value with this name in this object.
    #[must_use]
    pub fn name(&self, name: &str) -> Self {
        let mut text = String::with_capacity(self.0.len() + name.len() + 1);
        text.push_str(&self.0);
        text.push('/');
        if name.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
            text.push_str(&name.replace('~', "~0").replace('/', "~1"));
        } else {
            text.push_str(name);
        }
        Pointer(text)
    }

    /// Returns the pointer to the item of this list.
    #[must_use]
    pub fn item(&self, index: usize) -> Self {
        let mut text = String::with_capacity(self.0.len() + 6);
        text.push_str(&self.0);
        // Writing to a `String` cannot fail.
        let _ = write!(text, "/{index}");
        Pointer(text)
    }

    /// Returns the pointer as text; empty for the whole document.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Pointer> for String {
    fn from(pointer: Pointer) -> Self {
        pointer.0
    }
}

impl PartialEq<&str> for Pointer {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
