//! Runs flows in supersteps: the only module that polls tasks, waits and spawns.
//!
//! [`start`] begins a run, and [`run_loop`] is the superstep loop over a [`driver`]. It runs a chain of nodes on the
//! [`fast_path`], everything else in the [`parallel`] executor, and commits through [`commit`]. What a stored run writes is behind the trait in
//! [`persistence`]; this module does not know how it is stored.

mod abort;
mod attempt;
mod barrier;
mod begin_gate;
mod cached;
mod commit;
mod driver;
mod failure;
mod fast_path;
mod gates;
mod parallel;
mod persistence;
mod requests;
mod run_loop;
mod settings;
mod single;
mod slab;
mod start;
mod state_cell;
#[cfg(feature = "engine")]
mod stepped;
mod stored_run;
mod stored_steps;
mod task_end;
mod task_run;
mod watch;

/// The types that [`slab`] uses. Its test with `loom` has others.
mod sync {
    pub(super) use std::sync::{Mutex, MutexGuard, atomic::AtomicBool};
}

pub(crate) use begin_gate::BeginGate;
pub(crate) use cached::CachedResult;
pub(crate) use persistence::{
    Barrier, Committed, GateDecision, LostKeys, Persistence, Stopped, TaskDisposition,
};
pub(crate) use settings::{Extras, Settings};
pub(crate) use start::{Begin, Start, drive};
#[cfg(feature = "engine")]
pub(crate) use stepped::SteppedRun;
pub(crate) use stored_run::{Restored, StoredRun, run_restored};
pub(crate) use stored_steps::StoredSteps;
pub(crate) use task_end::{FinishedTask, TaskEnd, TaskResult};
