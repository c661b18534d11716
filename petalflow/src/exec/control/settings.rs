//! The settings of a run, as a launch collects them.

use std::sync::Arc;
use std::time::Duration;

use super::cached::FindCached;
use crate::cancel_token::RunToken;
use crate::checkpoint::document_version::DocumentVersion;
use crate::error::{DEFAULT_MAX_DEPTH, NodeError};
use crate::event::Sink;
use crate::ids::Namespace;
use crate::middleware::{Middleware, RunMiddleware};
use crate::node::{ManagedValues, RunShared};
use crate::state::{State, Update};

/// The default limit: a run of N supersteps needs a limit of N.
pub(crate) const DEFAULT_LIMIT: u64 = 100;

/// Adds a failure to the writes of a node.
pub(crate) type RecordFailure<S> = fn(NodeError, &mut Update<S>);

/// The settings of a run. Small, because a server holds one per run; what few runs have is in [`Extras`].
pub(crate) struct Settings<S: State> {
    pub(crate) limit: u64,
    /// How many levels of sub-flows may be inside the outermost flow.
    pub(crate) max_depth: u32,
    /// For a sub-flow: the run of its parent.
    pub(crate) parent: Option<Arc<RunShared>>,
    pub(crate) cancel: Option<RunToken>,
    pub(crate) managed: Option<Arc<ManagedValues>>,
    pub(crate) namespace: Namespace,
    pub(crate) thread: Option<Arc<str>>,
    pub(crate) extras: Option<Arc<Extras<S>>>,
}

/// Settings that few runs have.
pub(crate) struct Extras<S: State> {
    pub(crate) max_concurrency: usize,
    pub(crate) timeout: Option<Duration>,
    pub(crate) superstep_timeout: Option<Duration>,
    pub(crate) middleware: Vec<Arc<dyn Middleware<S>>>,
    pub(crate) run_middleware: Vec<Arc<dyn RunMiddleware<S>>>,
    /// Continues the run after a failure, which this writes to the state.
    pub(crate) record_failure: Option<RecordFailure<S>>,
    pub(crate) sink: Option<Arc<dyn Sink<S>>>,
    /// Finds results in the cache of the run.
    pub(crate) find_cached: Option<FindCached<S>>,
    /// The version of the document that the flow was made of.
    pub(crate) document: Option<DocumentVersion>,
}

impl<S: State> Settings<S> {
    /// The extras, to be changed. Runs that were launched before are not affected.
    pub(crate) fn extras_mut(&mut self) -> &mut Extras<S> {
        Arc::make_mut(self.extras.get_or_insert_with(Arc::default))
    }
}

impl<S: State> Default for Settings<S> {
    fn default() -> Self {
        Settings {
            limit: DEFAULT_LIMIT,
            max_depth: DEFAULT_MAX_DEPTH,
            parent: None,
            cancel: None,
            managed: None,
            namespace: Namespace::ROOT,
            thread: None,
            extras: None,
        }
    }
}

// By hand: a derive would ask for `S: Clone` and `S: Default`.
impl<S: State> Clone for Settings<S> {
    fn clone(&self) -> Self {
        Settings {
            limit: self.limit,
            max_depth: self.max_depth,
            parent: self.parent.clone(),
            cancel: self.cancel.clone(),
            managed: self.managed.clone(),
            namespace: self.namespace.clone(),
            thread: self.thread.clone(),
            extras: self.extras.clone(),
        }
    }
}

impl<S: State> Default for Extras<S> {
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
        }
    }
}

impl<S: State> Clone for Extras<S> {
    fn clone(&self) -> Self {
        Extras {
            max_concurrency: self.max_concurrency,
            timeout: self.timeout,
            superstep_timeout: self.superstep_timeout,
            middleware: self.middleware.clone(),
            run_middleware: self.run_middleware.clone(),
            record_failure: self.record_failure,
            sink: self.sink.clone(),
            find_cached: self.find_cached,
            document: self.document.clone(),
        }
    }
}
