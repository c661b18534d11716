//! The settings of a run, as a launch collects them.

use std::sync::Arc;
use std::time::Duration;

use super::cached::FindCached;
use crate::cancel_token::RunToken;
use crate::checkpoint::document_version::DocumentVersion;
use crate::erased::{AnyEffects, AnyState};
use crate::error::{DEFAULT_MAX_DEPTH, NodeError};
use crate::event::Sink;
use crate::ids::{Namespace, TaskId};
use crate::middleware::{AnyMiddleware, AnyRunMiddleware};
use crate::node::{ManagedValues, NoKeep, RunShared};

/// The default limit: a run of N supersteps needs a limit of N.
pub(crate) const DEFAULT_LIMIT: u64 = 100;

/// Adds a failure to the writes of a node.
pub(crate) type RecordFailure = fn(NodeError, &mut dyn AnyEffects);

/// Whether a run that has finished with this state waits for somebody.
pub(crate) type WaitsWhen = Arc<dyn Fn(&dyn AnyState) -> bool + Send + Sync>;

/// The settings of a run. Small, because a server holds one per run; what few runs have is in [`Extras`].
#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) limit: u64,
    /// How many levels of sub-flows may be inside the outermost flow.
    pub(crate) max_depth: u32,
    /// For a sub-flow: the run of its parent.
    pub(crate) parent: Option<Arc<RunShared>>,
    /// For a sub-flow that retains its state: the task of its parent that calls it.
    pub(crate) retained_by: Option<TaskId>,
    /// For a sub-flow: why the sub-flows inside it cannot keep their states.
    pub(crate) no_keep: Option<NoKeep>,
    pub(crate) cancel: Option<RunToken>,
    pub(crate) managed: Option<Arc<ManagedValues>>,
    pub(crate) namespace: Namespace,
    pub(crate) thread: Option<Arc<str>>,
    pub(crate) extras: Option<Arc<Extras>>,
}

/// Settings that few runs have.
#[derive(Clone)]
pub(crate) struct Extras {
    pub(crate) max_concurrency: usize,
    pub(crate) timeout: Option<Duration>,
    pub(crate) superstep_timeout: Option<Duration>,
    pub(crate) middleware: Vec<Arc<dyn AnyMiddleware>>,
    pub(crate) run_middleware: Vec<Arc<dyn AnyRunMiddleware>>,
    /// Continues the run after a failure, which this writes to the state.
    pub(crate) record_failure: Option<RecordFailure>,
    pub(crate) sink: Option<Arc<dyn Sink>>,
    /// Finds results in the cache of the run.
    pub(crate) find_cached: Option<FindCached>,
    /// The version of the document that the flow was made of.
    pub(crate) document: Option<DocumentVersion>,
    /// Whether a thread whose run has finished is listed as waiting.
    pub(crate) waits_when: Option<WaitsWhen>,
}

impl Settings {
    /// The extras, to be changed. Runs that were launched before are not affected.
    pub(crate) fn extras_mut(&mut self) -> &mut Extras {
        Arc::make_mut(self.extras.get_or_insert_with(Arc::default))
    }

    /// Whether a thread whose run has finished is listed as waiting. `None`: never.
    pub(crate) fn waits_when(&self) -> Option<&WaitsWhen> {
        self.extras.as_ref()?.waits_when.as_ref()
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            limit: DEFAULT_LIMIT,
            max_depth: DEFAULT_MAX_DEPTH,
            parent: None,
            retained_by: None,
            no_keep: None,
            cancel: None,
            managed: None,
            namespace: Namespace::ROOT,
            thread: None,
            extras: None,
        }
    }
}

impl Default for Extras {
    fn default() -> Self {
        Extras {
            max_concurrency: usize::MAX,
            timeout: None,
            superstep_timeout: None,
            middleware: Vec::new(),
            run_middleware: Vec::new(),
            record_failure: None,
            sink: None,
            find_cached: None,
            document: None,
            waits_when: None,
        }
    }
}
