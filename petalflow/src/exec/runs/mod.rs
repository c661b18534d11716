//! A whole run: how it begins, and its loop over supersteps.

pub(super) mod begin_barrier;
pub(super) mod run_loop;
pub(super) mod start;
pub(super) mod stored_run;
