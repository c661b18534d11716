//! The rules of a superstep as pure functions: no I/O, no clock, no chance, no map order. The driver in `run` calls them.

mod commit;
mod frontier;
mod plan;

pub(crate) use commit::{apply, commit_one, prepare};
pub(crate) use frontier::{Joins, Task};
pub(crate) use plan::{NoEdge, Outcome, Planner};
