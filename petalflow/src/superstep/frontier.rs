//! The tasks of a superstep, and the arrivals at joins.

use petalflow_graph::{ItemIdx, JoinIdx, NodeIdx};

use crate::delivery::Delivery;
use crate::plan::ExecutionPlan;

/// One run of one node in one superstep.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) node: NodeIdx,
    /// Its index among everything that was sent to the node in this superstep. `None` if only edges activated the node.
    pub(crate) send: Option<u32>,
    /// The item of the delivery that it runs for. `None` if it runs for the whole delivery.
    pub(crate) item: Option<ItemIdx>,
    /// What the edge delivered.
    pub(crate) delivery: Option<Delivery>,
}

impl Task {
    /// A task that an edge activates.
    pub(crate) fn plain(node: NodeIdx) -> Self {
        Task {
            node,
            send: None,
            item: None,
            delivery: None,
        }
    }
}

/// The arrivals at each join.
#[derive(Debug, Default)]
pub(crate) struct Joins(Vec<Join>);

#[derive(Debug)]
struct Join {
    /// Which sides have arrived.
    arrived: Vec<bool>,
    /// How many sides have not arrived.
    missing: u32,
    /// The last round in which it was complete.
    completed: u64,
}

impl Join {
    /// Empties the join.
    fn complete(&mut self, round: u64) {
        self.missing = u32::try_from(self.arrived.len()).unwrap_or(u32::MAX);
        self.arrived.fill(false);
        self.completed = round;
    }
}

impl Joins {
    pub(crate) fn new(plan: &ExecutionPlan) -> Self {
        let mut joins = Vec::with_capacity(plan.joins.len());
        for edges in &plan.joins {
            joins.push(Join {
                arrived: vec![false; edges.sides.len()],
                missing: petalflow_graph::to_u32(edges.sides.len()),
                completed: 0,
            });
        }
        Joins(joins)
    }

    /// Marks a side as arrived. Returns true if it was the last; the join is then empty again.
    ///
    /// Further arrivals of the same round belong to the same completion: the rest of a batch, or a side that had arrived
    /// before.
    pub(crate) fn arrive(&mut self, join: JoinIdx, side: u32, round: u64) -> bool {
        let join = &mut self.0[join.index()];
        if join.completed == round {
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
        join.complete(round);
        true
    }

    /// Completes a join without its missing sides.
    #[cfg(feature = "builder")]
    pub(crate) fn skip_missing(&mut self, join: JoinIdx, round: u64) {
        self.0[join.index()].complete(round);
    }

    /// Which sides of a join have arrived. `None` if none has.
    pub(crate) fn partial(&self, join: JoinIdx) -> Option<&[bool]> {
        let join = &self.0[join.index()];
        ((join.missing as usize) < join.arrived.len()).then_some(&join.arrived)
    }

    /// The sides of a join that have arrived.
    pub(crate) fn arrived(&self, join: JoinIdx) -> impl Iterator<Item = usize> {
        let sides = self.0[join.index()].arrived.iter().enumerate();
        sides.filter(|(_, arrived)| **arrived).map(|(side, _)| side)
    }

    /// The joins at which some sides have arrived.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = JoinIdx> {
        JoinIdx::all(self.0.len()).filter(|join| self.partial(*join).is_some())
    }
}
