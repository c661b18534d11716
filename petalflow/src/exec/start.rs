//! How a run begins: run middleware, managed values, and the choice between a stored and an unstored run.

use std::sync::Arc;

use super::Settings;
use super::driver::Driver;
use super::fast_path::{FastPathEnd, lane};
use crate::durable::{Command, ThreadStart};
use crate::event::EventKind;
use crate::flow::Flow;
use crate::future::BoxFuture;
use crate::middleware::{About, RunNext};
use crate::node::Requirements;
use crate::outcome::{RunError, RunErrorKind, ThreadError};
use crate::plan::ExecutionPlan;
use crate::state::{KeyFlag, KeyMeta, State};

pub(crate) struct Start<F: Flow> {
    pub(crate) flow: Arc<F>,
    pub(crate) settings: Settings<F::State>,
    pub(crate) begin: Begin<F>,
}

/// What drives a stored run. Only who launches one names it, so that a program that stores nothing does not contain it.
pub(crate) type EngageStored<F> = fn(
    Arc<F>,
    Settings<<F as Flow>::State>,
    Box<ThreadStart<<F as Flow>::State>>,
) -> BoxFuture<'static, Result<<F as Flow>::State, RunError>>;

/// How a run begins.
pub(crate) enum Begin<F: Flow> {
    /// Unstored, from its input.
    Input(<F::State as State>::Input),
    /// From a thread's checkpoints.
    Stored(Box<ThreadStart<F::State>>, EngageStored<F>),
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
    let plan = flow.plan();
    let mut missing = missing(&*flow, &settings, &plan);
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
    if !plan.gates.is_empty() {
        return Box::pin(std::future::ready(Err(unstored_gates(&*flow))));
    }
    let (state, written) = F::State::start(input);
    let mut driver = Driver::new(flow, settings, plan, state, written);
    Box::pin(async move {
        driver.tell(|| EventKind::RunStarted);
        if has_input::<F::State>() {
            driver.tell_values();
        }
        // Here and not in a method: a future of that would keep a pointer to the driver in every run in flight.
        let result = match driver.entry() {
            None => driver.all().await,
            Some(mut node) => loop {
                if let Err(abort) = driver.go_on(Some(node), &[]).await {
                    break Err(abort);
                }
                match lane(&mut driver, node).await {
                    FastPathEnd::Before(next) => node = next,
                    end => match driver.after(end) {
                        Ok(None) => break Ok(()),
                        Ok(Some(rest)) => break rest.await,
                        Err(abort) => break Err(abort),
                    },
                }
            },
        };
        driver.end(result)
    })
}

/// What the nodes need from the run and it does not have.
fn missing<F: Flow>(
    flow: &F,
    settings: &Settings<F::State>,
    plan: &ExecutionPlan,
) -> Vec<&'static str> {
    let missing = |managed| {
        let mut requirements = Requirements::new(managed);
        flow.require(&mut requirements);
        requirements.into_missing()
    };
    // What nodes need does not change: where it was nothing once, there is nothing to ask each of them in every run.
    if *plan.needs_managed.get_or_init(|| !missing(None).is_empty()) {
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
/// Whether a run is given anything; the state of one that is not holds nothing before its first superstep.
pub(crate) fn has_input<S: State>() -> bool {
    !const { KeyMeta::set(S::KEYS, KeyFlag::Input) }.is_empty()
}
