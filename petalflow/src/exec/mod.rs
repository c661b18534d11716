//! Runs flows in supersteps: the only module that polls tasks, waits and spawns.
//!
//! [`driver`] is the superstep loop. It runs a chain of nodes on the [`fast_path`], and everything else through the
//! [`parallel`] executor. What a stored run writes down is behind the trait in [`persistence`].

mod abort;
mod attempt;
mod cached;
mod driver;
mod fast_path;
mod handle_failure;
mod parallel;
mod persistence;
mod settings;
mod single;
mod slab;
mod start;
mod watch;

pub(crate) use abort::Abort;
pub(crate) use cached::CachedResult;
pub(crate) use driver::Driver;
pub(crate) use parallel::{EndedTask, SnapshotRef, TaskEnd, TaskRun};
pub(crate) use persistence::Persistence;
pub(crate) use settings::{Extras, Settings};
pub(crate) use slab::Slab;
pub(crate) use start::{Begin, Start, drive, has_input};
pub(crate) use watch::{Stop, Watch, poll_watch, watched};
