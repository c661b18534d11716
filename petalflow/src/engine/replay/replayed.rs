//! What a replay has found.

use super::difference::{Difference, DifferenceKind};

/// What a replay has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replayed {
    /// The differences: first those of the program, then those of the supersteps in their order.
    pub differences: Vec<Difference>,
    /// How many supersteps were committed by the program of today, and compared.
    pub supersteps: u64,
    /// How many tasks ran. All others gave their recorded results.
    pub ran: u64,
    /// The supersteps, as turn and superstep, of which the file has not the result of each task: the thread did not
    /// [retain](crate::thread::Retention::with_results) them. They were not compared.
    pub without_results: Vec<(u64, u64)>,
    /// How many requests to models were compared.
    pub requests: u64,
    /// How many recorded requests to models were not compared:
    /// [`replay_requests`](crate::engine::ThreadEngine::replay_requests) was not called, the node makes them after another one,
    /// or it runs its sub-flow itself.
    pub requests_left: u64,
}

impl Replayed {
    /// Adds a difference. What follows from a change of the program in several supersteps counts for the first of them.
    pub(super) fn add(&mut self, difference: Difference) {
        let is_same = |known: &Difference| {
            known.kind == difference.kind
                && known.flow == difference.flow
                && match known.kind {
                    DifferenceKind::Resume => problem(known) == problem(&difference),
                    DifferenceKind::Next | DifferenceKind::Result | DifferenceKind::Effect => {
                        let parts = |of: &Difference| {
                            (of.name.clone(), of.expected.clone(), of.found.clone())
                        };
                        known.node == difference.node && parts(known) == parts(&difference)
                    }
                    _ => false,
                }
        };
        if !self.differences.iter().any(is_same) {
            self.differences.push(difference);
        }
    }

    pub(super) fn add_first(&mut self, mut differences: Vec<Difference>) {
        differences.append(&mut self.differences);
        self.differences = differences;
    }
}

/// Why a checkpoint is refused, without what is particular to it, such as the value.
fn problem(refused: &Difference) -> &str {
    refused.found.split(": ").next().unwrap_or_default()
}
