//! A superstep of one task, of a run that is written down.

use std::future::poll_fn;
use std::pin::pin;

use super::abort::Abort;
use super::driver::Driver;
use super::handle_failure::handle_failure;
use super::parallel::{TaskEnd, TaskRun};
use super::persistence::Persistence;
use crate::flow::{Flow, Step, follow};
use crate::future::poll_once;
use crate::superstep::{Planner, Task, apply, prepare};

/// Runs a node that nothing surrounds as a superstep of its own, commits it, plans the next frontier and writes the barrier
/// down: what a fork does, without what it takes to run many.
pub(crate) async fn alone<F: Flow, L: Persistence<F>>(
    driver: &mut Driver<F>,
    planner: &mut Planner,
    frontier: &mut Vec<Task>,
    persistence: &mut L,
    node: u32,
) -> Result<(), Abort<F::State>> {
    frontier.clear();
    let mut end = TaskEnd::Done;
    let result = {
        let Driver {
            flow,
            watch,
            scope,
            state,
            lane,
            effects,
            ..
        } = &mut *driver;
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
        persistence
            .only(watch, &scope.shared, (state, &lane.written), task)
            .await
    };
    let result = match result {
        Ok(Ok(())) => Ok(()),
        Ok(Err(failure)) => handle_failure(
            driver.extras.as_deref(),
            &driver.scope.shared.plan,
            &driver.scope,
            failure,
            &mut driver.effects,
        )
        .map(|survived| end = survived),
        Err(abort) => Err(abort),
    };
    let parked = matches!(end, TaskEnd::Parked);
    if parked || result.is_err() || !persistence.is_quiet(driver) {
        let effects = std::mem::take(&mut driver.effects);
        let job = Box::new(TaskRun::of(driver.scope.clone(), effects, end));
        // One that waits, or has failed, has left nothing.
        let left = if parked || result.is_err() {
            &[]
        } else {
            std::slice::from_ref(&job)
        };
        let kept = persistence.keep(driver, left, &result).await;
        (driver.effects, end) = job.into_parts();
        result.and(kept)?;
    }
    let Driver {
        scope,
        state,
        lane,
        effects,
        ..
    } = &mut *driver;
    let Some(state) = state else {
        unreachable!("the state is at home between forks")
    };
    let overwritten = match prepare(state, std::iter::once(&effects.update)) {
        Ok(overwritten) => overwritten,
        Err(error) => {
            let name = scope.node().to_string();
            let left = vec![(name.clone(), std::mem::take(&mut effects.update))];
            return Err(Abort::refused(vec![name], error).beside(left));
        }
    };
    // Whatever can be refused is, before the state moves on: it would be stored with the tasks that led to it.
    let plan = &scope.shared.plan;
    let next = if matches!(end, TaskEnd::Done) {
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
            return Err(Abort::new(driver.no_edge(&missing)));
        }
    }
    persistence.absorb(std::iter::once(&effects.update), overwritten)?;
    let updates = std::iter::once(&mut effects.update);
    apply(state, &mut lane.written, overwritten, updates);
    effects.clear();
    persistence.record(driver, &[], planner, frontier).await
}
