//! The checkpoints and writes at one address of an in-memory store.

use std::collections::{BTreeMap, VecDeque};
use std::ops::{Range, RangeInclusive};

use super::block::Block;
use crate::ids::TaskId;
use crate::{Stored, StoredCheckpoint, StoredWrite};

/// The checkpoints and writes at one address.
#[derive(Default)]
pub(super) struct AddressHistory {
    /// No block is empty.
    blocks: VecDeque<Block>,
    /// Checkpoints below this number were pruned, although their block is still there.
    oldest: u64,
    /// By number, task and name.
    writes: BTreeMap<(u64, TaskId, String), Vec<u8>>,
}

impl AddressHistory {
    /// Whether nothing is stored here.
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.writes.is_empty()
    }

    pub(super) fn newest(&self) -> Option<u64> {
        self.blocks.back().map(Block::newest)
    }

    pub(super) fn has_checkpoints(&self) -> bool {
        !self.blocks.is_empty()
    }

    pub(super) fn append(&mut self, checkpoint: &StoredCheckpoint, settled: &Range<u64>) {
        match self.blocks.back_mut() {
            Some(block) if block.has_room(checkpoint) => block.push(checkpoint),
            Some(block) => {
                let next = block.next(checkpoint);
                self.blocks.push_back(next);
            }
            None => self.blocks.push_back(Block::of(checkpoint)),
        }
        if !self.writes.is_empty() {
            self.writes.retain(|(seq, ..), _| !settled.contains(seq));
        }
    }

    pub(super) fn write(&mut self, seq: u64, writes: &[StoredWrite]) {
        self.writes.extend(writes.iter().map(|write| {
            let key = (seq, write.task, write.name.clone());
            (key, write.bytes.clone())
        }));
    }

    /// The checkpoint with this number, or the newest, with everything that is needed to read it.
    pub(super) fn read(&self, seq: Option<u64>) -> Option<Stored> {
        let seq = seq.or_else(|| self.newest())?;
        let base = self.checkpoints(seq..=seq).next()?.base;
        let writes = self.writes(seq..seq.saturating_add(1));
        Some(Stored {
            chain: self.checkpoints(base..=seq).collect(),
            writes: writes.map(|(_, write)| write).collect(),
        })
    }

    /// The checkpoints with these numbers, in the order of the numbers.
    pub(super) fn checkpoints(
        &self,
        seqs: RangeInclusive<u64>,
    ) -> impl DoubleEndedIterator<Item = StoredCheckpoint> + '_ {
        self.pieces(seqs)
            .flat_map(|(block, range)| range.map(|index| block.checkpoint(index)))
    }

    /// The writes beside these numbers.
    pub(super) fn writes(&self, seqs: Range<u64>) -> impl Iterator<Item = (u64, StoredWrite)> {
        let seqs = (seqs.start < seqs.end).then(|| first(seqs.start)..first(seqs.end));
        let writes = seqs.into_iter().flat_map(|seqs| self.writes.range(seqs));
        writes.map(|((seq, task, name), bytes)| {
            let write = StoredWrite {
                task: *task,
                name: name.clone(),
                bytes: bytes.clone(),
            };
            (*seq, write)
        })
    }

    /// Removes the checkpoints below a number, and the writes beside numbers below another.
    pub(super) fn prune(&mut self, seq: u64, writes: u64) {
        let pruned = self.blocks.partition_point(|block| block.newest() < seq);
        self.blocks.drain(..pruned);
        // Later checkpoints are not pruned.
        self.oldest = if self.blocks.is_empty() {
            0
        } else {
            self.oldest.max(seq)
        };
        self.writes = self.writes.split_off(&first(writes));
    }

    /// How many checkpoints there are, their size in bytes, and when the newest was created.
    pub(super) fn sizes(&self) -> (u64, u64, Option<u64>) {
        let pieces = self.pieces(0..=u64::MAX);
        pieces.fold((0, 0, None), |(count, bytes, created), (block, range)| {
            let (more, latest) = block.size(range.clone());
            (count + range.len() as u64, bytes + more, latest.or(created))
        })
    }

    /// The blocks that have checkpoints with these numbers, and the index ranges in them.
    fn pieces(
        &self,
        seqs: RangeInclusive<u64>,
    ) -> impl DoubleEndedIterator<Item = (&Block, Range<usize>)> {
        let (from, to) = (self.oldest.max(*seqs.start()), *seqs.end());
        let begin = self.blocks.partition_point(|block| block.newest() < from);
        let end = self.blocks.partition_point(|block| block.oldest() <= to);
        let blocks = self.blocks.range(begin..end.max(begin));
        blocks.map(move |block| (block, block.range(from, to)))
    }
}

/// The smallest key of a write beside a number.
fn first(seq: u64) -> (u64, TaskId, String) {
    (seq, TaskId::from_bytes([0; 16]), String::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint(seq: u64) -> StoredCheckpoint {
        StoredCheckpoint {
            seq,
            base: seq,
            created_ms: seq,
            bytes: vec![seq.to_le_bytes()[0]; 10],
        }
    }

    fn numbers(history: &AddressHistory) -> Vec<u64> {
        let checkpoints: Vec<_> = history.checkpoints(0..=u64::MAX).collect();
        for found in &checkpoints {
            assert_eq!(*found, checkpoint(found.seq));
        }
        checkpoints.iter().map(|found| found.seq).collect()
    }

    #[test]
    fn pruning_at_any_number_retains_the_rest() {
        for cut in 0..=9 {
            let mut history = AddressHistory::default();
            for seq in 0..8 {
                history.append(&checkpoint(seq), &(0..0));
            }
            history.prune(cut, cut);
            history.append(&checkpoint(8), &(0..0));
            let retained: Vec<u64> = (cut.min(8)..=8).collect();
            assert_eq!(numbers(&history), retained);
            let count = retained.len() as u64;
            assert_eq!(history.sizes(), (count, 10 * count, Some(8)));
        }
    }

    #[test]
    fn checkpoints_of_many_blocks_are_found() {
        let large = |seq| StoredCheckpoint {
            bytes: vec![7; 30_000],
            ..checkpoint(seq)
        };
        let mut history = AddressHistory::default();
        for seq in 0..20 {
            history.append(&large(seq), &(0..0));
        }
        for (from, to) in [(0, 19), (1, 1), (3, 12), (5, 4), (19, u64::MAX), (30, 40)] {
            let found: Vec<u64> = history
                .checkpoints(from..=to)
                .map(|found| found.seq)
                .collect();
            let expected: Vec<u64> = (from..=to.min(19)).collect();
            assert_eq!(found, expected);
        }
        history.prune(11, 11);
        assert_eq!(history.sizes(), (9, 270_000, Some(19)));
        assert!(history.blocks.len() <= 5, "pruned blocks are removed");
        assert_eq!(history.read(Some(10)), None);
        assert_eq!(
            history.read(Some(11)).map(|stored| stored.chain),
            Some(vec![large(11)])
        );
    }
}
