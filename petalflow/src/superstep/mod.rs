//! The rules of a superstep as pure functions: they neither wait nor read a clock, and their results do not depend on the
//! order of a hash map. The driver in `exec` calls them.

mod commit;
mod frontier;
mod plan;
#[cfg(test)]
mod tests;

pub(crate) use commit::{apply, commit_one, prepare};
pub(crate) use frontier::{Joins, Task};
pub(crate) use plan::{NoEdge, Outcome, Planner};
