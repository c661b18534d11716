//! Sets of small numbers, one bit per number.

/// A set of numbers below a fixed length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BitSet(Vec<u64>);

impl BitSet {
    /// The empty set of numbers below `len`.
    pub(crate) fn none(len: usize) -> Self {
        BitSet(vec![0; len.div_ceil(64)])
    }

    pub(crate) fn contains(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 == 1
    }

    /// Adds a number. Returns whether it is new.
    pub(crate) fn insert(&mut self, number: usize) -> bool {
        let new = !self.contains(number);
        self.0[number / 64] |= 1 << (number % 64);
        new
    }

    /// Adds the numbers of another set of the same length, and appends those that are new to `new`.
    pub(crate) fn insert_all(&mut self, more: &Self, new: &mut Vec<usize>) {
        for (at, (word, more)) in self.0.iter_mut().zip(&more.0).enumerate() {
            new.extend(ones(at, more & !*word));
            *word |= more;
        }
    }

    /// The numbers in ascending order.
    #[cfg(feature = "analysis")]
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.0
            .iter()
            .enumerate()
            .flat_map(|(at, &word)| ones(at, word))
    }
}

#[cfg(feature = "analysis")]
impl BitSet {
    /// The set of all numbers below `len`, and possibly some above.
    pub(crate) fn all(len: usize) -> Self {
        BitSet(vec![u64::MAX; len.div_ceil(64)])
    }

    /// The set of these numbers below `len`.
    pub(crate) fn of(len: usize, numbers: impl IntoIterator<Item = usize>) -> Self {
        let mut set = BitSet::none(len);
        for number in numbers {
            set.insert(number);
        }
        set
    }

    pub(crate) fn remove(&mut self, number: usize) {
        self.0[number / 64] &= !(1 << (number % 64));
    }

    /// Adds the numbers of another set of the same length.
    pub(crate) fn union(&mut self, more: &Self) {
        for (word, more) in self.0.iter_mut().zip(&more.0) {
            *word |= more;
        }
    }

    /// Removes the numbers of another set of the same length.
    pub(crate) fn minus(&mut self, other: &Self) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= !other;
        }
    }

    /// Whether a number is in both sets.
    pub(crate) fn intersects(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// The number of words that an operation on the whole set reads.
    pub(crate) fn words(&self) -> usize {
        self.0.len()
    }
}

/// The numbers of the ones in the word at this index.
fn ones(at: usize, mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(64 * at + bit)
    })
}
