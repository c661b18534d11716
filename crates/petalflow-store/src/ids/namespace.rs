//! The location of a sub-flow within a run.

use std::fmt;
use std::sync::Arc;

/// The location of a sub-flow within a run: the names of the sub-flow nodes that lead to it, each with the index of its
/// item. Empty at the top.
///
/// ```
/// use petalflow::event::Namespace;
///
/// let namespace = Namespace::ROOT.child("review", None).child("dig", Some(3));
/// assert_eq!(namespace.to_string(), "review/dig[3]");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Namespace(Option<Arc<str>>);

impl Namespace {
    /// The namespace of the run itself.
    pub const ROOT: Self = Namespace(None);

    /// The namespace of a sub-flow in this one.
    #[must_use]
    pub fn child(&self, node: &str, index: Option<usize>) -> Self {
        use fmt::Write as _;
        let mut path = self.as_str().to_string();
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(node);
        if let Some(index) = index {
            let _ = write!(path, "[{index}]");
        }
        Namespace(Some(path.into()))
    }

    /// The names that lead to a node in it, without the indices of items: `review/dig/write`.
    #[doc(hidden)]
    #[must_use]
    pub fn plain_path(&self, node: &str) -> String {
        let names = self.as_str().split('/').filter(|name| !name.is_empty());
        let names = names.map(|name| name.split('[').next().unwrap_or(name));
        names.chain([node]).collect::<Vec<_>>().join("/")
    }

    /// The path, joined by `/`; empty at the top.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Namespace({:?})", self.as_str())
    }
}
