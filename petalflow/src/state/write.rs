//! The writes that the barrier applies.

/// One write to a key.
///
/// ```
/// use petalflow::state::{Write, Writes, reduce};
///
/// let mut writes = Writes::default();
/// writes.push(Write::Fold(vec![1]));
/// writes.push(Write::Overwrite(vec![2]));
/// writes.push(Write::Fold(vec![3]));
/// let mut list = vec![0];
/// writes.fold_into(&mut list, false, reduce::append);
/// assert_eq!(list, [2, 3]);
/// ```
///
/// It has no other variants, so that programs match all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write<T> {
    /// Goes through the reducer of the key.
    Fold(T),
    /// Replaces the value, without the reducer ([`Overwrite`](crate::Overwrite)).
    Overwrite(T),
}

impl<T> Write<T> {
    /// The written value.
    pub fn value(&self) -> &T {
        match self {
            Write::Fold(value) | Write::Overwrite(value) => value,
        }
    }

    /// The written value, owned.
    pub(crate) fn into_value(self) -> T {
        match self {
            Write::Fold(value) | Write::Overwrite(value) => value,
        }
    }
}

/// The writes of one node to one key: usually none or one, rarely several.
///
/// ```
/// use petalflow::state::{Write, Writes};
///
/// let mut writes = Writes::default();
/// writes.push(Write::Fold(1));
/// writes.push(Write::Fold(2));
/// assert_eq!(writes.iter().map(Write::value).sum::<i32>(), 3);
/// ```
#[derive(Clone, Debug)]
pub struct Writes<T> {
    // The first write has its own field, so that a single write does not allocate.
    first: Option<Write<T>>,
    // A thin pointer: every running update has one per key.
    #[allow(clippy::box_collection)]
    rest: Option<Box<Vec<Write<T>>>>,
}

impl<T> Default for Writes<T> {
    fn default() -> Self {
        Writes {
            first: None,
            rest: None,
        }
    }
}

impl<T> Writes<T> {
    /// Adds a write.
    pub fn push(&mut self, write: Write<T>) {
        if self.first.is_none() {
            self.first = Some(write);
        } else {
            self.rest.get_or_insert_default().push(write);
        }
    }

    /// Adds the first write.
    pub(crate) fn push_first(&mut self, value: T) {
        debug_assert!(self.is_empty(), "a key without a mark has no writes");
        self.first = Some(Write::Fold(value));
    }

    /// Whether the first write is an overwrite.
    pub(crate) fn is_overwritten(&self) -> bool {
        matches!(self.first, Some(Write::Overwrite(_)))
    }

    /// Takes the first write.
    pub(crate) fn take_first(&mut self) -> Option<T> {
        self.first.take().map(Write::into_value)
    }

    /// The writes in the order in which the node made them.
    pub fn iter(&self) -> impl Iterator<Item = &Write<T>> {
        let rest = self.rest.as_deref().map_or(&[][..], Vec::as_slice);
        self.first.iter().chain(rest)
    }

    /// The value, if there is exactly one write.
    pub fn only(&self) -> Option<&T> {
        if self.rest.as_ref().is_none_or(|rest| rest.is_empty()) {
            self.first.as_ref().map(Write::value)
        } else {
            None
        }
    }

    /// Whether there are no writes.
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// Clears the writes.
    pub fn clear(&mut self) {
        self.first = None;
        if let Some(rest) = &mut self.rest {
            rest.clear();
        }
    }

    /// Takes the writes and folds them: `fold` for plain writes, assignment for an overwrite. With `overwritten`, plain
    /// writes are dropped. Returns whether the key got a value.
    #[inline]
    pub fn fold_into(
        &mut self,
        current: &mut T,
        overwritten: bool,
        mut fold: impl FnMut(&mut T, T),
    ) -> bool {
        let mut wrote = false;
        let mut apply = |write: Write<T>| match write {
            Write::Overwrite(value) => {
                *current = value;
                wrote = true;
            }
            Write::Fold(value) if !overwritten => {
                fold(current, value);
                wrote = true;
            }
            Write::Fold(_) => {}
        };
        if let Some(write) = self.first.take() {
            apply(write);
        }
        if let Some(rest) = &mut self.rest {
            rest.drain(..).for_each(apply);
        }
        wrote
    }
}
