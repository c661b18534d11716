//! Sets of small numbers, one bit per number.

/// A set of numbers. It has the words between its least and its greatest number, so that a set of few neighbours takes no more
/// room and time in a large graph than in a small one.
#[derive(Clone, Debug, Default)]
pub(crate) struct BitSet {
    /// The index of the first word that the set has.
    first: usize,
    words: Vec<u64>,
}

impl BitSet {
    pub(crate) fn contains(&self, number: usize) -> bool {
        self.word(number / 64) >> (number % 64) & 1 == 1
    }

    /// Adds a number. Returns whether it is new.
    pub(crate) fn insert(&mut self, number: usize) -> bool {
        let new = !self.contains(number);
        if new {
            let at = number / 64;
            self.reserve(at, at + 1);
            self.words[at - self.first] |= 1 << (number % 64);
        }
        new
    }

    /// Adds the numbers of another set, and appends those that are new to `new`.
    pub(crate) fn insert_all(&mut self, more: &Self, new: &mut Vec<usize>) {
        for (at, more) in more.numbered() {
            new.extend(ones(at, more & !self.word(at)));
        }
        self.union(more);
    }

    /// Adds the numbers of another set.
    pub(crate) fn union(&mut self, more: &Self) {
        if more.words.is_empty() {
            return;
        }
        self.reserve(more.first, more.first + more.words.len());
        let words = &mut self.words[more.first - self.first..];
        for (word, more) in words.iter_mut().zip(&more.words) {
            *word |= more;
        }
    }

    /// The word at this index, which is zero outside of those that the set has.
    fn word(&self, at: usize) -> u64 {
        let word = at.checked_sub(self.first).and_then(|at| self.words.get(at));
        word.copied().unwrap_or_default()
    }

    /// The words that the set has, with their indices.
    fn numbered(&self) -> impl Iterator<Item = (usize, u64)> {
        (self.first..).zip(self.words.iter().copied())
    }

    /// Makes room for the words from one index up to another.
    fn reserve(&mut self, first: usize, end: usize) {
        if self.words.is_empty() {
            self.first = first;
        }
        if let Some(before @ 1..) = self.first.checked_sub(first) {
            self.words.splice(..0, std::iter::repeat_n(0, before));
            self.first = first;
        }
        let len = self.words.len().max(end - self.first);
        self.words.resize(len, 0);
    }
}

#[cfg(feature = "analysis")]
impl BitSet {
    /// The set of all numbers below `len`, and possibly some above.
    pub(crate) fn all(len: usize) -> Self {
        BitSet {
            first: 0,
            words: vec![u64::MAX; len.div_ceil(64)],
        }
    }

    /// The set of these numbers.
    pub(crate) fn of(numbers: impl IntoIterator<Item = usize>) -> Self {
        let mut set = BitSet::default();
        for number in numbers {
            set.insert(number);
        }
        set
    }

    /// The numbers in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.numbered().flat_map(|(at, word)| ones(at, word))
    }

    /// The numbers as ranges from a first to a last one, ascending. The time is that of the words, not of the numbers.
    pub(crate) fn ranges(&self) -> Vec<(usize, usize)> {
        let mut ranges: Vec<(usize, usize)> = Vec::new();
        for (at, mut word) in self.numbered() {
            let mut bit = 0;
            while word != 0 {
                bit += word.trailing_zeros();
                word >>= word.trailing_zeros();
                let ones = word.trailing_ones();
                word = word.checked_shr(ones).unwrap_or_default();
                let (first, last) = (64 * at + bit as usize, 64 * at + (bit + ones) as usize - 1);
                bit += ones;
                match ranges.last_mut() {
                    Some((_, before)) if *before + 1 == first => *before = last,
                    _ => ranges.push((first, last)),
                }
            }
        }
        ranges
    }

    pub(crate) fn remove(&mut self, number: usize) {
        if self.contains(number) {
            self.words[number / 64 - self.first] &= !(1 << (number % 64));
        }
    }

    /// Removes the numbers of another set.
    pub(crate) fn minus(&mut self, other: &Self) {
        for (at, word) in (self.first..).zip(&mut self.words) {
            *word &= !other.word(at);
        }
    }

    /// Whether a number is in both sets.
    pub(crate) fn intersects(&self, other: &Self) -> bool {
        self.numbered().any(|(at, word)| word & other.word(at) != 0)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The number of words that an operation on the whole set reads.
    pub(crate) fn words(&self) -> usize {
        self.words.len()
    }
}

/// By the numbers: a set can have more words than it needs.
#[cfg(feature = "analysis")]
impl PartialEq for BitSet {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

#[cfg(feature = "analysis")]
impl Eq for BitSet {}

/// The numbers of the ones in the word at this index.
fn ones(at: usize, mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(64 * at + bit)
    })
}

#[cfg(all(test, feature = "analysis"))]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::BitSet;

    proptest! {
        #[test]
        fn f45_a_set_of_bits_is_a_set(
            a in prop::collection::btree_set(0..400_usize, 0..40),
            b in prop::collection::btree_set(0..400_usize, 0..40),
            descending: bool,
        ) {
            let of = |numbers: &BTreeSet<usize>| {
                if descending {
                    BitSet::of(numbers.iter().rev().copied())
                } else {
                    BitSet::of(numbers.iter().copied())
                }
            };
            let list = |set: &BitSet| set.iter().collect::<BTreeSet<_>>();
            let (first, second) = (of(&a), of(&b));
            prop_assert_eq!(list(&first), a.clone());
            prop_assert_eq!(first.is_empty(), a.is_empty());
            prop_assert!((0..500).all(|number| first.contains(number) == a.contains(&number)));
            prop_assert_eq!(first.intersects(&second), !a.is_disjoint(&b));
            let (mut all, mut new) = (first.clone(), Vec::new());
            all.insert_all(&second, &mut new);
            prop_assert_eq!(list(&all), a.union(&b).copied().collect::<BTreeSet<_>>());
            prop_assert_eq!(new, b.difference(&a).copied().collect::<Vec<_>>());
            let mut less = all.clone();
            less.minus(&second);
            prop_assert_eq!(list(&less), a.difference(&b).copied().collect::<BTreeSet<_>>());
            prop_assert_eq!(less == first, a.is_disjoint(&b));
            let ranges: Vec<usize> = all.ranges().iter().flat_map(|&(first, last)| first..=last).collect();
            prop_assert_eq!(ranges, all.iter().collect::<Vec<_>>());
            prop_assert!(all.ranges().windows(2).all(|pair| pair[0].1 + 1 < pair[1].0));
            for &number in &a {
                all.remove(number);
            }
            prop_assert_eq!(list(&all), b.difference(&a).copied().collect::<BTreeSet<_>>());
        }
    }

    #[test]
    fn f45_whole_words_are_one_range() {
        assert_eq!(BitSet::all(200).ranges(), [(0, 255)]);
        assert_eq!(
            BitSet::of([63, 64, 66, 127, 128]).ranges(),
            [(63, 64), (66, 66), (127, 128)]
        );
    }
}
