//! How a run begins: run middleware, managed values, and the choice between a stored and an unstored run.

use std::pin::pin;
use std::sync::Arc;

use super::run_loop::run_from_start;
use super::stored_run::StoredRun;
use crate::cancel_token::RunToken;
use crate::erased::{InputBox, StateBox, apply_input, begin_turn};
use crate::event::AnyEventKind;
use crate::exec::Settings;
use crate::exec::control::abort::catch_abort;
use crate::exec::control::runtime::check_runtime;
use crate::exec::supersteps::driver::Driver;
use crate::flow::AnyFlow;
use crate::future::BoxFuture;
use crate::middleware::{About, AnyRunNext};
use crate::node::Requirements;
use crate::outcome::{RunError, RunErrorKind, ThreadError};
use crate::plan::ExecutionPlan;
use crate::state::KeySet;

/// A run that has not begun yet.
pub(crate) struct Start {
    pub(crate) flow: Arc<dyn AnyFlow>,
    pub(crate) settings: Settings,
    pub(crate) begin: Begin,
}

/// How a run begins.
pub(crate) enum Begin {
    /// Unstored, from its input.
    Input(InputBox),
    /// On a thread.
    Stored(Box<dyn StoredRun>),
}

/// Runs from the start to the end, with the run middleware around it.
pub(crate) fn drive(start: Start) -> BoxFuture<'static, Result<StateBox, RunError>> {
    let extras = start
        .settings
        .extras
        .clone()
        .filter(|extras| !extras.run_middleware.is_empty());
    let Some(extras) = extras else {
        return run(start);
    };
    Box::pin(async move {
        let Start {
            flow,
            settings,
            begin,
        } = start;
        // A thread that is resumed has no input.
        let (input, stored) = match begin {
            Begin::Input(input) => (Some(input), None),
            Begin::Stored(mut stored) => (stored.take_input(), Some(stored)),
        };
        let about = About {
            flow: flow.name().to_string(),
            thread: stored.as_ref().map(|stored| Arc::clone(stored.thread())),
        };
        let next = AnyRunNext::new(&extras.run_middleware, &about, |input| {
            let begin = match (input, stored) {
                (Some(input), None) => Begin::Input(input),
                (Some(input), Some(mut stored)) => {
                    stored.set_input(input);
                    Begin::Stored(stored)
                }
                (None, Some(stored)) => Begin::Stored(stored),
                (None, None) => {
                    let problem = "a run that is not a thread's needs an input; its middleware passed none on";
                    let error = ThreadError::Request(problem.into());
                    let error = RunError::of_thread(error, &about.flow);
                    return Box::pin(std::future::ready(Err(error)));
                }
            };
            run(Start {
                flow,
                settings,
                begin,
            })
        });
        next.run(input).await
    })
}

/// Runs from the start to the end, inside the run middleware.
fn run(start: Start) -> BoxFuture<'static, Result<StateBox, RunError>> {
    let Start {
        flow,
        mut settings,
        begin,
    } = start;
    let plan = flow.plan();
    let mut missing = missing_managed(&*flow, &settings, &plan);
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
    let stored = match &begin {
        Begin::Input(_) => None,
        Begin::Stored(stored) => stored.needs_tokio(),
    };
    if let Err(error) = check_runtime(&plan, &settings, stored) {
        let error = RunError::of_thread(error, flow.name());
        return Box::pin(std::future::ready(Err(error)));
    }
    let input = match begin {
        Begin::Input(input) => input,
        Begin::Stored(stored) => return stored.run(flow, settings),
    };
    if !plan.interrupt_points.is_empty() {
        return Box::pin(std::future::ready(Err(interrupts_without_thread(&*flow))));
    }
    settings.cancel = settings.cancel.as_ref().map(RunToken::for_run);
    // Made outside of the future: a future stores its captured values in addition to the values made of them.
    let begun = match begin_state(&*flow, &settings, input) {
        Ok(begun) => begun,
        Err(error) => return Box::pin(std::future::ready(Err(error))),
    };
    let retained_by = settings.retained_by;
    let mut driver = Driver::new(flow, settings, plan, 0, begun, None);
    Box::pin(async move {
        driver.emit_progress(|| AnyEventKind::RunStarted);
        if driver.state.ty().has_input {
            driver.emit_values();
        }
        let result = {
            let supersteps = pin!(run_from_start(&mut driver));
            catch_abort(supersteps).await
        };
        if let Some(by) = retained_by
            && result.is_ok()
        {
            let (shared, written) = (&driver.scope.shared, driver.fast_path.written);
            let states = shared.kept_states();
            let kept = states.end(&shared.namespace, by, &*driver.state, written);
            kept.map_err(|error| {
                let error = ThreadError::Request(error.to_string());
                RunError::of_thread(error, driver.flow.name())
            })?;
        }
        driver.finish(result)
    })
}

/// The state with which an unstored run begins, and its keys that have a value.
fn begin_state(
    flow: &dyn AnyFlow,
    settings: &Settings,
    input: InputBox,
) -> Result<(StateBox, KeySet), RunError> {
    let kept = match (settings.retained_by, &settings.parent) {
        (Some(by), Some(parent)) => parent.kept_states().before(&settings.namespace, by),
        _ => None,
    };
    let begun = match kept {
        Some((mut state, mut written)) => {
            begin_turn(&mut *state, &mut written, KeySet::NONE);
            apply_input(&mut *state, &mut written, input).map(|()| (state, written))
        }
        None => (flow.state_type().start)(input),
    };
    begun.map_err(|error| RunError::of_input(error, flow.name()))
}

/// The managed values that the nodes need and the run does not have.
fn missing_managed(
    flow: &dyn AnyFlow,
    settings: &Settings,
    plan: &ExecutionPlan,
) -> Vec<&'static str> {
    let missing = |managed| {
        let mut requirements = Requirements::new(managed);
        flow.require(&mut requirements);
        requirements.into_missing()
    };
    // What nodes need does not change. If it was nothing once, later runs need not ask each node.
    if plan.needs_managed(&|| !missing(None).is_empty()) {
        missing(settings.managed.as_deref())
    } else {
        Vec::new()
    }
}

/// The error of a run that has interrupts but no thread.
fn interrupts_without_thread(flow: &dyn AnyFlow) -> RunError {
    let problem = format!(
        "`{}` stops at an `interrupt`, and the run has no thread to wait on: launch it with `.store(&store).thread(id)`",
        flow.name()
    );
    RunError::of_thread(ThreadError::Request(problem), flow.name())
}
