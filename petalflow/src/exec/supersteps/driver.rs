//! A run between two supersteps: its state, its settings, and the checks before a superstep.

use std::sync::{Arc, OnceLock};

use crate::erased::{EffectsBox, StateBox};
use crate::event::{AnyEvent, AnyEventKind, Sink};
use crate::exec::control::abort::{Abort, AbortReason};
use crate::exec::control::watch::{Stop, Watch, yield_now};
use crate::exec::persistence::{Committed, Persistence};
use crate::exec::{Extras, Settings};
use crate::flow::AnyFlow;
use crate::flow::FastPath;
use crate::node::{RunShared, Scope, Surroundings};
use crate::outcome::{RunError, RunErrorKind};
use crate::plan::ExecutionPlan;
use crate::state::KeySet;
use crate::superstep::Task;
use crate::task_services::TaskServices;

/// A run whose nodes never wait lets other tokio tasks run after this many supersteps.
const YIELD_INTERVAL: u64 = 128;

/// A run between two supersteps.
pub(crate) struct Driver {
    pub(in crate::exec) flow: Arc<dyn AnyFlow>,
    pub(in crate::exec) extras: Option<Arc<Extras>>,
    pub(in crate::exec) watch: Option<Box<Watch>>,
    /// The last task of the fast path. Its superstep is the superstep of the run.
    pub(in crate::exec) scope: Scope,
    pub(in crate::exec) state: StateBox,
    pub(in crate::exec) fast_path: FastPath,
    /// The effects of the last task of the fast path.
    pub(in crate::exec) effects: EffectsBox,
}

impl Driver {
    /// A run that continues after this superstep; 0 for a run that begins.
    pub(in crate::exec) fn new(
        flow: Arc<dyn AnyFlow>,
        settings: Settings,
        plan: Arc<ExecutionPlan>,
        superstep: u64,
        (state, written): (StateBox, KeySet),
        services: Option<Arc<TaskServices>>,
    ) -> Self {
        let Settings {
            limit: launch_limit,
            max_depth,
            parent,
            retained_by: _,
            no_keep,
            cancel,
            managed,
            namespace,
            thread,
            extras,
        } = settings;
        let timeouts = extras.as_ref().map_or((None, None), |extras| {
            (extras.timeout, extras.superstep_timeout)
        });
        let listener = extras.as_ref().and_then(|extras| extras.sink.clone());
        let watch = Watch::new(cancel.as_ref(), timeouts.0, timeouts.1);
        let surroundings = Surroundings {
            managed,
            cancel,
            listener,
            namespace,
            superstep,
            depth: parent.as_ref().map_or(0, |parent| parent.depth + 1),
            parent,
            no_keep,
            max_depth,
            thread: thread.map_or_else(OnceLock::new, OnceLock::from),
            services,
            ..Surroundings::none()
        };
        // Each call may make as many supersteps as the limit says.
        let limit = launch_limit.saturating_add(superstep);
        let mut scope = Scope::new(Arc::new(RunShared::new(plan, limit, surroundings)));
        scope.superstep = superstep;
        Driver {
            watch,
            scope,
            effects: (state.ty().no_effects)(),
            state,
            flow,
            extras,
            fast_path: FastPath {
                written,
                pause_at: 0,
            },
        }
    }

    /// The result of the run.
    pub(in crate::exec) fn finish(self, result: Result<(), Abort>) -> Result<StateBox, RunError> {
        let abort = match result {
            Ok(()) => return Ok(self.state),
            Err(abort) => abort,
        };
        let (superstep, name) = (self.scope.superstep, self.flow.name());
        let has_panicked = abort.is_panic();
        let AbortReason {
            kind,
            source,
            pending,
            failed,
            wakes_ms,
            ..
        } = abort.into_reason();
        if has_panicked {
            // The state may be half-changed.
            return Err(RunError::bare(kind, name, superstep).with_source(source));
        }
        let barrier = crate::outcome::LastBarrier {
            state: self.state,
            pending,
        };
        let mut error = RunError::new(kind, name, superstep, source, barrier);
        error.set_failed(failed);
        error.set_wakes_ms(wakes_ms);
        if error.is_stop() {
            error.set_retried(self.scope.shared.retried());
        }
        Err(error)
    }

    pub(in crate::exec) fn plan(&self) -> &ExecutionPlan {
        &self.scope.shared.plan
    }

    pub(in crate::exec) fn max_concurrency(&self) -> usize {
        self.extras
            .as_ref()
            .map_or(usize::MAX, |extras| extras.max_concurrency)
    }

    /// Whether nothing surrounds the nodes of this run, so that the fast path may be taken.
    pub(in crate::exec) fn is_bare(&self) -> bool {
        let bare = |extras: &Arc<Extras>| {
            extras.middleware.is_empty()
                && extras.sink.is_none()
                && extras.superstep_timeout.is_none()
        };
        self.extras.as_ref().is_none_or(bare)
    }

    /// The superstep before which the fast path returns to [`before_superstep`](Self::before_superstep).
    pub(in crate::exec) fn pause_at(&self) -> u64 {
        if self.scope.shared.cancel.is_some() {
            // The driver looks at the token at each barrier.
            return self.scope.superstep + 1;
        }
        let next_yield = (self.scope.superstep / YIELD_INTERVAL + 1) * YIELD_INTERVAL;
        self.scope.shared.limit.min(next_yield)
    }

    /// Checks between two supersteps whether the run has to stop. Returns whether it has to [yield](Self::yield_now) first.
    pub(in crate::exec) fn before_superstep(&mut self, frontier: &[Task]) -> Result<bool, Abort> {
        let (superstep, limit) = (self.scope.superstep, self.scope.shared.limit);
        if let Some(watch) = &mut self.watch {
            watch.begin_superstep();
        }
        if let Some(token) = &self.scope.shared.cancel
            && token.stops_at_barrier()
        {
            return Err(if token.is_cancelled() {
                Abort::stopped(Stop::Cancelled)
            } else {
                let next = names(self.plan(), frontier).map(Into::into).collect();
                Abort::new(RunErrorKind::Drained { next })
            });
        }
        if superstep >= limit {
            return Err(Abort::new(RunErrorKind::Limit {
                limit: self.scope.shared.launch_limit(),
                next: names(self.plan(), frontier).map(Into::into).collect(),
            }));
        }
        Ok(superstep > 0 && superstep.is_multiple_of(YIELD_INTERVAL))
    }

    /// Lets other tokio tasks run.
    pub(in crate::exec) async fn yield_now(&mut self) -> Result<(), Abort> {
        yield_now(&mut self.watch).await.map_err(Abort::stopped)
    }

    pub(in crate::exec) fn committed(&self) -> Committed<'_> {
        Committed {
            state: &*self.state,
            written: self.fast_path.written,
        }
    }

    pub(in crate::exec) fn emit(&self, kind: impl FnOnce() -> AnyEventKind) {
        if let Some(sink) = self.sink() {
            self.send(sink, kind());
        }
    }

    /// Emits an event of progress, if a listener wants such events.
    pub(in crate::exec) fn emit_progress(&self, kind: impl FnOnce() -> AnyEventKind) {
        if let Some(sink) = self.sink().filter(|sink| sink.wants_progress()) {
            self.send(sink, kind());
        }
    }

    fn send(&self, sink: &dyn Sink, kind: AnyEventKind) {
        sink.send(AnyEvent {
            namespace: self.scope.shared.namespace.clone(),
            superstep: self.scope.superstep,
            task: None,
            kind,
        });
    }

    fn sink(&self) -> Option<&dyn Sink> {
        self.extras.as_ref()?.sink.as_deref()
    }

    /// Emits a copy of the state, if a listener wants it.
    pub(in crate::exec) fn emit_values(&self) {
        if let Some(copy) = self.sink().and_then(Sink::copy_state) {
            self.emit(|| AnyEventKind::Values {
                state: copy(&*self.state),
            });
        }
    }

    /// Emits the checkpoint that was just written, if there is one.
    pub(in crate::exec) fn emit_checkpoint(&self, persistence: &mut dyn Persistence) {
        if let Some(checkpoint) = persistence.take_checkpoint() {
            self.emit(|| AnyEventKind::Checkpoint { checkpoint });
        }
    }
}

/// The names of the nodes of a frontier.
pub(in crate::exec) fn names<'a>(
    plan: &'a ExecutionPlan,
    frontier: &'a [Task],
) -> impl Iterator<Item = &'a str> {
    frontier.iter().map(|task| plan.name(task.node))
}
