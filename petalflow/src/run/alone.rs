//! A superstep of one task, of a run that is written down.

use std::future::poll_fn;
use std::pin::pin;

use super::broken::Broken;
use super::drive::{Engine, survive};
use super::fork::{Job, JobEnd};
use super::ledger::Ledger;
use crate::flow::{Flow, Step, follow};
use crate::future::poll_once;
use crate::superstep::{Planner, Task, apply, prepare};

/// Runs a node that nothing surrounds as a superstep of its own, commits it, plans the next frontier and writes the barrier
/// down: what a fork does, without what it takes to run many.
pub(super) async fn alone<F: Flow, L: Ledger<F>>(
    engine: &mut Engine<F>,
    planner: &mut Planner,
    frontier: &mut Vec<Task>,
    ledger: &mut L,
    node: u32,
) -> Result<(), Broken<F::State>> {
    frontier.clear();
    let mut end = JobEnd::Done;
    let result = {
        let Engine {
            flow,
            watch,
            scope,
            state,
            lane,
            effects,
            ..
        } = &mut *engine;
        let Some(state) = &*state else {
            unreachable!("the state is at home between forks")
        };
        scope.node = node;
        let scope = &*scope;
        let mut step = Step::task(scope, state, effects);
        let mut once = pin!(flow.step(node, &mut step));
        let once = pin!(poll_fn(move |cx| poll_once(once.as_mut(), cx)));
        let task = (scope.superstep, node, None);
        let task = pin!(L::attend(&scope.shared, task, &mut end, once));
        ledger
            .only(watch, &scope.shared, (state, &lane.written), task)
            .await
    };
    let result = match result {
        Ok(Ok(())) => Ok(()),
        Ok(Err(failure)) => survive(
            engine.extras.as_deref(),
            &engine.scope.shared.plan,
            &engine.scope,
            failure,
            &mut engine.effects,
        )
        .map(|survived| end = survived),
        Err(broken) => Err(broken),
    };
    let parked = matches!(end, JobEnd::Parked);
    if parked || result.is_err() || !ledger.is_quiet(engine) {
        let effects = std::mem::take(&mut engine.effects);
        let job = Box::new(Job::of(engine.scope.clone(), effects, end));
        // One that waits, or has failed, has left nothing.
        let left = if parked || result.is_err() {
            &[]
        } else {
            std::slice::from_ref(&job)
        };
        let kept = ledger.keep(engine, left, &result).await;
        (engine.effects, end) = job.into_parts();
        result.and(kept)?;
    }
    let Engine {
        scope,
        state,
        lane,
        effects,
        ..
    } = &mut *engine;
    let Some(state) = state else {
        unreachable!("the state is at home between forks")
    };
    let overwritten = match prepare(state, std::iter::once(&effects.update)) {
        Ok(overwritten) => overwritten,
        Err(error) => {
            let name = scope.node().to_string();
            let left = vec![(name.clone(), std::mem::take(&mut effects.update))];
            return Err(Broken::refused(vec![name], error).beside(left));
        }
    };
    // Whatever can be refused is, before the state moves on: it would be stored with the tasks that led to it.
    let plan = &scope.shared.plan;
    let next = if matches!(end, JobEnd::Done) {
        follow(plan, node, effects)
    } else {
        None
    };
    if let Some(next) = next {
        // Neither a join nor what is deferred has to do with it.
        frontier.push(Task::plain(next));
    } else {
        let outcome = std::iter::once((node, end.outcome(effects)));
        if let Err(missing) = planner.advance(plan, outcome, frontier) {
            return Err(Broken::new(engine.no_edge(&missing)));
        }
    }
    ledger.absorb(std::iter::once(&effects.update), overwritten)?;
    let updates = std::iter::once(&mut effects.update);
    apply(state, &mut lane.written, overwritten, updates);
    effects.clear();
    ledger.record(engine, &[], planner, frontier).await
}
