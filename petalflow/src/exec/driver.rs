//! The superstep loop.

use std::sync::{Arc, OnceLock};

use super::abort::{Abort, AbortReason};
use super::fast_path::{FastPathEnd, lane};
use super::handle_failure::handle_failure;
use super::parallel::{ParallelExecutor, TaskEnd, run_job};
use super::persistence::{NoPersistence, Persistence};
use super::single::alone;
use super::watch::{Watch, yield_now};
use super::{Extras, Settings};
use crate::cancel_token::CancelToken;
use crate::event::{Event, EventKind, Listener};
use crate::flow::{FastPath, Flow};
use crate::future::BoxFuture;
use crate::node::{Effects, RouteChoice, RunShared, Scope};
use crate::outcome::{Barrier, RunError, RunErrorKind};
use crate::plan::{EdgeTarget, ExecutionPlan};
use crate::state::{KeySet, WriteError};
use crate::superstep::{NoEdge, Planner, Task, commit_one};
use crate::task_services::TaskServices;

/// A run of many supersteps without a wait lets other tasks run after this many.
const YIELD_INTERVAL: u64 = 128;

/// What is left of a run.
type Rest<'r, F> = BoxFuture<'r, Result<(), Abort<<F as Flow>::State>>>;

/// A run between two supersteps.
pub(crate) struct Driver<F: Flow> {
    pub(crate) flow: Arc<F>,
    pub(crate) extras: Option<Arc<Extras<F::State>>>,
    pub(crate) watch: Option<Box<Watch>>,
    /// The last task of the fast path; its superstep is the run's.
    pub(crate) scope: Scope,
    /// At home, except during a fork.
    pub(crate) state: Option<F::State>,
    pub(crate) lane: FastPath,
    /// What the last task of the fast path did.
    pub(crate) effects: Effects<F::State>,
}
impl<F: Flow> Driver<F> {
    pub(crate) fn new(
        flow: Arc<F>,
        settings: Settings<F::State>,
        plan: Arc<ExecutionPlan>,
        state: F::State,
        written: KeySet,
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
            services: None,
        };
        Driver {
            watch,
            scope: Scope::new(Arc::new(shared)),
            state: Some(state),
            effects: Effects::default(),
            flow,
            extras,
            lane: FastPath::new(written),
        }
    }

    /// Goes on after a superstep of a stored run. To be called before anything runs.
    pub(crate) fn begin_at(&mut self, superstep: u64, services: Arc<TaskServices>) {
        self.scope.superstep = superstep;
        if let Some(shared) = Arc::get_mut(&mut self.scope.shared) {
            shared.services = Some(services);
        }
    }

    /// What the run comes to.
    pub(crate) fn end(
        &mut self,
        result: Result<(), Abort<F::State>>,
    ) -> Result<F::State, RunError> {
        let state = self
            .state
            .take()
            .expect("the state is at home when a run ends");
        match result {
            Ok(()) => Ok(state),
            Err(abort) => {
                let AbortReason {
                    kind,
                    source,
                    pending,
                    ..
                } = abort.into_cause();
                let barrier = Barrier { state, pending };
                let superstep = self.scope.superstep;
                let name = self.flow.name();
                Err(RunError::new(kind, name, superstep, source, barrier))
            }
        }
    }

    /// Where the fast path begins, if it can.
    pub(crate) fn entry(&self) -> Option<u32> {
        if self.is_bare() {
            self.plan().only_fast_target(&self.plan().entry)
        } else {
            None
        }
    }

    /// What is left to run where the fast path was left.
    pub(crate) fn after(
        &mut self,
        end: FastPathEnd,
    ) -> Result<Option<Rest<'_, F>>, Abort<F::State>> {
        let (node, job) = self.settle(end)?;
        // Most runs on the fast path end on it.
        if matches!(job, TaskEnd::Done) && self.ends(node) {
            return Ok(None);
        }
        let mut planner = Planner::new(self.plan());
        let mut frontier = Vec::new();
        self.advance(&mut planner, node, &job, &mut frontier)?;
        Ok(Some(self.general(NoPersistence, planner, frontier)))
    }

    /// All of a run whose first superstep needs what a chain or a loop does without.
    pub(crate) fn all(&mut self) -> Rest<'_, F> {
        let mut planner = Planner::new(self.plan());
        let mut frontier = Vec::new();
        planner.start(self.plan(), &mut frontier);
        self.general(NoPersistence, planner, frontier)
    }

    /// Runs on with all that a chain or a loop does without; boxed, so that those do not carry it.
    pub(crate) fn general<'r, L: Persistence<F> + 'r>(
        &'r mut self,
        mut persistence: L,
        mut planner: Planner,
        mut frontier: Vec<Task>,
    ) -> Rest<'r, F> {
        Box::pin(async move {
            let plan = Arc::clone(&self.scope.shared.plan);
            let bare = self.is_bare();
            let mut executor = ParallelExecutor::new(self, run_job::<F, L>);
            while !frontier.is_empty() {
                let lone = if bare { lone(&plan, &frontier) } else { None };
                if L::STORED
                    && let Some(node) = lone
                    && persistence.simply_runs(self)
                {
                    self.go_on(Some(node), &[]).await?;
                    self.scope.superstep += 1;
                    alone(self, &mut planner, &mut frontier, &mut persistence, node).await?;
                } else if !L::STORED
                    && let Some(mut node) = lone
                {
                    frontier.clear();
                    let end = loop {
                        self.go_on(Some(node), &[]).await?;
                        match lane(self, node).await {
                            FastPathEnd::Before(next) => node = next,
                            end => break end,
                        }
                    };
                    let (node, job) = self.settle(end)?;
                    self.advance(&mut planner, node, &job, &mut frontier)?;
                } else {
                    self.go_on(None, &frontier).await?;
                    self.scope.superstep += 1;
                    self.tell(|| EventKind::SuperstepStarted {
                        nodes: frontier
                            .iter()
                            .map(|task| plan.name(task.node).into())
                            .collect(),
                    });
                    executor
                        .superstep(self, &mut planner, &mut frontier, &mut persistence)
                        .await?;
                }
            }
            let waiting: Vec<String> = planner
                .waiting()
                .flat_map(|join| join_targets(&plan, join))
                .collect();
            if waiting.is_empty() {
                Ok(())
            } else {
                Err(Abort::new(RunErrorKind::IncompleteJoin { waiting }))
            }
        })
    }

    /// What became of the last node of the fast path.
    fn settle(&mut self, end: FastPathEnd) -> Result<(u32, TaskEnd), Abort<F::State>> {
        match end {
            FastPathEnd::Before(node) | FastPathEnd::After(node) => Ok((node, TaskEnd::Done)),
            FastPathEnd::Failed(node, failure) => {
                let job = handle_failure(
                    self.extras.as_deref(),
                    &self.scope.shared.plan,
                    &self.scope,
                    failure,
                    &mut self.effects,
                )?;
                // Only the record of a failure that the run survives: it is the one write of this superstep.
                let state = self
                    .state
                    .as_mut()
                    .expect("the state is at home between forks");
                match commit_one(state, &mut self.lane.written, &mut self.effects.update) {
                    Ok(()) => Ok((node, job)),
                    Err(error) => Err(self.refused(node, error)),
                }
            }
            FastPathEnd::Stopped(stop) => Err(Abort::new(stop.into())),
            FastPathEnd::Refused(node, error) => Err(self.refused(node, error)),
        }
    }

    /// Plans what follows a node of the fast path.
    fn advance(
        &mut self,
        planner: &mut Planner,
        node: u32,
        job: &TaskEnd,
        frontier: &mut Vec<Task>,
    ) -> Result<(), Abort<F::State>> {
        let planned = planner.advance(
            self.plan(),
            std::iter::once((node, job.outcome(&self.effects))),
            frontier,
        );
        self.effects.clear();
        planned.map_err(|missing| Abort::new(self.no_edge(&missing)))
    }

    /// Whether all that follows the node is END.
    fn ends(&self, node: u32) -> bool {
        let ways = &self.plan().out_edges[node as usize];
        let targets = match self.effects.chosen() {
            RouteChoice::Edges => &ways.plain,
            RouteChoice::One(route) => match ways.routes.get(route as usize) {
                Some(targets) if !targets.is_empty() => targets,
                _ => return false,
            },
            RouteChoice::Many => return false,
        };
        targets.iter().all(|target| *target == EdgeTarget::End)
    }

    pub(crate) fn plan(&self) -> &ExecutionPlan {
        &self.scope.shared.plan
    }

    pub(crate) fn max_concurrency(&self) -> usize {
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

    /// Where the fast path stops to look around.
    pub(crate) fn pause(&self) -> u64 {
        self.scope
            .shared
            .limit
            .min((self.scope.superstep / YIELD_INTERVAL + 1) * YIELD_INTERVAL)
    }

    /// Between two supersteps: what may stop the run here, and a breath now and then.
    pub(crate) async fn go_on(
        &mut self,
        single: Option<u32>,
        frontier: &[Task],
    ) -> Result<(), Abort<F::State>> {
        let (superstep, limit) = (self.scope.superstep, self.scope.shared.limit);
        if let Some(stop) = self
            .watch
            .as_mut()
            .and_then(|watch| watch.begin_superstep())
        {
            return Err(Abort::new(stop.into()));
        }
        let next = || {
            single
                .into_iter()
                .chain(frontier.iter().map(|task| task.node))
                .map(|node| self.plan().name(node).to_string())
                .collect()
        };
        if superstep > 0
            && self
                .scope
                .shared
                .cancel
                .as_ref()
                .is_some_and(CancelToken::is_draining)
        {
            return Err(Abort::new(RunErrorKind::Drained { next: next() }));
        }
        if superstep >= limit {
            return Err(Abort::new(RunErrorKind::Limit {
                limit,
                next: next(),
            }));
        }
        if superstep > 0 && superstep.is_multiple_of(YIELD_INTERVAL) {
            yield_now(&mut self.watch)
                .await
                .map_err(|stop| Abort::new(stop.into()))?;
        }
        Ok(())
    }

    pub(crate) fn tell(&self, kind: impl FnOnce() -> EventKind<F::State>) {
        if let Some(sink) = self.extras.as_ref().and_then(|extras| extras.sink.as_ref()) {
            sink.send(Event {
                namespace: self.scope.shared.namespace.clone(),
                superstep: self.scope.superstep,
                task: None,
                kind: kind(),
            });
        }
    }

    /// Tells the state, if somebody wants it.
    pub(crate) fn tell_values(&self) {
        let copy = self.extras.as_ref().and_then(|extras| extras.values);
        if let (Some(copy), Some(state)) = (copy, &self.state) {
            self.tell(|| EventKind::Values { state: copy(state) });
        }
    }

    pub(crate) fn no_edge(&self, missing: &NoEdge) -> RunErrorKind {
        let route = self.plan().routes[missing.node as usize]
            .get(missing.route as usize)
            .copied()
            .unwrap_or_default();
        RunErrorKind::NoEdge {
            node: self.plan().name(missing.node).into(),
            route: route.into(),
        }
    }

    fn refused(&self, node: u32, error: WriteError) -> Abort<F::State> {
        Abort::refused(vec![self.plan().name(node).to_string()], error)
    }
}
/// The node that alone runs next, if the fast path can take it.
fn lone(plan: &ExecutionPlan, frontier: &[Task]) -> Option<u32> {
    match frontier {
        [
            Task {
                node,
                delivery: None,
                ..
            },
        ] if plan.out_edges[*node as usize].fast => Some(*node),
        _ => None,
    }
}
fn join_targets(plan: &ExecutionPlan, join: usize) -> impl Iterator<Item = String> {
    plan.joins[join].out.iter().map(|target| match target {
        EdgeTarget::Node(node) | EdgeTarget::Each(node) => plan.name(*node).to_string(),
        EdgeTarget::Join { .. } | EdgeTarget::End => "END".to_string(),
    })
}
