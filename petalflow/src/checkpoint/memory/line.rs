//! All that a memory store holds at one address.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::TaskId;
use crate::checkpoint::{Stored, StoredCheckpoint, StoredWrite};

/// All that stands at one address.
#[derive(Default)]
pub(super) struct Line {
    /// In the order of their numbers: nearly all that is asked for is at the end.
    checkpoints: Vec<Kept>,
    /// What the checkpoints hold, one behind the other: an allocation for each would cost more than the copy.
    bytes: Vec<u8>,
    /// How many of the bytes, at the front, belong to checkpoints that were pruned.
    pruned: usize,
    /// By number, task and name.
    writes: BTreeMap<(u64, TaskId, String), Vec<u8>>,
}

/// A checkpoint. Its bytes begin where those of the one before it end.
struct Kept {
    seq: u64,
    base: u64,
    created_ms: u64,
    end: usize,
}

impl Line {
    /// Whether all that was here is forgotten.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.checkpoints.is_empty() && self.writes.is_empty()
    }

    #[inline]
    pub(super) fn newest(&self) -> Option<u64> {
        self.checkpoints.last().map(|newest| newest.seq)
    }

    #[inline]
    pub(super) fn append(&mut self, checkpoint: &StoredCheckpoint, settled: &Range<u64>) {
        self.bytes.extend_from_slice(&checkpoint.bytes);
        self.checkpoints.push(Kept {
            seq: checkpoint.seq,
            base: checkpoint.base,
            created_ms: checkpoint.created_ms,
            end: self.bytes.len(),
        });
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

    /// The checkpoint of this number, or the newest, with all that is needed to read it.
    pub(super) fn read(&self, seq: Option<u64>) -> Option<Stored> {
        let seq = seq.or_else(|| self.newest())?;
        let place = self.place(seq);
        let checkpoint = self.checkpoints.get(place)?;
        if checkpoint.seq != seq {
            return None;
        }
        let chain = self.place(checkpoint.base)..=place;
        let writes = self.writes(seq..seq.saturating_add(1));
        Some(Stored {
            chain: chain.map(|place| self.checkpoint(place)).collect(),
            writes: writes.map(|(_, write)| write).collect(),
        })
    }

    /// The checkpoints below a number, newest first.
    pub(super) fn history(
        &self,
        before: Option<u64>,
    ) -> impl Iterator<Item = StoredCheckpoint> + '_ {
        let end = before.map_or(self.checkpoints.len(), |before| self.place(before));
        (0..end).rev().map(|place| self.checkpoint(place))
    }

    /// What tasks have left beside these numbers.
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
    pub(super) fn prune(&mut self, seq: u64) {
        let place = self.place(seq);
        self.pruned = self.begin(place);
        self.checkpoints.drain(..place);
        self.writes = self.writes.split_off(&first(seq));
        // What stays is moved only when it is no more than what goes: over many calls, each byte about once.
        if self.pruned >= self.bytes.len() - self.pruned {
            self.bytes.drain(..self.pruned);
            for kept in &mut self.checkpoints {
                kept.end -= self.pruned;
            }
            self.pruned = 0;
            self.bytes.shrink_to(2 * self.bytes.len());
        }
    }

    /// How many checkpoints there are, how many bytes they hold, and when the newest was made.
    pub(super) fn sizes(&self) -> (u64, u64, Option<u64>) {
        let made = self.checkpoints.iter().map(|kept| kept.created_ms).max();
        let bytes = self.bytes.len() - self.pruned;
        (self.checkpoints.len() as u64, bytes as u64, made)
    }

    /// Where the checkpoints begin whose number is not below this one.
    #[inline]
    fn place(&self, seq: u64) -> usize {
        self.checkpoints.partition_point(|kept| kept.seq < seq)
    }

    /// Where the bytes of the checkpoint at a place begin, or would.
    fn begin(&self, place: usize) -> usize {
        match place.checked_sub(1) {
            Some(before) => self.checkpoints[before].end,
            None => self.pruned,
        }
    }

    fn checkpoint(&self, place: usize) -> StoredCheckpoint {
        let kept = &self.checkpoints[place];
        StoredCheckpoint {
            seq: kept.seq,
            base: kept.base,
            created_ms: kept.created_ms,
            bytes: self.bytes[self.begin(place)..kept.end].to_vec(),
        }
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
        let checkpoints: Vec<_> = line.history(None).collect();
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
            let stays: Vec<u64> = (cut.min(8)..=8).rev().collect();
            assert_eq!(numbers(&line), stays);
            let count = stays.len() as u64;
            assert_eq!(line.sizes(), (count, 10 * count, Some(8)));
        }
    }

    #[test]
    fn a_line_that_is_cut_after_each_append_holds_little_more_than_what_stays() {
        let mut line = Line::default();
        for seq in 0..1_000 {
            line.append(&checkpoint(seq), &(0..0));
            line.prune(seq.saturating_sub(2));
            assert!(line.bytes.len() <= 80);
        }
        assert_eq!(numbers(&line), [999, 998, 997]);
    }
}
