//! Namespaces: paths of names.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A namespace: a path of names, such as `users`, `ann`. A name is any text. The empty path contains all entries.
///
/// Paths are ordered name by name. Names are ordered by their bytes.
///
/// ```
/// use petalflow_memory::Namespace;
///
/// let ann = Namespace::from(["users", "ann"]);
/// assert!(ann.starts_with(&Namespace::from("users")));
/// assert_eq!(ann.child("notes").to_string(), "users/ann/notes");
/// assert!(!Namespace::from("users-old").starts_with(&Namespace::from("users")));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Namespace(Vec<String>);

impl Namespace {
    /// The empty path. It is a prefix of every path.
    ///
    /// ```
    /// use petalflow_memory::Namespace;
    ///
    /// assert!(Namespace::ROOT.names().is_empty());
    /// assert!(Namespace::from(["users", "ann"]).starts_with(&Namespace::ROOT));
    /// ```
    pub const ROOT: Namespace = Namespace(Vec::new());

    /// Returns the names, outermost first.
    ///
    /// ```
    /// use petalflow_memory::Namespace;
    ///
    /// assert_eq!(Namespace::from(["users", "ann"]).names(), ["users", "ann"]);
    /// ```
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// Whether this path equals `prefix` or is under it.
    pub fn starts_with(&self, prefix: &Namespace) -> bool {
        self.0.starts_with(&prefix.0)
    }

    /// Returns this path with one more name.
    #[must_use]
    pub fn child(&self, name: impl Into<String>) -> Self {
        self.join(&Namespace(vec![name.into()]))
    }

    /// Returns this path followed by another.
    ///
    /// ```
    /// use petalflow_memory::Namespace;
    ///
    /// let ann = Namespace::from("users").join(&Namespace::from("ann"));
    /// assert_eq!(ann, Namespace::from(["users", "ann"]));
    /// ```
    #[must_use]
    pub fn join(&self, rest: &Namespace) -> Self {
        Namespace([&self.0[..], &rest.0[..]].concat())
    }
}

/// For display only: a name may contain a slash.
impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("/"))
    }
}

impl From<&Namespace> for Namespace {
    fn from(path: &Namespace) -> Self {
        path.clone()
    }
}

/// A path of one name.
impl From<&str> for Namespace {
    fn from(name: &str) -> Self {
        Namespace(vec![name.into()])
    }
}

/// A path of one name.
impl From<String> for Namespace {
    fn from(name: String) -> Self {
        Namespace(vec![name])
    }
}

impl<S: Into<String>, const N: usize> From<[S; N]> for Namespace {
    fn from(names: [S; N]) -> Self {
        names.into_iter().collect()
    }
}

impl<S: Into<String>> From<Vec<S>> for Namespace {
    fn from(names: Vec<S>) -> Self {
        names.into_iter().collect()
    }
}

impl<S: Into<String>> FromIterator<S> for Namespace {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        Namespace(names.into_iter().map(Into::into).collect())
    }
}
