//! Reducers: functions that fold a write into a key's current value, in place.
//!
//! Each reducer is a trait for the types that it supports, and a function of the same name for your own code:
//!
//! ```
//! use petalflow::state::reduce;
//!
//! let mut notes = vec![1, 2];
//! reduce::append(&mut notes, vec![3, 4]);
//! assert_eq!(notes, [1, 2, 3, 4]);
//!
//! let mut rounds = 10;
//! reduce::sum(&mut rounds, 5);
//! assert_eq!(rounds, 15);
//! ```

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::ops::AddAssign;
use std::sync::Arc;

pub use super::messages::{Messages, messages};

macro_rules! reducer {
    ($(#[$doc:meta])* $trait:ident $method:ident: $message:literal, $label:literal, $note:literal $(, $more:item)?) => {
        $(#[$doc])*
        #[diagnostic::on_unimplemented(message = $message, label = $label, note = $note)]
        pub trait $trait: Sized {
            /// Folds a write into the current value.
            fn $method(&mut self, written: Self);

            $($more)?
        }

        $(#[$doc])*
        pub fn $method<T: $trait>(current: &mut T, written: T) {
            current.$method(written);
        }
    };
}

/// Replaces the current value.
///
/// ```
/// let mut draft = "first".to_string();
/// petalflow::state::reduce::replace(&mut draft, "second".into());
/// assert_eq!(draft, "second");
/// ```
pub fn replace<T>(current: &mut T, written: T) {
    *current = written;
}

reducer! {
    /// Appends the write to the current value: `[1, 2]` and `[3, 4]` make `[1, 2, 3, 4]`.
    ///
    /// ```
    /// let mut list = vec![1, 2];
    /// petalflow::state::reduce::append(&mut list, vec![3, 4]);
    /// assert_eq!(list, [1, 2, 3, 4]);
    /// ```
    Append append:
    "nothing can be appended to a `{Self}`",
    "not a list that `append` knows",
    "`append` fits `Vec`, `VecDeque`, `String` and the sets; for another type use `reduce = function`"
}

reducer! {
    /// Inserts the write before the current value: `[c, d]` and `[a, b]` make `[a, b, c, d]`.
    ///
    /// ```
    /// let mut list = vec!['c', 'd'];
    /// petalflow::state::reduce::prepend(&mut list, vec!['a', 'b']);
    /// assert_eq!(list, ['a', 'b', 'c', 'd']);
    /// ```
    Prepend prepend:
    "nothing can be prepended to a `{Self}`",
    "not a list that `prepend` knows",
    "`prepend` fits `Vec`, `VecDeque` and `String`; for another type use `reduce = function`"
}

reducer! {
    /// Adds the write to the current value with `+=`. A run first checks that the sum of an integer or a `Duration` fits in its
    /// type, and ends with an error if it does not; a float becomes infinite.
    ///
    /// ```
    /// let mut rounds = 10;
    /// petalflow::state::reduce::sum(&mut rounds, 5);
    /// assert_eq!(rounds, 15);
    /// ```
    Sum sum:
    "values of type `{Self}` cannot be summed",
    "needs `std::ops::AddAssign`",
    "`sum` fits numbers and other types with `+=`; to join text or lists use `append`, for another type `reduce = function`"
}

reducer! {
    /// Keeps the smaller value. Without a `default`, the first write is the value.
    ///
    /// ```
    /// let mut price = 3.5;
    /// petalflow::state::reduce::min(&mut price, 2.0);
    /// petalflow::state::reduce::min(&mut price, 9.0);
    /// assert_eq!(price, 2.0);
    /// ```
    Min min:
    "there is no smallest `{Self}`",
    "needs `PartialOrd`",
    "`min` fits types that can be compared; derive `PartialEq` and `PartialOrd`, or use `reduce = function`"
}

reducer! {
    /// Keeps the larger value. Without a `default`, the first write is the value.
    ///
    /// ```
    /// let mut score = 3;
    /// petalflow::state::reduce::max(&mut score, 9);
    /// petalflow::state::reduce::max(&mut score, 2);
    /// assert_eq!(score, 9);
    /// ```
    Max max:
    "there is no largest `{Self}`",
    "needs `PartialOrd`",
    "`max` fits types that can be compared; derive `PartialEq` and `PartialOrd`, or use `reduce = function`"
}

reducer! {
    /// Adds the entries of a map or a set. Later entries replace earlier ones: `{a: 1, b: 2}` and `{b: 3, c: 4}` make
    /// `{a: 1, b: 3, c: 4}`.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    ///
    /// let mut map = BTreeMap::from([("a", 1), ("b", 2)]);
    /// petalflow::state::reduce::merge(&mut map, BTreeMap::from([("b", 3), ("c", 4)]));
    /// assert_eq!(map, BTreeMap::from([("a", 1), ("b", 3), ("c", 4)]));
    /// ```
    Merge merge:
    "values of type `{Self}` cannot be merged",
    "not a map or a set that `merge` knows",
    "`merge` fits `HashMap`, `BTreeMap`, `HashSet`, `BTreeSet` and `serde_json::Map`; for another type use `reduce = function`"
}

reducer! {
    /// Keeps the first value that differs from the type's default: after `"first"`, later writes are ignored; `""` is
    /// ignored before it.
    ///
    /// ```
    /// let mut winner = String::new();
    /// petalflow::state::reduce::first(&mut winner, "first".into());
    /// petalflow::state::reduce::first(&mut winner, "second".into());
    /// assert_eq!(winner, "first");
    /// ```
    First first:
    "`first` cannot tell whether a `{Self}` has been set",
    "needs `Default` and `PartialEq`",
    "`first` keeps the first value that is not the type's default: derive `Default` and `PartialEq`, or use an `Option`",
    /// The value of the key until the first write.
    #[doc(hidden)]
    fn unset() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T> Append for Vec<T> {
    fn append(&mut self, mut written: Self) {
        // The common first write moves its memory into the state.
        if self.is_empty() && self.capacity() < written.len() {
            *self = written;
        } else {
            Vec::append(self, &mut written);
        }
    }
}

/// In place, unless the list is shared at this moment: then it is cloned.
#[diagnostic::do_not_recommend]
impl<T: Clone> Append for Arc<Vec<T>> {
    fn append(&mut self, written: Self) {
        if self.is_empty() {
            *self = written;
            return;
        }
        let list = Arc::make_mut(self);
        match Arc::try_unwrap(written) {
            Ok(mut written) => list.append(&mut written),
            Err(shared) => list.extend_from_slice(&shared),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T> Append for VecDeque<T> {
    fn append(&mut self, mut written: Self) {
        VecDeque::append(self, &mut written);
    }
}

#[diagnostic::do_not_recommend]
impl Append for String {
    fn append(&mut self, written: Self) {
        self.push_str(&written);
    }
}

macro_rules! extend {
    ($($trait:ident $method:ident for [$($generics:tt)*] $collection:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> $trait for $collection {
            fn $method(&mut self, written: Self) {
                self.extend(written);
            }
        }
    )*};
}

extend! {
    Append append for [T: Eq + Hash, H: BuildHasher] HashSet<T, H>;
    Append append for [T: Ord] BTreeSet<T>;
    Append append for [T: Ord] BinaryHeap<T>;
    Merge merge for [K: Eq + Hash, V, H: BuildHasher] HashMap<K, V, H>;
    Merge merge for [K: Ord, V] BTreeMap<K, V>;
    Merge merge for [T: Eq + Hash, H: BuildHasher] HashSet<T, H>;
    Merge merge for [T: Ord] BTreeSet<T>;
    Merge merge for [] serde_json::Map<String, serde_json::Value>;
}

#[diagnostic::do_not_recommend]
impl<T> Prepend for Vec<T> {
    fn prepend(&mut self, written: Self) {
        self.splice(..0, written);
    }
}

#[diagnostic::do_not_recommend]
impl<T> Prepend for VecDeque<T> {
    fn prepend(&mut self, written: Self) {
        for value in written.into_iter().rev() {
            self.push_front(value);
        }
    }
}

#[diagnostic::do_not_recommend]
impl Prepend for String {
    fn prepend(&mut self, written: Self) {
        self.insert_str(0, &written);
    }
}

#[diagnostic::do_not_recommend]
impl<T: AddAssign> Sum for T {
    fn sum(&mut self, written: Self) {
        *self += written;
    }
}

#[diagnostic::do_not_recommend]
impl<T: PartialOrd> Min for T {
    fn min(&mut self, written: Self) {
        if written < *self {
            *self = written;
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T: PartialOrd> Max for T {
    fn max(&mut self, written: Self) {
        if written > *self {
            *self = written;
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T: Default + PartialEq> First for T {
    fn first(&mut self, written: Self) {
        if *self == T::default() {
            *self = written;
        }
    }

    fn unset() -> Self {
        T::default()
    }
}
