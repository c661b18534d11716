//! What a launch says about its run.

use std::sync::Arc;
use std::time::Duration;

use super::cached::FindCached;
use crate::cancel_token::CancelToken;
use crate::error::NodeError;
use crate::event::Sink;
use crate::ids::Namespace;
use crate::middleware::{Middleware, RunMiddleware};
use crate::node::ManagedValues;
use crate::state::State;

/// N supersteps need a limit of N.
pub(crate) const DEFAULT_LIMIT: u64 = 100;

/// Puts a failure among a node's writes.
pub(crate) type Record<S> = fn(NodeError, &mut <S as State>::Update);

/// What a launch says about its run. Small, because a server holds one per run; what few runs have stands in [`Extras`].
pub(crate) struct Settings<S: State> {
    pub(crate) limit: u64,
    pub(crate) cancel: Option<CancelToken>,
    pub(crate) managed: Option<Arc<ManagedValues>>,
    pub(crate) namespace: Namespace,
    pub(crate) thread: Option<Arc<str>>,
    pub(crate) extras: Option<Arc<Extras<S>>>,
}

/// What most runs do without.
pub(crate) struct Extras<S: State> {
    pub(crate) max_concurrency: usize,
    pub(crate) timeout: Option<Duration>,
    pub(crate) superstep_timeout: Option<Duration>,
    pub(crate) middleware: Vec<Arc<dyn Middleware<S>>>,
    pub(crate) run_middleware: Vec<Arc<dyn RunMiddleware<S>>>,
    pub(crate) record: Option<Record<S>>,
    pub(crate) sink: Option<Arc<Sink<S>>>,
    /// Copies the state for who listens to it.
    pub(crate) values: Option<fn(&S) -> S>,
    /// Finds results in the run's cache.
    pub(crate) cached: Option<FindCached<S>>,
}

impl<S: State> Settings<S> {
    /// The extras, to be changed; runs that were launched with them keep theirs.
    pub(crate) fn extras_mut(&mut self) -> &mut Extras<S> {
        Arc::make_mut(self.extras.get_or_insert_with(Arc::default))
    }
}

impl<S: State> Default for Settings<S> {
    fn default() -> Self {
        Settings {
            limit: DEFAULT_LIMIT,
            cancel: None,
            managed: None,
            namespace: Namespace::ROOT,
            thread: None,
            extras: None,
        }
    }
}

// ProgramVersion hand: a derive would ask for `S: Clone` and `S: Default`.
impl<S: State> Clone for Settings<S> {
    fn clone(&self) -> Self {
        Settings {
            limit: self.limit,
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
            record: None,
            sink: None,
            values: None,
            cached: None,
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
            record: self.record,
            sink: self.sink.clone(),
            values: self.values,
            cached: self.cached,
        }
    }
}
