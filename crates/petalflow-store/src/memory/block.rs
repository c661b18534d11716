//! Several checkpoints in one allocation.

use std::ops::Range;

use crate::StoredCheckpoint;

/// The size of a block in bytes, unless its only checkpoint is larger.
const BLOCK_SIZE: usize = 64 * 1024;

/// Several checkpoints, at least one, with their bytes in one buffer. One allocation for each checkpoint would cost more than
/// the copy.
pub(super) struct Block {
    /// In the order of their numbers.
    entries: Vec<Entry>,
    bytes: Vec<u8>,
}

/// A checkpoint. Its bytes begin where those of the one before it end.
struct Entry {
    seq: u64,
    base: u64,
    created_ms: u64,
    end: usize,
}

impl Block {
    pub(super) fn of(checkpoint: &StoredCheckpoint) -> Self {
        let mut block = Block {
            entries: Vec::new(),
            bytes: Vec::new(),
        };
        block.push(checkpoint);
        block
    }

    /// The next block. It gets the capacity of this one, so that it need not grow.
    pub(super) fn next(&self, checkpoint: &StoredCheckpoint) -> Self {
        let mut block = Block {
            entries: Vec::with_capacity(self.entries.len()),
            bytes: Vec::with_capacity(self.bytes.len().min(BLOCK_SIZE).max(checkpoint.bytes.len())),
        };
        block.push(checkpoint);
        block
    }

    pub(super) fn has_room(&self, checkpoint: &StoredCheckpoint) -> bool {
        self.bytes.len() + checkpoint.bytes.len() <= BLOCK_SIZE
    }

    pub(super) fn push(&mut self, checkpoint: &StoredCheckpoint) {
        self.bytes.extend_from_slice(&checkpoint.bytes);
        self.entries.push(Entry {
            seq: checkpoint.seq,
            base: checkpoint.base,
            created_ms: checkpoint.created_ms,
            end: self.bytes.len(),
        });
    }

    pub(super) fn oldest(&self) -> u64 {
        self.entries.first().map_or(u64::MAX, |oldest| oldest.seq)
    }

    pub(super) fn newest(&self) -> u64 {
        self.entries.last().map_or(0, |newest| newest.seq)
    }

    /// The indices of these numbers. Empty if `from` is greater than `to`.
    pub(super) fn range(&self, from: u64, to: u64) -> Range<usize> {
        let begin = self.entries.partition_point(|entry| entry.seq < from);
        let end = self.entries.partition_point(|entry| entry.seq <= to);
        begin..end.max(begin)
    }

    pub(super) fn checkpoint(&self, index: usize) -> StoredCheckpoint {
        let entry = &self.entries[index];
        StoredCheckpoint {
            seq: entry.seq,
            base: entry.base,
            created_ms: entry.created_ms,
            bytes: self.bytes[self.begin(index)..entry.end].to_vec(),
        }
    }

    /// The size in bytes of the checkpoints at these indices, and when the newest of them was created.
    pub(super) fn size(&self, range: Range<usize>) -> (u64, Option<u64>) {
        let bytes = self.begin(range.end) - self.begin(range.start);
        let newest = self.entries[range].last();
        (bytes as u64, newest.map(|entry| entry.created_ms))
    }

    /// Where the bytes of the checkpoint at this index begin, or would begin.
    fn begin(&self, index: usize) -> usize {
        let before = index.checked_sub(1);
        before.map_or(0, |before| self.entries[before].end)
    }
}
