//! The superstep loop.

use std::sync::{Arc, OnceLock};

use super::alone::alone;
use super::broken::{Broken, Cause};
use super::fork::{Crew, JobEnd, run_job};
use super::guard::{Failure, Watch, breathe};
use super::lane::{Lane, LaneEnd, lane};
use super::ledger::{Ledger, Nothing};
use super::stored::{Command, Desk};
use super::{Begin, CancelToken, Extras, Settings, Shared, Start};
use crate::error::Barrier;
use crate::event::{Event, EventKind, Listener};
use crate::flow::{Hop, Wiring};
use crate::middleware::{About, BoxFuture, RunNext};
use crate::node::{Chosen, Delivery, Effects, Requirements, Scope};
use crate::superstep::{NoEdge, Planner, Task, commit_one};
use crate::thread::ThreadError;
use crate::{Flow, KeyMeta, KeySet, NodeError, RunError, RunErrorKind, State, Trait, WriteError};

/// A run of many supersteps without a wait lets other tasks run after this many.
const BREATH: u64 = 128;

/// What is left of a run.
type Rest<'r, F> = BoxFuture<'r, Result<(), Broken<<F as Flow>::State>>>;

/// A run between two supersteps.
pub(crate) struct Engine<F: Flow> {
    pub(super) flow: Arc<F>,
    pub(super) extras: Option<Arc<Extras<F::State>>>,
    pub(super) watch: Option<Box<Watch>>,
    /// The last task of the fast path; its superstep is the run's.
    pub(super) scope: Scope,
    /// At home, except during a fork.
    pub(super) state: Option<F::State>,
    pub(super) lane: Lane,
    /// What the last task of the fast path did.
    pub(super) effects: Effects<F::State>,
}

/// The whole run, from its input to its end, with the middleware around it.
pub(crate) fn drive<F: Flow>(start: Start<F>) -> BoxFuture<'static, Result<F::State, RunError>> {
    let extras = start
        .settings
        .extras
        .clone()
        .filter(|extras| !extras.run_middleware.is_empty());
    let Some(extras) = extras else {
        return engage(start);
    };
    Box::pin(async move {
        let Start {
            flow,
            settings,
            begin,
        } = start;
        // A thread that goes on has no input.
        let (input, stored) = match begin {
            Begin::Input(input) => (Some(input), None),
            Begin::Stored(mut stored, engage) => {
                let input = stored.command.take_input();
                (input, Some((stored, engage)))
            }
        };
        let about = About {
            flow: flow.name().to_string(),
            thread: stored
                .as_ref()
                .map(|(stored, _)| Arc::clone(&stored.archive.thread)),
        };
        let next = RunNext::new(&extras.run_middleware, &about, |input| {
            let begin = match (input, stored) {
                (Some(input), None) => Begin::Input(input),
                (Some(input), Some((mut stored, engage))) => {
                    stored.command = Command::Input(input);
                    Begin::Stored(stored, engage)
                }
                (None, Some((stored, engage))) => Begin::Stored(stored, engage),
                (None, None) => {
                    let problem = "a run that is not a thread's needs an input; its middleware passed none on";
                    let error = ThreadError::Request(problem.into());
                    let error = RunError::of_thread(error, &about.flow);
                    return Box::pin(std::future::ready(Err(error)));
                }
            };
            engage(Start {
                flow,
                settings,
                begin,
            })
        });
        next.run(input).await
    })
}

/// The run itself.
fn engage<F: Flow>(start: Start<F>) -> BoxFuture<'static, Result<F::State, RunError>> {
    let Start {
        flow,
        mut settings,
        begin,
    } = start;
    let wiring = flow.wiring();
    let mut missing = missing(&*flow, &settings, &wiring);
    if let Some(managed) = &settings.managed {
        if matches!(begin, Begin::Stored(..)) {
            missing.retain(|name| !managed.makes(name));
        }
        if let Some(own) = managed.for_run() {
            settings.managed = Some(Arc::new(own));
        }
    }
    if !missing.is_empty() {
        let error = RunError::bare(RunErrorKind::MissingManaged(missing), flow.name(), 0);
        return Box::pin(std::future::ready(Err(error)));
    }
    // Made here and not inside: a future keeps its arguments beside what is made of them.
    let input = match begin {
        Begin::Input(input) => input,
        Begin::Stored(stored, engage) => return engage(flow, settings, stored),
    };
    if !wiring.gates.is_empty() {
        return Box::pin(std::future::ready(Err(unstored_gates(&*flow))));
    }
    let (state, written) = F::State::start(input);
    let mut engine = Engine::new(flow, settings, wiring, state, written);
    Box::pin(async move {
        engine.tell(|| EventKind::RunStarted);
        if has_input::<F::State>() {
            engine.tell_values();
        }
        // Here and not in a method: a future of that would keep a pointer to the engine in every run in flight.
        let result = match engine.entry() {
            None => engine.all().await,
            Some(mut node) => loop {
                if let Err(broken) = engine.go_on(Some(node), &[]).await {
                    break Err(broken);
                }
                match lane(&mut engine, node).await {
                    LaneEnd::Before(next) => node = next,
                    end => match engine.after(end) {
                        Ok(None) => break Ok(()),
                        Ok(Some(rest)) => break rest.await,
                        Err(broken) => break Err(broken),
                    },
                }
            },
        };
        engine.end(result)
    })
}

/// What the nodes need from the run and it does not have.
fn missing<F: Flow>(flow: &F, settings: &Settings<F::State>, wiring: &Wiring) -> Vec<&'static str> {
    let missing = |managed| {
        let mut requirements = Requirements::new(managed);
        flow.require(&mut requirements);
        requirements.into_missing()
    };
    // What nodes need does not change: where it was nothing once, there is nothing to ask each of them in every run.
    if *wiring.needs.get_or_init(|| !missing(None).is_empty()) {
        missing(settings.managed.as_deref())
    } else {
        Vec::new()
    }
}

/// A run that stops to ask needs a thread to wait on.
fn unstored_gates<F: Flow>(flow: &F) -> RunError {
    let problem = format!(
        "`{}` stops at an `interrupt`, and the run has no thread to wait on: launch it with `.store(&store).thread(id)`",
        flow.name()
    );
    RunError::of_thread(ThreadError::Request(problem), flow.name())
}

impl<F: Flow> Engine<F> {
    pub(super) fn new(
        flow: Arc<F>,
        settings: Settings<F::State>,
        wiring: Arc<Wiring>,
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
        let shared = Shared {
            wiring,
            managed,
            cancel,
            listener,
            namespace,
            limit,
            thread,
            desk: None,
        };
        Engine {
            watch,
            scope: Scope::new(Arc::new(shared)),
            state: Some(state),
            effects: Effects::default(),
            flow,
            extras,
            lane: Lane::new(written),
        }
    }

    /// Goes on after a superstep of a stored run. To be called before anything runs.
    pub(super) fn begin_at(&mut self, superstep: u64, desk: Arc<Desk>) {
        self.scope.superstep = superstep;
        if let Some(shared) = Arc::get_mut(&mut self.scope.shared) {
            shared.desk = Some(desk);
        }
    }

    /// What the run comes to.
    pub(super) fn end(
        &mut self,
        result: Result<(), Broken<F::State>>,
    ) -> Result<F::State, RunError> {
        let state = self
            .state
            .take()
            .expect("the state is at home when a run ends");
        match result {
            Ok(()) => Ok(state),
            Err(broken) => {
                let Cause {
                    kind,
                    source,
                    pending,
                    ..
                } = broken.into_cause();
                let barrier = Barrier { state, pending };
                let superstep = self.scope.superstep;
                let name = self.flow.name();
                Err(RunError::new(kind, name, superstep, source, barrier))
            }
        }
    }

    /// Where the fast path begins, if it can.
    fn entry(&self) -> Option<u32> {
        if self.is_bare() {
            self.wiring().lone(&self.wiring().entry)
        } else {
            None
        }
    }

    /// What is left to run where the fast path was left.
    fn after(&mut self, end: LaneEnd) -> Result<Option<Rest<'_, F>>, Broken<F::State>> {
        let (node, job) = self.settle(end)?;
        // Most runs on the fast path end on it.
        if matches!(job, JobEnd::Done) && self.ends(node) {
            return Ok(None);
        }
        let mut planner = Planner::new(self.wiring());
        let mut frontier = Vec::new();
        self.plan(&mut planner, node, &job, &mut frontier)?;
        Ok(Some(self.general(Nothing, planner, frontier)))
    }

    /// All of a run whose first superstep needs what a chain or a loop does without.
    fn all(&mut self) -> Rest<'_, F> {
        let mut planner = Planner::new(self.wiring());
        let mut frontier = Vec::new();
        planner.start(self.wiring(), &mut frontier);
        self.general(Nothing, planner, frontier)
    }

    /// Runs on with all that a chain or a loop does without; boxed, so that those do not carry it.
    pub(super) fn general<'r, L: Ledger<F> + 'r>(
        &'r mut self,
        mut ledger: L,
        mut planner: Planner,
        mut frontier: Vec<Task>,
    ) -> Rest<'r, F> {
        Box::pin(async move {
            let wiring = Arc::clone(&self.scope.shared.wiring);
            let bare = self.is_bare();
            let mut crew = Crew::new(self, run_job::<F, L>);
            while !frontier.is_empty() {
                let lone = if bare { lone(&wiring, &frontier) } else { None };
                if L::STORED
                    && let Some(node) = lone
                    && ledger.simply_runs(self)
                {
                    self.go_on(Some(node), &[]).await?;
                    self.scope.superstep += 1;
                    alone(self, &mut planner, &mut frontier, &mut ledger, node).await?;
                } else if !L::STORED
                    && let Some(mut node) = lone
                {
                    frontier.clear();
                    let end = loop {
                        self.go_on(Some(node), &[]).await?;
                        match lane(self, node).await {
                            LaneEnd::Before(next) => node = next,
                            end => break end,
                        }
                    };
                    let (node, job) = self.settle(end)?;
                    self.plan(&mut planner, node, &job, &mut frontier)?;
                } else {
                    self.go_on(None, &frontier).await?;
                    self.scope.superstep += 1;
                    self.tell(|| EventKind::SuperstepStarted {
                        nodes: frontier
                            .iter()
                            .map(|task| wiring.name(task.node).into())
                            .collect(),
                    });
                    crew.superstep(self, &mut planner, &mut frontier, &mut ledger)
                        .await?;
                }
            }
            let waiting: Vec<String> = planner
                .waiting()
                .flat_map(|join| join_targets(&wiring, join))
                .collect();
            if waiting.is_empty() {
                Ok(())
            } else {
                Err(Broken::new(RunErrorKind::StrandedJoin { waiting }))
            }
        })
    }

    /// What became of the last node of the fast path.
    fn settle(&mut self, end: LaneEnd) -> Result<(u32, JobEnd), Broken<F::State>> {
        match end {
            LaneEnd::Before(node) | LaneEnd::After(node) => Ok((node, JobEnd::Done)),
            LaneEnd::Failed(node, failure) => {
                let job = survive(
                    self.extras.as_deref(),
                    &self.scope.shared.wiring,
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
            LaneEnd::Stopped(stop) => Err(Broken::new(stop.into())),
            LaneEnd::Refused(node, error) => Err(self.refused(node, error)),
        }
    }

    /// Plans what follows a node of the fast path.
    fn plan(
        &mut self,
        planner: &mut Planner,
        node: u32,
        job: &JobEnd,
        frontier: &mut Vec<Task>,
    ) -> Result<(), Broken<F::State>> {
        let planned = planner.advance(
            self.wiring(),
            std::iter::once((node, job.outcome(&self.effects))),
            frontier,
        );
        self.effects.clear();
        planned.map_err(|missing| Broken::new(self.no_edge(&missing)))
    }

    /// Whether all that follows the node is END.
    fn ends(&self, node: u32) -> bool {
        let ways = &self.wiring().ways[node as usize];
        let hops = match self.effects.chosen() {
            Chosen::Edges => &ways.plain,
            Chosen::One(route) => match ways.routes.get(route as usize) {
                Some(hops) if !hops.is_empty() => hops,
                _ => return false,
            },
            Chosen::Many => return false,
        };
        hops.iter().all(|hop| *hop == Hop::End)
    }

    pub(super) fn wiring(&self) -> &Wiring {
        &self.scope.shared.wiring
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

    /// Where the fast path stops to look around.
    pub(super) fn pause(&self) -> u64 {
        self.scope
            .shared
            .limit
            .min((self.scope.superstep / BREATH + 1) * BREATH)
    }

    /// Between two supersteps: what may stop the run here, and a breath now and then.
    async fn go_on(
        &mut self,
        single: Option<u32>,
        frontier: &[Task],
    ) -> Result<(), Broken<F::State>> {
        let (superstep, limit) = (self.scope.superstep, self.scope.shared.limit);
        if let Some(stop) = self
            .watch
            .as_mut()
            .and_then(|watch| watch.begin_superstep())
        {
            return Err(Broken::new(stop.into()));
        }
        let next = || {
            single
                .into_iter()
                .chain(frontier.iter().map(|task| task.node))
                .map(|node| self.wiring().name(node).to_string())
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
            return Err(Broken::new(RunErrorKind::Drained { next: next() }));
        }
        if superstep >= limit {
            return Err(Broken::new(RunErrorKind::Limit {
                limit,
                next: next(),
            }));
        }
        if superstep > 0 && superstep.is_multiple_of(BREATH) {
            breathe(&mut self.watch)
                .await
                .map_err(|stop| Broken::new(stop.into()))?;
        }
        Ok(())
    }

    pub(super) fn tell(&self, kind: impl FnOnce() -> EventKind<F::State>) {
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
    pub(super) fn tell_values(&self) {
        let copy = self.extras.as_ref().and_then(|extras| extras.values);
        if let (Some(copy), Some(state)) = (copy, &self.state) {
            self.tell(|| EventKind::Values { state: copy(state) });
        }
    }

    pub(super) fn no_edge(&self, missing: &NoEdge) -> RunErrorKind {
        let route = self.wiring().routes[missing.node as usize]
            .get(missing.route as usize)
            .copied()
            .unwrap_or_default();
        RunErrorKind::NoEdge {
            node: self.wiring().name(missing.node).into(),
            route: route.into(),
        }
    }

    fn refused(&self, node: u32, error: WriteError) -> Broken<F::State> {
        Broken::refused(vec![self.wiring().name(node).to_string()], error)
    }
}

/// What becomes of a failed task: its `catch` edge, a record, or the end of the run.
pub(super) fn survive<S: State>(
    extras: Option<&Extras<S>>,
    wiring: &Wiring,
    scope: &Scope,
    failure: Failure,
    effects: &mut Effects<S>,
) -> Result<JobEnd, Broken<S>> {
    let error: NodeError = failure.describe(scope);
    effects.clear();
    // What fails because the run is cancelled, such as a flow inside it, is not the reason why it stops.
    if scope
        .shared
        .cancel
        .as_ref()
        .is_some_and(CancelToken::is_cancelled)
    {
        return Err(Broken::new(RunErrorKind::Cancelled));
    }
    if let Some(to) = wiring.ways[scope.node as usize].catch {
        return Ok(JobEnd::Caught {
            to,
            failure: Delivery::one(error),
        });
    }
    if let Some(record) = extras.and_then(|extras| extras.record) {
        record(error, &mut effects.update);
        return Ok(JobEnd::Ignored);
    }
    let task = scope.shared.desk.is_some().then(|| scope.task_id());
    Err(Broken::of_node(error, failure.into_source(), task))
}

/// The node that alone runs next, if the fast path can take it.
fn lone(wiring: &Wiring, frontier: &[Task]) -> Option<u32> {
    match frontier {
        [
            Task {
                node,
                delivery: None,
                ..
            },
        ] if wiring.ways[*node as usize].quick => Some(*node),
        _ => None,
    }
}

/// Whether a run is given anything; the state of one that is not holds nothing before its first superstep.
pub(super) fn has_input<S: State>() -> bool {
    !const { KeyMeta::set(S::KEYS, Trait::Input) }.is_empty()
}

fn join_targets(wiring: &Wiring, join: usize) -> impl Iterator<Item = String> {
    wiring.joins[join].out.iter().map(|hop| match hop {
        Hop::Node(node) | Hop::Each(node) => wiring.name(*node).to_string(),
        Hop::Join { .. } | Hop::End => "END".to_string(),
    })
}
