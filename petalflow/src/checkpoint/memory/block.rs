//! Checkpoints that stand together.

use std::ops::Range;

use crate::checkpoint::StoredCheckpoint;

/// How many bytes a block holds, unless its only checkpoint is larger.
const ROOM: usize = 64 * 1024;

/// Checkpoints that stand together, what they hold in one piece: an allocation for each would cost more than the copy. There is
/// always one at least.
pub(super) struct Block {
    /// In the order of their numbers.
    kept: Vec<Kept>,
    bytes: Vec<u8>,
}

/// A checkpoint. Its bytes begin where those of the one before it end.
struct Kept {
    seq: u64,
    base: u64,
    created_ms: u64,
    end: usize,
}

impl Block {
    #[inline]
    pub(super) fn of(checkpoint: &StoredCheckpoint) -> Self {
        let mut block = Block {
            kept: Vec::new(),
            bytes: Vec::new(),
        };
        block.push(checkpoint);
        block
    }

    /// One that follows: made as large as this one has become, so that it need not grow.
    #[inline]
    pub(super) fn next(&self, checkpoint: &StoredCheckpoint) -> Self {
        let mut block = Block {
            kept: Vec::with_capacity(self.kept.len()),
            bytes: Vec::with_capacity(self.bytes.len().min(ROOM).max(checkpoint.bytes.len())),
        };
        block.push(checkpoint);
        block
    }

    #[inline]
    pub(super) fn has_room(&self, checkpoint: &StoredCheckpoint) -> bool {
        self.bytes.len() + checkpoint.bytes.len() <= ROOM
    }

    #[inline]
    pub(super) fn push(&mut self, checkpoint: &StoredCheckpoint) {
        self.bytes.extend_from_slice(&checkpoint.bytes);
        self.kept.push(Kept {
            seq: checkpoint.seq,
            base: checkpoint.base,
            created_ms: checkpoint.created_ms,
            end: self.bytes.len(),
        });
    }

    #[inline]
    pub(super) fn oldest(&self) -> u64 {
        self.kept.first().map_or(u64::MAX, |oldest| oldest.seq)
    }

    #[inline]
    pub(super) fn newest(&self) -> u64 {
        self.kept.last().map_or(0, |newest| newest.seq)
    }

    /// Where these numbers stand; nowhere if the first is behind the last.
    #[inline]
    pub(super) fn places(&self, from: u64, to: u64) -> Range<usize> {
        let begin = self.kept.partition_point(|kept| kept.seq < from);
        let end = self.kept.partition_point(|kept| kept.seq <= to);
        begin..end.max(begin)
    }

    #[inline]
    pub(super) fn checkpoint(&self, place: usize) -> StoredCheckpoint {
        let kept = &self.kept[place];
        StoredCheckpoint {
            seq: kept.seq,
            base: kept.base,
            created_ms: kept.created_ms,
            bytes: self.bytes[self.begin(place)..kept.end].to_vec(),
        }
    }

    /// How many bytes those at these places hold, and when the newest of them was made.
    #[inline]
    pub(super) fn size(&self, places: Range<usize>) -> (u64, Option<u64>) {
        let bytes = self.begin(places.end) - self.begin(places.start);
        let made = self.kept[places].iter().map(|kept| kept.created_ms);
        (bytes as u64, made.max())
    }

    /// Where the bytes of the checkpoint at a place begin, or would.
    #[inline]
    fn begin(&self, place: usize) -> usize {
        let before = place.checked_sub(1);
        before.map_or(0, |before| self.kept[before].end)
    }
}
