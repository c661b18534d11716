//! The reducers that a key can name.

use std::fmt;

/// How writes to a key fold into its value: see `petalflow::state::reduce`.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::state::Reducer;
///
/// #[state]
/// struct Essay {
///     draft: String,
///     #[key(append)]
///     notes: Vec<String>,
/// }
///
/// let reducers: Vec<Reducer> = Essay::KEYS.iter().map(|key| key.reducer).collect();
/// assert_eq!(reducers, [Reducer::Replace, Reducer::Append]);
/// assert_eq!(Reducer::Append.to_string(), "append");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Reducer {
    /// The write becomes the value.
    Replace,
    /// The items of the write are added at the end.
    Append,
    /// The items of the write are added at the beginning.
    Prepend,
    /// The sum of the value and the write.
    Sum,
    /// The smaller one of the value and the write.
    Min,
    /// The larger one of the value and the write.
    Max,
    /// The entries of the write are added, and replace entries with the same keys.
    Merge,
    /// The first write stays.
    First,
    /// Messages are added, replaced or removed by their ids.
    Messages,
    /// A function of the user: `reduce = path`.
    Custom,
}

impl Reducer {
    const ALL: [Self; 10] = [
        Reducer::Replace,
        Reducer::Append,
        Reducer::Prepend,
        Reducer::Sum,
        Reducer::Min,
        Reducer::Max,
        Reducer::Merge,
        Reducer::First,
        Reducer::Messages,
        Reducer::Custom,
    ];

    /// The name of the reducer in `#[key(..)]`, in checkpoints and in `flow.lock`.
    pub const fn name(self) -> &'static str {
        match self {
            Reducer::Replace => "replace",
            Reducer::Append => "append",
            Reducer::Prepend => "prepend",
            Reducer::Sum => "sum",
            Reducer::Min => "min",
            Reducer::Max => "max",
            Reducer::Merge => "merge",
            Reducer::First => "first",
            Reducer::Messages => "messages",
            Reducer::Custom => "reduce",
        }
    }

    /// The reducer with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reducer| reducer.name() == name)
    }

    /// Whether checkpoints contain the writes to such a key instead of its value: the value grows, and a write is small.
    pub const fn stores_writes(self) -> bool {
        matches!(
            self,
            Reducer::Append | Reducer::Prepend | Reducer::Merge | Reducer::Messages
        )
    }
}

impl fmt::Display for Reducer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
