//! Sets of state keys, by declaration index.
#![allow(clippy::many_single_char_names, reason = "the words of two sets")]

/// The maximum number of keys of a state.
pub const MAX_KEYS: usize = 256;

const HALF: usize = MAX_KEYS / 2;

/// A set of keys of one state, by the index of their declaration. All methods but `iter` work in constant evaluation.
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
// The alignment of a pointer: with that of `u128`, every run in flight would have padding around its set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(Rust, packed(8))]
pub struct KeySet {
    // Two numbers rather than an array of `u64`, because constant evaluation takes time for each element and each index.
    low: u128,
    high: u128,
}

impl KeySet {
    /// How many keys [`any_in_block`](Self::any_in_block) tests together. The generated commit visits keys in such blocks.
    pub const BLOCK: usize = 16;
    /// No key.
    pub const NONE: Self = KeySet { low: 0, high: 0 };
    /// Every key that a state can have.
    pub const ALL: Self = KeySet {
        low: u128::MAX,
        high: u128::MAX,
    };

    /// The set of one key.
    pub const fn of(key: usize) -> Self {
        Self::NONE.with(key)
    }

    /// The set with these bits, 64 keys per element. Later keys are not in the set.
    pub const fn of_words<const W: usize>(words: &[u64; W]) -> Self {
        let mut set = Self::NONE;
        let mut word = 0;
        while word < W {
            let bits = (words[word] as u128) << (word % 2 * 64);
            if word < 2 {
                set.low |= bits;
            } else {
                set.high |= bits;
            }
            word += 1;
        }
        set
    }

    /// This set and one more key.
    #[must_use]
    pub const fn with(mut self, key: usize) -> Self {
        self.insert(key);
        self
    }

    /// Adds a key.
    pub const fn insert(&mut self, key: usize) {
        debug_assert!(key < MAX_KEYS, "a state has at most `MAX_KEYS` keys");
        if key < HALF {
            self.low |= 1 << key;
        } else {
            self.high |= 1 << (key - HALF);
        }
    }

    /// Whether the key is in the set.
    pub const fn contains(&self, key: usize) -> bool {
        debug_assert!(key < MAX_KEYS, "a state has at most `MAX_KEYS` keys");
        if key < HALF {
            self.low >> key & 1 == 1
        } else {
            self.high >> (key - HALF) & 1 == 1
        }
    }

    /// Whether any of the [`BLOCK`](Self::BLOCK) keys from `BLOCK * block` on is in the set. A commit skips blocks without
    /// writes.
    pub const fn any_in_block(&self, block: usize) -> bool {
        let half = if block < HALF / Self::BLOCK {
            self.low
        } else {
            self.high
        };
        half >> (block % (HALF / Self::BLOCK) * Self::BLOCK) & ((1 << Self::BLOCK) - 1) != 0
    }

    /// Whether there is no key in the set.
    pub const fn is_empty(&self) -> bool {
        self.low | self.high == 0
    }

    /// The keys in either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        KeySet {
            low: self.low | other.low,
            high: self.high | other.high,
        }
    }

    /// The keys in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        KeySet {
            low: self.low & other.low,
            high: self.high & other.high,
        }
    }

    /// The keys of this set that are not in the other.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        KeySet {
            low: self.low & !other.low,
            high: self.high & !other.high,
        }
    }

    /// Whether both sets have the same keys (`==` for constant evaluation).
    pub const fn equals(&self, other: &Self) -> bool {
        self.low == other.low && self.high == other.high
    }

    /// Whether all keys of this set are in the other.
    pub const fn is_within(&self, other: &Self) -> bool {
        self.low & !other.low | self.high & !other.high == 0
    }

    /// The lowest key in the set.
    pub const fn first(&self) -> Option<usize> {
        if self.low != 0 {
            Some(self.low.trailing_zeros() as usize)
        } else if self.high != 0 {
            Some(HALF + self.high.trailing_zeros() as usize)
        } else {
            None
        }
    }

    /// The keys in ascending order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let KeySet { mut low, mut high } = self;
        std::iter::from_fn(move || {
            // Each step removes the lowest bit.
            if low != 0 {
                let key = low.trailing_zeros() as usize;
                low &= low - 1;
                return Some(key);
            }
            let key = (high != 0).then(|| HALF + high.trailing_zeros() as usize)?;
            high &= high - 1;
            Some(key)
        })
    }
}
