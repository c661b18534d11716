//! All that a memory store holds at one address.

use std::collections::{BTreeMap, VecDeque};
use std::ops::{Range, RangeInclusive};

use super::block::Block;
use crate::checkpoint::{Stored, StoredCheckpoint, StoredWrite};
use crate::ids::TaskId;

/// All that stands at one address.
#[derive(Default)]
pub(super) struct Line {
    /// None is empty.
    blocks: VecDeque<Block>,
    /// What is below this number was pruned, although its block is still there.
    oldest: u64,
    /// By number, task and name.
    writes: BTreeMap<(u64, TaskId, String), Vec<u8>>,
}

impl Line {
    /// Whether all that was here is forgotten.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.writes.is_empty()
    }

    #[inline]
    pub(super) fn newest(&self) -> Option<u64> {
        self.blocks.back().map(Block::newest)
    }

    #[inline]
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

    #[inline]
    pub(super) fn write(&mut self, seq: u64, writes: &[StoredWrite]) {
        self.writes.extend(writes.iter().map(|write| {
            let key = (seq, write.task, write.name.clone());
            (key, write.bytes.clone())
        }));
    }

    /// The checkpoint of this number, or the newest, with all that is needed to read it.
    #[inline]
    pub(super) fn read(&self, seq: Option<u64>) -> Option<Stored> {
        let seq = seq.or_else(|| self.newest())?;
        let base = self.checkpoints(seq..=seq).next()?.base;
        let writes = self.writes(seq..seq.saturating_add(1));
        Some(Stored {
            chain: self.checkpoints(base..=seq).collect(),
            writes: writes.map(|(_, write)| write).collect(),
        })
    }

    /// The checkpoints with these numbers, in their order.
    #[inline]
    pub(super) fn checkpoints(
        &self,
        seqs: RangeInclusive<u64>,
    ) -> impl DoubleEndedIterator<Item = StoredCheckpoint> + '_ {
        self.pieces(seqs)
            .flat_map(|(block, places)| places.map(|place| block.checkpoint(place)))
    }

    /// What tasks have left beside these numbers.
    #[inline]
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

    /// Forgets all below a number.
    #[inline]
    pub(super) fn prune(&mut self, seq: u64) {
        let gone = self.blocks.partition_point(|block| block.newest() < seq);
        self.blocks.drain(..gone);
        // Nothing of what is still to come is pruned.
        self.oldest = if self.blocks.is_empty() {
            0
        } else {
            self.oldest.max(seq)
        };
        self.writes = self.writes.split_off(&first(seq));
    }

    /// How many checkpoints there are, how many bytes they hold, and when the newest was made.
    #[inline]
    pub(super) fn sizes(&self) -> (u64, u64, Option<u64>) {
        let pieces = self.pieces(0..=u64::MAX);
        pieces.fold((0, 0, None), |(count, bytes, made), (block, places)| {
            let (more, latest) = block.size(places.clone());
            (count + places.len() as u64, bytes + more, made.max(latest))
        })
    }

    /// Where these numbers stand.
    #[inline]
    fn pieces(
        &self,
        seqs: RangeInclusive<u64>,
    ) -> impl DoubleEndedIterator<Item = (&Block, Range<usize>)> {
        let (from, to) = (self.oldest.max(*seqs.start()), *seqs.end());
        let begin = self.blocks.partition_point(|block| block.newest() < from);
        let end = self.blocks.partition_point(|block| block.oldest() <= to);
        let blocks = self.blocks.range(begin..end.max(begin));
        blocks.map(move |block| (block, block.places(from, to)))
    }
}

/// Where the writes beside a number begin.
#[inline]
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

    fn numbers(line: &Line) -> Vec<u64> {
        let checkpoints: Vec<_> = line.checkpoints(0..=u64::MAX).collect();
        for found in &checkpoints {
            assert_eq!(*found, checkpoint(found.seq));
        }
        checkpoints.iter().map(|found| found.seq).collect()
    }

    #[test]
    fn what_stays_is_whole_wherever_the_line_is_cut() {
        for cut in 0..=9 {
            let mut line = Line::default();
            for seq in 0..8 {
                line.append(&checkpoint(seq), &(0..0));
            }
            line.prune(cut);
            line.append(&checkpoint(8), &(0..0));
            let stays: Vec<u64> = (cut.min(8)..=8).collect();
            assert_eq!(numbers(&line), stays);
            let count = stays.len() as u64;
            assert_eq!(line.sizes(), (count, 10 * count, Some(8)));
        }
    }

    #[test]
    fn what_fills_many_blocks_is_found_in_all_of_them() {
        let large = |seq| StoredCheckpoint {
            bytes: vec![7; 30_000],
            ..checkpoint(seq)
        };
        let mut line = Line::default();
        for seq in 0..20 {
            line.append(&large(seq), &(0..0));
        }
        for (from, to) in [(0, 19), (1, 1), (3, 12), (5, 4), (19, u64::MAX), (30, 40)] {
            let found: Vec<u64> = line.checkpoints(from..=to).map(|found| found.seq).collect();
            let kept: Vec<u64> = (from..=to.min(19)).collect();
            assert_eq!(found, kept);
        }
        line.prune(11);
        assert_eq!(line.sizes(), (9, 270_000, Some(19)));
        assert!(line.blocks.len() <= 5, "pruned blocks are let go");
        assert_eq!(line.read(Some(10)), None);
        assert_eq!(
            line.read(Some(11)).map(|stored| stored.chain),
            Some(vec![large(11)])
        );
    }
}
