//! Runs flows in supersteps: the only module that polls the tasks of a run and waits for them.
//!
//! Each module uses only those above it:
//!
//! | module | what it does |
//! | --- | --- |
//! | [`control`] | the settings of a run, and what can stop it |
//! | [`persistence`] | the interface of what a stored run writes; how it is stored is not known here |
//! | [`task`] | one task: its attempts, its future, what its failure does |
//! | [`supersteps`] | one superstep: the executor with its fast path, the commit, the barrier |
//! | [`runs`] | a whole run: its begin, and its loop over supersteps |

mod control;
mod persistence;
mod runs;
mod supersteps;
mod task;

pub(crate) use control::cached::CachedResult;
pub(crate) use control::runtime::needs_tokio;
pub(crate) use control::settings::{Extras, Settings, WaitsWhen};
pub(crate) use persistence::task_end::{FinishedTask, TaskEnd, TaskResult};
pub(crate) use persistence::{
    Barrier, Committed, InterruptDecision, LostKeys, Persistence, Stopped, TaskDisposition, Unread,
    Waits,
};
pub(crate) use runs::begin_barrier::BeginBarrier;
pub(crate) use runs::start::{Begin, Start, drive};
pub(crate) use runs::stored_run::{Restored, StoredRun, run_restored};
