//! The numbers of checkpoints and frontiers, as types of their own.

/// The number of a checkpoint in the history of one flow on a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct CheckpointSeq(u64);

impl CheckpointSeq {
    /// The number in a store.
    pub(crate) const fn new(seq: u64) -> Self {
        CheckpointSeq(seq)
    }

    pub(crate) const fn get(self) -> u64 {
        self.0
    }

    /// The number after the newest checkpoint, or the first number.
    pub(crate) fn after(newest: Option<Self>) -> Self {
        newest.map_or(CheckpointSeq(0), Self::next)
    }

    pub(crate) fn next(self) -> Self {
        CheckpointSeq(self.0 + 1)
    }

    /// The origin of a frontier that is planned at this checkpoint.
    pub(crate) fn as_origin(self) -> Origin {
        Origin(self.0)
    }
}

/// The number of the barrier at which a frontier was planned. Later checkpoints of the same frontier, such as one with an
/// answer, have the same origin, so the ids of its tasks stay the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Origin(u64);

impl Origin {
    /// The origin that a checkpoint contains.
    pub(crate) const fn new(origin: u64) -> Self {
        Origin(origin)
    }

    pub(crate) const fn get(self) -> u64 {
        self.0
    }
}

/// A chain of checkpoints, from the one that builds on no other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChainSize {
    /// How many they are.
    pub(crate) checkpoints: u64,
    /// The bytes of all of them.
    pub(crate) bytes: u64,
    /// With this many bytes the chain may be worth a new base. Zero if that is not known.
    pub(crate) limit: u64,
}

/// The position of a checkpoint in the store.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    pub(crate) seq: CheckpointSeq,
    /// The oldest checkpoint that is needed to read this one.
    pub(crate) base: CheckpointSeq,
    pub(crate) size: ChainSize,
}
