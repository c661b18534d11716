//! Sets of state keys, by declaration index.
#![allow(clippy::many_single_char_names, reason = "the words of two sets")]

/// How many keys a state may have.
pub const MAX_KEYS: usize = 256;

const WORDS: usize = MAX_KEYS / 64;

/// A set of the keys of one state, by the index of their declaration. All of it works in constant evaluation.
///
/// ```
/// use petalflow_graph::KeySet;
///
/// const WRITTEN: KeySet = KeySet::of(0).with(70);
/// const READ: KeySet = KeySet::of(70).with(71);
/// assert!(WRITTEN.contains(70) && !WRITTEN.contains(71));
/// assert_eq!(READ.minus(WRITTEN).iter().collect::<Vec<_>>(), [71]);
/// assert_eq!(WRITTEN.union(READ).first(), Some(0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeySet([u64; WORDS]);

impl KeySet {
    /// No key.
    pub const NONE: Self = KeySet([0; WORDS]);
    /// Every key a state could have.
    pub const ALL: Self = KeySet([u64::MAX; WORDS]);

    /// The set of one key.
    pub const fn of(key: usize) -> Self {
        Self::NONE.with(key)
    }

    /// The set whose words these are, 64 keys in each; later keys are not in it.
    pub const fn of_words<const W: usize>(words: &[u64; W]) -> Self {
        let mut set = Self::NONE;
        let mut word = 0;
        while word < W {
            set.0[word] = words[word];
            word += 1;
        }
        set
    }

    /// This set and one more key.
    #[must_use]
    pub const fn with(mut self, key: usize) -> Self {
        self.0[key / 64] |= 1 << (key % 64);
        self
    }

    /// Adds a key.
    pub const fn insert(&mut self, key: usize) {
        self.0[key / 64] |= 1 << (key % 64);
    }

    /// Whether the key is in the set.
    pub const fn contains(&self, key: usize) -> bool {
        self.0[key / 64] >> (key % 64) & 1 == 1
    }

    /// Whether any of the sixteen keys from `16 * block` on is in the set: lets a commit skip what was not written.
    pub const fn any_in_block(&self, block: usize) -> bool {
        self.0[block / 4] >> (block % 4 * 16) & 0xffff != 0
    }

    /// Whether there is no key in the set.
    pub const fn is_empty(&self) -> bool {
        let [a, b, c, d] = self.0;
        a | b | c | d == 0
    }

    /// The keys in either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        // Taken apart, here and below, because constant evaluation pays for each index.
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        KeySet([a | e, b | f, c | g, d | h])
    }

    /// The keys in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        KeySet([a & e, b & f, c & g, d & h])
    }

    /// The keys of this set that are not in the other.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        KeySet([a & !e, b & !f, c & !g, d & !h])
    }

    /// Whether both sets hold the same keys (`==` for constant evaluation).
    pub const fn equals(&self, other: &Self) -> bool {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        a == e && b == f && c == g && d == h
    }

    /// The lowest key in the set.
    pub const fn first(&self) -> Option<usize> {
        if self.is_empty() {
            return None;
        }
        let mut word = 0;
        while word < WORDS {
            if self.0[word] != 0 {
                return Some(word * 64 + self.0[word].trailing_zeros() as usize);
            }
            word += 1;
        }
        None
    }

    /// The keys in ascending order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let key = rest.first()?;
            rest.0[key / 64] &= rest.0[key / 64] - 1;
            Some(key)
        })
    }
}
