//! Ordered sets and maps as sorted vectors.
//!
//! The macros compile this package without optimization, once per program. Each type of a `BTreeMap` or `BTreeSet` is then 3,700
//! lines of code for LLVM, and two dozen of them were a quarter of the macros. A type of this module has a tenth of that code. Most
//! insertions are near the end of the vector, or the vector is short.

use std::cmp::Ordering;

/// A slice, for functions that are compiled once for all types of elements.
trait Heap {
    fn is_less(&self, a: usize, b: usize) -> bool;
    fn swap(&mut self, a: usize, b: usize);
}

impl<T: Ord> Heap for &mut [T] {
    #[inline]
    fn is_less(&self, a: usize, b: usize) -> bool {
        self[a] < self[b]
    }

    #[inline]
    fn swap(&mut self, a: usize, b: usize) {
        <[T]>::swap(self, a, b);
    }
}

/// Sorts, without an order among equal values. It is a heap sort, because the sort of the standard library is 1,300 lines of code
/// for LLVM for each type.
#[inline]
pub(crate) fn sort<T: Ord>(mut values: &mut [T]) {
    let len = values.len();
    sort_heap(&mut values, len);
}

#[inline]
fn sort_heap(heap: &mut dyn Heap, len: usize) {
    for root in (0..len / 2).rev() {
        sink(heap, root, len);
    }
    for end in (1..len).rev() {
        heap.swap(0, end);
        sink(heap, 0, end);
    }
}

/// Moves a value of a heap of this length below the greater ones.
#[inline]
fn sink(heap: &mut dyn Heap, mut at: usize, len: usize) {
    loop {
        let mut greatest = at;
        for child in 2 * at + 1..len.min(2 * at + 3) {
            if heap.is_less(greatest, child) {
                greatest = child;
            }
        }
        if greatest == at {
            return;
        }
        heap.swap(at, greatest);
        at = greatest;
    }
}

/// The index of an element among sorted ones, or else the index at which it belongs. `order` compares the element at an index with
/// the wanted one. A parameter of the type `dyn Fn`, so that the function is compiled once.
#[inline]
pub(crate) fn search(len: usize, order: &dyn Fn(usize) -> Ordering) -> Result<usize, usize> {
    let (mut begin, mut end) = (0, len);
    while begin < end {
        let middle = usize::midpoint(begin, end);
        match order(middle) {
            Ordering::Less => begin = middle + 1,
            Ordering::Equal => return Ok(middle),
            Ordering::Greater => end = middle,
        }
    }
    Err(begin)
}

/// Adds an element to a sorted set. Returns whether it is new.
#[inline]
pub(crate) fn insert<T: Ord>(set: &mut Vec<T>, element: T) -> bool {
    match search(set.len(), &|index| set[index].cmp(&element)) {
        Ok(_) => false,
        Err(index) => {
            set.insert(index, element);
            true
        }
    }
}

/// Whether a sorted set contains the element.
#[inline]
pub(crate) fn contains<T: Ord>(set: &[T], element: &T) -> bool {
    search(set.len(), &|index| set[index].cmp(element)).is_ok()
}

/// An ordered set.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SortedSet<T>(Vec<T>);

impl<T> Default for SortedSet<T> {
    #[inline]
    fn default() -> Self {
        SortedSet(Vec::new())
    }
}

impl<T: Ord> SortedSet<T> {
    /// An empty set.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the value. Returns whether the value is new.
    #[inline]
    pub fn insert(&mut self, value: T) -> bool {
        insert(&mut self.0, value)
    }

    /// Whether the set contains the value.
    #[inline]
    pub fn contains(&self, value: &T) -> bool {
        contains(&self.0, value)
    }
}

impl<T> std::ops::Deref for SortedSet<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Ord> FromIterator<T> for SortedSet<T> {
    #[inline]
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut set = SortedSet::default();
        set.extend(values);
        set
    }
}

impl<T: Ord, const N: usize> From<[T; N]> for SortedSet<T> {
    #[inline]
    fn from(values: [T; N]) -> Self {
        values.into_iter().collect()
    }
}

impl<T: Ord> Extend<T> for SortedSet<T> {
    #[inline]
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        for value in values {
            self.insert(value);
        }
    }
}

impl<T> IntoIterator for SortedSet<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a SortedSet<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// A map that is ordered by its keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortedMap<K, V>(Vec<(K, V)>);

impl<K, V> Default for SortedMap<K, V> {
    #[inline]
    fn default() -> Self {
        SortedMap(Vec::new())
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    /// An empty map.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    #[inline]
    fn position<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: std::borrow::Borrow<Q>,
    {
        search(self.0.len(), &|index| self.0[index].0.borrow().cmp(key))
    }

    /// The value of the key.
    #[inline]
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
    #[inline]
    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        match self.position(key) {
            Ok(index) => Some(&mut self.0[index].1),
            Err(_) => None,
        }
    }

    /// Whether the key has a value.
    #[inline]
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: std::borrow::Borrow<Q>,
    {
        self.position(key).is_ok()
    }

    /// Sets the value of the key. Returns the previous value.
    #[inline]
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.position(&key) {
            Ok(index) => Some(std::mem::replace(&mut self.0[index].1, value)),
            Err(index) => {
                self.0.insert(index, (key, value));
                None
            }
        }
    }

    /// The value of the key. If there is none, `new` makes it.
    #[inline]
    pub fn get_or(&mut self, key: K, new: impl FnOnce() -> V) -> &mut V {
        let index = match self.position(&key) {
            Ok(index) => index,
            Err(index) => {
                self.0.insert(index, (key, new()));
                index
            }
        };
        &mut self.0[index].1
    }

    /// The value of the key. If there is none, it is set to `value`.
    #[inline]
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
    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The keys and what they lead to.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// What the keys lead to.
    #[inline]
    pub fn into_values(self) -> impl Iterator<Item = V> {
        self.0.into_iter().map(|(_, value)| value)
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    #[inline]
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

    #[inline]
    fn index(&self, key: &K) -> &V {
        self.get(key).expect("the key is in the map")
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// The union of two sorted sets.
#[inline]
pub(crate) fn union<T: Copy + Ord>(a: &[T], b: &[T]) -> Vec<T> {
    let mut all = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let order = a[i].cmp(&b[j]);
        all.push(a[i].min(b[j]));
        i += usize::from(order.is_le());
        j += usize::from(order.is_ge());
    }
    all.extend(&a[i..]);
    all.extend(&b[j..]);
    all
}

/// Whether every element of the sorted set `a` is in the sorted set `b`.
#[inline]
pub(crate) fn subset<T: Copy + Ord>(a: &[T], b: &[T]) -> bool {
    let mut from = 0;
    for element in a {
        while from < b.len() && b[from] != *element {
            from += 1;
        }
        if from == b.len() {
            return false;
        }
        from += 1;
    }
    true
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
            prop_assert_eq!(*map.get_or(asked, || 7), *tree.entry(asked).or_insert(7));
            prop_assert_eq!(map.insert(asked, 8), tree.insert(asked, 8));
            prop_assert!(map.into_values().eq(tree.into_values()));
        }
    }
}
