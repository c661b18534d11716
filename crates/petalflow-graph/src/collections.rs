//! Ordered sets and maps as sorted vectors.
//!
//! The macros compile this package without optimization, once per program. Each type of a `BTreeMap` or `BTreeSet` is then 3,700
//! lines of code for LLVM, and two dozen of them were a quarter of the macros. A type of this module has a tenth of that code. Most
//! insertions are near the end of the vector, or the vector is short.

use crate::sorted::{contains, insert, search};

/// An ordered set.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SortedSet<T>(Vec<T>);

impl<T> Default for SortedSet<T> {
    fn default() -> Self {
        SortedSet(Vec::new())
    }
}

impl<T: Ord> SortedSet<T> {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the value. Returns whether the value is new.
    pub fn insert(&mut self, value: T) -> bool {
        insert(&mut self.0, value)
    }

    /// Whether the set contains the value.
    pub fn contains(&self, value: &T) -> bool {
        contains(&self.0, value)
    }
}

impl<T> std::ops::Deref for SortedSet<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Ord> FromIterator<T> for SortedSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut set = SortedSet::default();
        set.extend(values);
        set
    }
}

impl<T: Ord, const N: usize> From<[T; N]> for SortedSet<T> {
    fn from(values: [T; N]) -> Self {
        values.into_iter().collect()
    }
}

impl<T: Ord> Extend<T> for SortedSet<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        for value in values {
            self.insert(value);
        }
    }
}

impl<T> IntoIterator for SortedSet<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a SortedSet<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// A map that is ordered by its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedMap<K, V>(Vec<(K, V)>);

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        SortedMap(Vec::new())
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    fn position<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: std::borrow::Borrow<Q>,
    {
        search(self.0.len(), &|index| self.0[index].0.borrow().cmp(key))
    }

    /// The value of the key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: std::borrow::Borrow<Q>,
    {
        match self.position(key) {
            Ok(index) => Some(&self.0[index].1),
            Err(_) => None,
        }
    }

    /// The value of the key, to change it.
    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        match self.position(key) {
            Ok(index) => Some(&mut self.0[index].1),
            Err(_) => None,
        }
    }

    /// Whether the key has a value.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: std::borrow::Borrow<Q>,
    {
        self.position(key).is_ok()
    }

    /// Sets the value of the key. Returns the previous value.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.position(&key) {
            Ok(index) => Some(std::mem::replace(&mut self.0[index].1, value)),
            Err(index) => {
                self.0.insert(index, (key, value));
                None
            }
        }
    }

    /// The value of the key. If there is none, it is set to `value`.
    pub fn get_or_insert(&mut self, key: K, value: V) -> &mut V {
        let index = match self.position(&key) {
            Ok(index) => index,
            Err(index) => {
                self.0.insert(index, (key, value));
                index
            }
        };
        &mut self.0[index].1
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The keys and what they lead to.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// What the keys lead to.
    pub fn into_values(self) -> impl Iterator<Item = V> {
        self.0.into_iter().map(|(_, value)| value)
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = SortedMap::default();
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
    }
}

impl<K: Ord, V> std::ops::Index<&K> for SortedMap<K, V> {
    type Output = V;

    fn index(&self, key: &K) -> &V {
        self.get(key).expect("the key is in the map")
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_are_as_those_of_the_standard_library(entries: Vec<(u8, u16)>, asked: u8) {
            let keys = || entries.iter().map(|(key, _)| *key);
            let (set, tree): (SortedSet<u8>, BTreeSet<u8>) = (keys().collect(), keys().collect());
            prop_assert!(set.iter().eq(&tree));
            prop_assert_eq!(set.contains(&asked), tree.contains(&asked));
            let (mut again, mut set) = (tree.clone(), set);
            prop_assert_eq!(set.insert(asked), again.insert(asked));
            let mut map: SortedMap<u8, u16> = entries.iter().copied().collect();
            let mut tree: BTreeMap<u8, u16> = entries.iter().copied().collect();
            prop_assert!(map.iter().eq(&tree));
            prop_assert_eq!(map.get(&asked), tree.get(&asked));
            prop_assert_eq!(*map.get_or_insert(asked, 7), *tree.entry(asked).or_insert(7));
            prop_assert_eq!(map.insert(asked, 8), tree.insert(asked, 8));
            prop_assert!(map.into_values().eq(tree.into_values()));
        }
    }
}
