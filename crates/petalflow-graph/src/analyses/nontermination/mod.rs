//! Runs that never end: from the edges of a cycle, and from the states of the run.

mod cycles;
mod end;
mod states;

pub(crate) use cycles::{EdgeCycles, endless_by_choice, is_marked, mark};
pub(crate) use end::{Picks, successors};
pub(crate) use states::inescapable_sets;
