//! The superstep loop.

use std::sync::{Arc, OnceLock};

use petalflow_graph::{JoinIdx, NodeIdx};

use super::abort::{Abort, AbortReason};
use super::commit::no_edge;
use super::failure::handle_failure;
use super::fast_path::{FastPathEnd, run_fast_path};
use super::gates::gates_after;
use super::parallel::ParallelExecutor;
use super::persistence::{Barrier, Committed, Persistence, Stopped};
use super::single::run_single;
use super::state_cell::StateCell;
use super::task_run::{TaskEnd, TaskRun, run_task};
use super::watch::{Watch, watched, yield_now};
use super::{Extras, Settings};
use crate::cancel_token::CancelToken;
use crate::event::{Event, EventKind, Listener};
use crate::flow::{FastPath, Flow};
use crate::future::BoxFuture;
use crate::node::{Effects, RouteChoice, RunShared, Scope};
use crate::outcome::{RunError, RunErrorKind};
use crate::plan::{EdgeTarget, ExecutionPlan};
use crate::state::{KeySet, State};
use crate::superstep::{Planner, Task, commit_one};
use crate::task_services::TaskServices;

/// A run whose nodes never wait lets other tokio tasks run after this many supersteps.
const YIELD_INTERVAL: u64 = 128;

/// The rest of a run. Boxed, so that a chain or a loop does not carry its memory.
pub(super) type RestOfRun<'r, F> = BoxFuture<'r, Result<(), Abort<<F as Flow>::State>>>;

/// A run between two supersteps.
pub(crate) struct Driver<F: Flow> {
    pub(super) flow: Arc<F>,
    pub(super) extras: Option<Arc<Extras<F::State>>>,
    pub(super) watch: Option<Box<Watch>>,
    /// The last task of the fast path. Its superstep is the superstep of the run.
    pub(super) scope: Scope,
    pub(super) state: StateCell<F::State>,
    pub(super) fast_path: FastPath,
    /// The effects of the last task outside the parallel executor.
    pub(super) effects: Effects<F::State>,
}

impl<F: Flow> Driver<F> {
    pub(super) fn new(
        flow: Arc<F>,
        settings: Settings<F::State>,
        plan: Arc<ExecutionPlan>,
        (state, written): (F::State, KeySet),
        services: Option<Arc<TaskServices>>,
    ) -> Self {
        let Settings {
            limit,
            cancel,
            managed,
            namespace,
            thread,
            extras,
        } = settings;
        let timeouts = extras.as_ref().map_or((None, None), |extras| {
            (extras.timeout, extras.superstep_timeout)
        });
        let listener = extras
            .as_ref()
            .and_then(|extras| extras.sink.clone())
            .map(|sink| sink as Arc<dyn Listener>);
        let thread = thread.map_or_else(OnceLock::new, OnceLock::from);
        let watch = Watch::new(cancel.as_ref(), timeouts.0, timeouts.1);
        let shared = RunShared {
            plan,
            managed,
            cancel,
            listener,
            namespace,
            limit,
            thread,
            services,
        };
        Driver {
            watch,
            scope: Scope::new(Arc::new(shared)),
            state: StateCell::new(state),
            effects: Effects::default(),
            flow,
            extras,
            fast_path: FastPath::new(written),
        }
    }

    /// The result of the run.
    pub(super) fn finish(
        &mut self,
        result: Result<(), Abort<F::State>>,
    ) -> Result<F::State, RunError> {
        let state = self.state.take();
        match result {
            Ok(()) => Ok(state),
            Err(abort) => {
                let AbortReason {
                    kind,
                    source,
                    pending,
                    ..
                } = abort.into_reason();
                let barrier = crate::outcome::Barrier { state, pending };
                let superstep = self.scope.superstep;
                let name = self.flow.name();
                Err(RunError::new(kind, name, superstep, source, barrier))
            }
        }
    }

    /// The node at which the fast path begins, if the run can begin on it.
    pub(super) fn fast_entry(&self) -> Option<NodeIdx> {
        if self.is_bare() {
            self.plan().only_fast_target(&self.plan().entry)
        } else {
            None
        }
    }

    /// The rest of a run that has left the fast path.
    pub(super) fn after_fast_path<'r, P: Persistence<F::State>>(
        &'r mut self,
        end: FastPathEnd,
        persistence: &'r mut P,
    ) -> Result<Option<RestOfRun<'r, F>>, Abort<F::State>> {
        let (node, end) = self.finish_fast_path(end)?;
        // Most runs on the fast path end on it.
        if matches!(end, TaskEnd::Done) && self.leads_to_end(node) {
            return Ok(None);
        }
        let mut planner = Planner::new(self.plan());
        let mut frontier = Vec::new();
        self.plan_next(&mut planner, node, &end, &mut frontier)?;
        Ok(Some(self.run_loop(persistence, planner, frontier)))
    }

    /// All of a run that cannot begin on the fast path.
    pub(super) fn run_from_start<'r, P: Persistence<F::State>>(
        &'r mut self,
        persistence: &'r mut P,
    ) -> RestOfRun<'r, F> {
        let mut planner = Planner::new(self.plan());
        let mut frontier = Vec::new();
        planner.start(self.plan(), &mut frontier);
        self.run_loop(persistence, planner, frontier)
    }

    /// Runs superstep after superstep until the frontier is empty.
    pub(super) fn run_loop<'r, P: Persistence<F::State>>(
        &'r mut self,
        persistence: &'r mut P,
        mut planner: Planner,
        mut frontier: Vec<Task>,
    ) -> RestOfRun<'r, F> {
        Box::pin(async move {
            let plan = Arc::clone(&self.scope.shared.plan);
            let bare = self.is_bare();
            let mut executor = ParallelExecutor::new(self, run_task::<F>);
            while !frontier.is_empty() {
                let single = if bare {
                    single_fast_node(&plan, &frontier)
                } else {
                    None
                };
                if P::STORED
                    && let Some(node) = single
                    && persistence.runs_all()
                    && plan.gates.is_empty()
                {
                    self.before_superstep(Some(node), &[]).await?;
                    self.scope.superstep += 1;
                    run_single(self, &mut planner, &mut frontier, persistence, node).await?;
                } else if !P::STORED
                    && let Some(mut node) = single
                {
                    frontier.clear();
                    let end = loop {
                        self.before_superstep(Some(node), &[]).await?;
                        match run_fast_path(self, node).await {
                            FastPathEnd::Before(next) => node = next,
                            end => break end,
                        }
                    };
                    let (node, end) = self.finish_fast_path(end)?;
                    self.plan_next(&mut planner, node, &end, &mut frontier)?;
                } else {
                    self.before_superstep(None, &frontier).await?;
                    self.scope.superstep += 1;
                    self.emit(|| EventKind::SuperstepStarted {
                        nodes: frontier
                            .iter()
                            .map(|task| plan.name(task.node).into())
                            .collect(),
                    });
                    executor
                        .superstep(self, &mut planner, &mut frontier, persistence)
                        .await?;
                }
            }
            all_joins_complete(&plan, &planner)
        })
    }

    /// Handles the way in which the fast path was left. Returns its last node, and how that ended.
    fn finish_fast_path(
        &mut self,
        end: FastPathEnd,
    ) -> Result<(NodeIdx, TaskEnd), Abort<F::State>> {
        match end {
            FastPathEnd::Before(node) | FastPathEnd::After(node) => Ok((node, TaskEnd::Done)),
            FastPathEnd::Failed(node, failure) => {
                let end = handle_failure(
                    self.extras.as_deref(),
                    &self.scope.shared.plan,
                    &self.scope,
                    failure,
                    &mut self.effects,
                )?;
                // The record of the failure, if there is one, is the only write of this superstep.
                let (state, written) = (self.state.get_mut(), &mut self.fast_path.written);
                match commit_one(state, written, &mut self.effects.update) {
                    Ok(()) => Ok((node, end)),
                    Err(error) => Err(Abort::refused(vec![self.plan().name(node).into()], error)),
                }
            }
            FastPathEnd::Stopped(stop) => Err(Abort::stopped(stop)),
            FastPathEnd::Refused(node, error) => {
                Err(Abort::refused(vec![self.plan().name(node).into()], error))
            }
        }
    }

    /// Plans what follows a node of the fast path.
    fn plan_next(
        &mut self,
        planner: &mut Planner,
        node: NodeIdx,
        end: &TaskEnd,
        frontier: &mut Vec<Task>,
    ) -> Result<(), Abort<F::State>> {
        let outcome = std::iter::once((node, end.outcome(&self.effects)));
        let planned = planner.advance(self.plan(), outcome, frontier);
        self.effects.clear();
        planned.map_err(|missing| Abort::new(no_edge(self.plan(), &missing)))
    }

    /// Whether every edge that the node has taken leads to END.
    fn leads_to_end(&self, node: NodeIdx) -> bool {
        let edges = &self.plan().out_edges[node.index()];
        let targets = match self.effects.chosen() {
            RouteChoice::Edges => &edges.plain,
            RouteChoice::One(route) => match edges.routes.get(route as usize) {
                Some(targets) if !targets.is_empty() => targets,
                _ => return false,
            },
            RouteChoice::Many => return false,
        };
        targets.iter().all(|target| *target == EdgeTarget::End)
    }

    pub(super) fn plan(&self) -> &ExecutionPlan {
        &self.scope.shared.plan
    }

    pub(super) fn max_concurrency(&self) -> usize {
        self.extras
            .as_ref()
            .map_or(usize::MAX, |extras| extras.max_concurrency)
    }

    /// Whether nothing surrounds the nodes of this run, so that the fast path may be taken.
    fn is_bare(&self) -> bool {
        let bare = |extras: &Arc<Extras<F::State>>| {
            extras.middleware.is_empty()
                && extras.sink.is_none()
                && extras.superstep_timeout.is_none()
        };
        self.extras.as_ref().is_none_or(bare)
    }

    /// The superstep before which the fast path returns to [`before_superstep`](Self::before_superstep).
    pub(super) fn pause_at(&self) -> u64 {
        self.scope
            .shared
            .limit
            .min((self.scope.superstep / YIELD_INTERVAL + 1) * YIELD_INTERVAL)
    }

    /// Checks between two supersteps whether the run has to stop, and yields now and then. The next superstep runs the
    /// frontier, or the single node.
    pub(super) async fn before_superstep(
        &mut self,
        single: Option<NodeIdx>,
        frontier: &[Task],
    ) -> Result<(), Abort<F::State>> {
        let (superstep, limit) = (self.scope.superstep, self.scope.shared.limit);
        if let Some(stop) = self
            .watch
            .as_mut()
            .and_then(|watch| watch.begin_superstep())
        {
            return Err(Abort::stopped(stop));
        }
        let next = || {
            single
                .into_iter()
                .chain(frontier.iter().map(|task| task.node))
                .map(|node| self.plan().name(node).to_string())
                .collect()
        };
        let cancel = self.scope.shared.cancel.as_ref();
        if superstep > 0 && cancel.is_some_and(CancelToken::is_draining) {
            return Err(Abort::new(RunErrorKind::Drained { next: next() }));
        }
        if superstep >= limit {
            return Err(Abort::new(RunErrorKind::Limit {
                limit,
                next: next(),
            }));
        }
        if superstep > 0 && superstep.is_multiple_of(YIELD_INTERVAL) {
            yield_now(&mut self.watch).await.map_err(Abort::stopped)?;
        }
        Ok(())
    }

    /// Reports to the persistence that no task runs any more. Fails with `result`, or because the run waits for people.
    pub(super) async fn tasks_ended<P: Persistence<F::State>>(
        &mut self,
        persistence: &mut P,
        finished: &[Box<TaskRun<F::State>>],
        result: Result<(), Abort<F::State>>,
    ) -> Result<(), Abort<F::State>> {
        let stopped = result.as_ref().err().map(|abort| Stopped {
            failed: abort.failed_task(),
        });
        let finished = finished.iter().map(|task| task.result());
        // Not through `&self`, which cannot be held across an await: the driver is not `Sync`.
        let Driver {
            scope,
            state,
            fast_path,
            ..
        } = self;
        let committed = Committed {
            state: state.get(),
            written: fast_path.written,
        };
        let stored = persistence
            .tasks_ended(&scope.shared.plan, committed, finished, stopped)
            .await;
        // A failure is the cause; that it could not be stored comes second.
        result?;
        let interrupts = stored.map_err(Abort::of_thread)?;
        if interrupts.is_empty() {
            Ok(())
        } else {
            Err(Abort::interrupted(interrupts))
        }
    }

    /// Reports to the persistence that a superstep was committed. Fails if the run waits for people after one of its nodes.
    pub(super) async fn write_barrier<P: Persistence<F::State>>(
        &mut self,
        persistence: &mut P,
        planner: &Planner,
        frontier: &[Task],
        ended: impl Iterator<Item = NodeIdx> + Clone,
    ) -> Result<(), Abort<F::State>> {
        let gates = if self.plan().gates.is_empty() {
            Vec::new()
        } else {
            gates_after(self, ended)?
        };
        let Driver {
            state,
            fast_path,
            watch,
            scope,
            ..
        } = self;
        let barrier = Barrier {
            plan: &scope.shared.plan,
            planner,
            frontier,
            superstep: scope.superstep,
            committed: Committed {
                state: state.get(),
                written: fast_path.written,
            },
            gates,
        };
        let waits = !barrier.gates.is_empty();
        let due = persistence.barrier_reached(barrier);
        if due.map_err(Abort::of_thread)? {
            let mut written = persistence.write_checkpoint();
            watched(watch, &mut written)
                .await
                .map_err(Abort::stopped)?
                .map_err(|error| Abort::of_thread(error.into()))?;
            drop(written);
            persistence.checkpoint_written();
        }
        self.emit_checkpoint(persistence);
        if waits {
            return Err(Abort::interrupted(persistence.interrupts_after()));
        }
        Ok(())
    }

    pub(super) fn committed(&self) -> Committed<'_, F::State> {
        Committed {
            state: self.state.get(),
            written: self.fast_path.written,
        }
    }

    pub(super) fn emit(&self, kind: impl FnOnce() -> EventKind<F::State>) {
        if let Some(sink) = self.extras.as_ref().and_then(|extras| extras.sink.as_ref()) {
            sink.send(Event {
                namespace: self.scope.shared.namespace.clone(),
                superstep: self.scope.superstep,
                task: None,
                kind: kind(),
            });
        }
    }

    /// Emits a copy of the state, if a listener wants it.
    pub(super) fn emit_values(&self) {
        if let Some(copy) = self.extras.as_ref().and_then(|extras| extras.copy_state) {
            self.emit(|| EventKind::Values {
                state: copy(self.state.get()),
            });
        }
    }

    /// Emits the checkpoint that was just written, if there is one.
    pub(super) fn emit_checkpoint<P: Persistence<F::State>>(&self, persistence: &mut P) {
        if let Some(checkpoint) = persistence.take_checkpoint() {
            self.emit(|| EventKind::Checkpoint { checkpoint });
        }
    }
}

/// The only node of the frontier, if the fast path can run it.
fn single_fast_node(plan: &ExecutionPlan, frontier: &[Task]) -> Option<NodeIdx> {
    match frontier {
        [
            Task {
                node,
                delivery: None,
                ..
            },
        ] if plan.out_edges[node.index()].fast => Some(*node),
        _ => None,
    }
}

/// Fails if a join still waits for one of its sides at the end of the run.
fn all_joins_complete<S: State>(plan: &ExecutionPlan, planner: &Planner) -> Result<(), Abort<S>> {
    let targets = |join: JoinIdx| {
        plan.joins[join.index()]
            .out
            .iter()
            .map(|target| match target {
                EdgeTarget::Node(node) | EdgeTarget::Each(node) => plan.name(*node).to_string(),
                EdgeTarget::Join { .. } | EdgeTarget::End => "END".to_string(),
            })
    };
    let waiting: Vec<String> = planner.waiting().flat_map(targets).collect();
    if waiting.is_empty() {
        Ok(())
    } else {
        Err(Abort::new(RunErrorKind::IncompleteJoin { waiting }))
    }
}
