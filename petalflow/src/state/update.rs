//! All writes of one node.

use super::{KeySet, State};

/// The writes of one node to a state, with a field per key. Implemented by [`#[state]`](macro@crate::state).
///
/// Generated methods, named like the keys, return the [`Writes`](crate::state::Writes) to each.
///
/// ```
/// use petalflow::node::{Effects, Output};
/// use petalflow::prelude::*;
/// use petalflow::state::Update;
///
/// #[state]
/// struct Essay {
///     draft: String,
///     #[key(append)]
///     notes: Vec<String>,
/// }
///
/// let mut effects = Effects::<Essay>::default();
/// Overwrite(EssayNotes(vec!["fresh".into()])).apply(&mut effects).unwrap();
/// let update = &effects.update;
/// assert!(update.written().contains(1) && update.overwritten().contains(1));
/// assert!(update.draft().is_empty());
/// assert_eq!(update.notes().only().unwrap(), &["fresh"]);
/// ```
pub trait Update<S: State>: Default + Clone + Send + Sync + 'static {
    /// The keys that were written.
    fn written(&self) -> KeySet;

    /// The keys that were written with [`Overwrite`](crate::Overwrite).
    fn overwritten(&self) -> KeySet;

    /// Whether anything was written.
    fn written_any(&self) -> bool {
        !self.written().is_empty()
    }

    /// Clears all writes and keeps the allocated memory.
    fn clear(&mut self);
}

/// A write that its key rejects.
///
/// ```
/// use petalflow::node::{Effects, Output};
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Essay {
///     draft: String,
/// }
///
/// let mut effects = Effects::<Essay>::default();
/// EssayDraft("one".into()).apply(&mut effects).unwrap();
/// let error = EssayDraft("two".into()).apply(&mut effects).unwrap_err();
/// let error = error.downcast::<petalflow::state::WriteError>().unwrap();
/// assert_eq!(error.key, "draft");
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("key `{key}`: {problem}")]
#[non_exhaustive]
pub struct WriteError {
    /// The key.
    pub key: &'static str,
    /// The problem and its solution.
    pub problem: String,
}

crate::error::debug_is_message!(WriteError);

impl WriteError {
    /// A second write to a key that accepts one.
    pub(crate) fn second_write(key: &'static str) -> Self {
        WriteError {
            key,
            problem:
                "takes one write in a superstep; give it a reducer such as `append` to take several"
                    .into(),
        }
    }

    /// A second overwrite of a key.
    pub(crate) fn second_overwrite(key: &'static str) -> Self {
        WriteError {
            key,
            problem: "takes one `Overwrite` in a superstep".into(),
        }
    }
}
