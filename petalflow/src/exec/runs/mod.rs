//! A whole run: how it begins, its loop over supersteps, and runs that the caller steps.

pub(super) mod begin_barrier;
pub(super) mod run_loop;
pub(super) mod start;
pub(super) mod stored_run;
