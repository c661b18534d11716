//! The possible runs of a graph, judged by the graph alone.
//!
//! | module | question |
//! | --- | --- |
//! | `reachability` | Which nodes and joins can a run reach at all? |
//! | `state_space` | Which states can a run be in, and which state can follow which? |
//! | `concurrency` | Which nodes can run in one superstep? |
//! | `join_deadlock` | Which joins can wait for a side that never arrives? |
//! | `nontermination` | Which nodes can run forever? |
//!
//! `outcomes` and `superstep` describe one superstep. `exploration` runs the analyses. `frontiers` makes constants of the explored
//! states. A small state space is explored exactly. Otherwise the analyses read the edges only, which is sound but less precise.
//! `work` is the limit: every analysis whose work can grow faster than the graph counts its steps.

mod analysis;
pub(crate) mod concurrency;
mod exploration;
mod frontiers;
pub(crate) mod join_deadlock;
pub(crate) mod nontermination;
mod outcomes;
mod paths;
mod reachability;
mod state_space;
mod superstep;
pub(crate) mod work;

pub use analysis::{Analysis, Any};
pub use concurrency::{PairTable, Pairs};
pub(crate) use exploration::delivered_several;
#[cfg(test)]
pub(crate) use exploration::pairs_of_edges;
pub use exploration::{Exploration, explore};
pub use frontiers::Frontiers;
pub use join_deadlock::Stuck;
pub use paths::Paths;
pub(crate) use reachability::Reach;
pub use superstep::Routes;
