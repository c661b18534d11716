//! The nodes that can run together, as constants.

use crate::idx::NodeIdx;

/// The pairs of nodes that can run in one superstep.
#[derive(Clone, Copy, Debug)]
pub struct PairsRef<'a> {
    /// The index of the first range of each node, and the length of [`ranges`](Self::ranges).
    pub offsets: &'a [u32],
    /// For each node `a` the ranges `(first, last)` of nodes `b >= a` that it can run with.
    pub ranges: &'a [(u32, u32)],
}

impl PairsRef<'_> {
    /// Whether the two nodes can run in one superstep.
    pub const fn contains(&self, a: NodeIdx, b: NodeIdx) -> bool {
        let (a, b) = (a.as_u32(), b.as_u32());
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        let mut i = self.offsets[a as usize] as usize;
        while i < self.offsets[a as usize + 1] as usize {
            let (first, last) = self.ranges[i];
            if first <= b && b <= last {
                return true;
            }
            i += 1;
        }
        false
    }
}
