//! What is active, and what waits.

use crate::delivery::Delivery;
use crate::plan::ExecutionPlan;

/// One run of one node in one superstep.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// The node's place.
    pub(crate) node: u32,
    /// Its place among all that was sent to the node in this superstep; `None` where edges alone activated it.
    pub(crate) send: Option<u32>,
    /// Which item of the delivery it is for.
    pub(crate) item: Option<u32>,
    /// What the edge delivered.
    pub(crate) delivery: Option<Delivery>,
}

impl Task {
    /// A task that an edge activates.
    pub(crate) fn plain(node: u32) -> Self {
        Task {
            node,
            send: None,
            item: None,
            delivery: None,
        }
    }
}

/// How far each join has come.
#[derive(Debug, Default)]
pub(crate) struct Joins(Vec<Join>);

#[derive(Debug)]
struct Join {
    arrived: Vec<bool>,
    missing: u32,
    /// The last round in which it was complete.
    fired: u64,
}

impl Joins {
    pub(crate) fn new(plan: &ExecutionPlan) -> Self {
        let join = |sides: u32| Join {
            arrived: vec![false; sides as usize],
            missing: sides,
            fired: 0,
        };
        Joins(plan.joins.iter().map(|ways| join(ways.sides)).collect())
    }

    /// Marks a side as arrived; true when it was the last, and then the join is empty again. Whatever else arrives in that
    /// round belongs to the same completion: the rest of a batch, a side that had arrived before.
    pub(crate) fn arrive(&mut self, join: u32, side: u32, round: u64) -> bool {
        let join = &mut self.0[join as usize];
        if join.fired == round {
            return false;
        }
        let arrived = &mut join.arrived[side as usize];
        if *arrived {
            return false;
        }
        *arrived = true;
        join.missing -= 1;
        if join.missing > 0 {
            return false;
        }
        join.missing = u32::try_from(join.arrived.len()).unwrap_or(u32::MAX);
        join.arrived.fill(false);
        join.fired = round;
        true
    }

    /// The sides of a join that have arrived.
    pub(crate) fn arrived(&self, join: usize) -> impl Iterator<Item = usize> {
        let sides = self.0[join].arrived.iter().enumerate();
        sides.filter(|(_, arrived)| **arrived).map(|(side, _)| side)
    }

    /// The joins that hold an arrival.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = usize> {
        let held = |join: &Join| (join.missing as usize) < join.arrived.len();
        self.0
            .iter()
            .enumerate()
            .filter(move |(_, join)| held(join))
            .map(|(number, _)| number)
    }
}
