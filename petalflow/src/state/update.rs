//! All writes of one node.

use std::fmt;

use super::{KeySet, State};

/// The writes of one node to a state.
///
/// ```
/// use petalflow::node::{Effects, Output};
/// use petalflow::prelude::*;
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
/// let update: &EssayUpdate = &effects.update;
/// assert!(update.written().contains(1) && update.overwritten().contains(1));
/// assert!(update.of::<EssayDraft>().is_empty());
/// assert_eq!(update.of::<EssayNotes>().only().unwrap(), &["fresh"]);
/// ```
pub struct Update<S: State> {
    pub(crate) slots: S::Slots,
    pub(crate) written: KeySet,
    pub(crate) overwritten: KeySet,
}

impl<S: State> Update<S> {
    /// The keys that were written.
    pub fn written(&self) -> KeySet {
        self.written
    }

    /// The keys that were written with [`Overwrite`](crate::Overwrite).
    pub fn overwritten(&self) -> KeySet {
        self.overwritten
    }

    /// Whether anything was written.
    pub fn written_any(&self) -> bool {
        !self.written.is_empty()
    }

    /// Clears all writes.
    pub fn clear(&mut self) {
        if self.written_any() {
            *self = Update::default();
        }
    }

    /// Takes the written keys; the caller takes the writes.
    #[inline]
    pub(crate) fn take_marks(&mut self) -> KeySet {
        self.overwritten = KeySet::NONE;
        std::mem::take(&mut self.written)
    }
}

impl<S: State> Default for Update<S> {
    fn default() -> Self {
        Update {
            slots: S::Slots::default(),
            written: KeySet::NONE,
            overwritten: KeySet::NONE,
        }
    }
}

impl<S: State> Clone for Update<S> {
    fn clone(&self) -> Self {
        let mut copy = Update {
            slots: S::Slots::default(),
            ..*self
        };
        for key in self.written.iter() {
            S::FUNCTIONS[key].copy_writes(self, &mut copy);
        }
        copy
    }
}

/// The names of the written keys.
impl<S: State> fmt::Debug for Update<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = self.written.iter().map(|key| S::KEYS[key].name);
        write!(f, "{}Update", S::NAME)?;
        f.debug_set().entries(keys).finish()
    }
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
