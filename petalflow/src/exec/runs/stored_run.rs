//! A run on a thread, as the driver sees it: how it is launched, and how it continues from a checkpoint.

use std::pin::pin;
use std::sync::Arc;

use super::begin_barrier::BeginBarrier;
use super::run_loop::run_loop;
use crate::erased::{InputBox, StateBox};
use crate::event::AnyEventKind;
use crate::exec::Settings;
use crate::exec::control::abort::{Abort, catch_abort};
use crate::exec::persistence::Persistence;
use crate::exec::supersteps::driver::Driver;
use crate::flow::AnyFlow;
use crate::future::BoxFuture;
use crate::outcome::{RunError, RunErrorKind};
use crate::plan::ExecutionPlan;
use crate::state::KeySet;
use crate::superstep::{Planner, Task};
use crate::task_services::TaskServices;

/// A run on a thread that has not begun yet.
///
/// Only the code that launches one names a type that implements this, so a program that stores nothing does not contain it.
pub(crate) trait StoredRun: Send {
    fn thread(&self) -> &Arc<str>;

    /// Takes the input of the run, if it has one. A run that resumes has none.
    fn take_input(&mut self) -> Option<InputBox>;

    fn set_input(&mut self, input: InputBox);

    /// Lets a new input discard what the thread waits for.
    fn discard_pending(&mut self);

    /// Makes the run stop once, when it has stored what it begins with.
    fn stop_when_stored(&mut self) -> Arc<BeginBarrier>;

    /// What of the storage of the run needs a runtime of tokio.
    fn needs_tokio(&self) -> Option<&'static str>;

    /// Loads the thread and runs it.
    fn run(
        self: Box<Self>,
        flow: Arc<dyn AnyFlow>,
        settings: Settings,
    ) -> BoxFuture<'static, Result<StateBox, RunError>>;
}

/// Where a stored run continues.
pub(crate) struct Restored {
    pub(crate) state: StateBox,
    /// The keys that have been written.
    pub(crate) written: KeySet,
    pub(crate) planner: Planner,
    pub(crate) frontier: Vec<Task>,
    /// The last superstep that was committed.
    pub(crate) superstep: u64,
    /// Whether the state holds values of an earlier turn.
    pub(crate) has_history: bool,
    pub(crate) services: Arc<TaskServices>,
    /// Why the run cannot continue at once, for example because it still waits for a person.
    pub(crate) blocked: Option<RunErrorKind>,
}

/// Runs from a checkpoint to the end.
pub(crate) async fn run_restored(
    flow: Arc<dyn AnyFlow>,
    settings: Settings,
    plan: Arc<ExecutionPlan>,
    restored: Restored,
    mut persistence: Box<dyn Persistence>,
) -> Result<StateBox, RunError> {
    let Restored {
        state,
        written,
        planner,
        frontier,
        superstep,
        has_history,
        services,
        blocked,
    } = restored;
    let values = (state, written);
    let mut driver = Driver::new(flow, settings, plan, superstep, values, Some(services));
    let result = if let Some(kind) = blocked {
        Err(Abort::new(kind))
    } else {
        driver.emit_progress(|| AnyEventKind::RunStarted);
        driver.emit_checkpoint(&mut *persistence);
        if superstep > 0 || has_history || driver.state.ty().has_input {
            driver.emit_values();
        }
        catch_abort(pin!(run_loop(
            &mut driver,
            &mut *persistence,
            planner,
            frontier
        )))
        .await
    };
    if result.as_ref().is_err_and(Abort::is_panic) {
        // As after a crash: the thread keeps its last checkpoint.
        return driver.finish(result);
    }
    let stored = persistence.run_ended(driver.committed()).await;
    driver.emit_checkpoint(&mut *persistence);
    driver.finish(match (result, stored) {
        (Ok(()), Err(error)) => Err(Abort::of_thread(error)),
        // The error of the run is the cause. But a pause that could not be stored is not a pause.
        (Err(abort), Err(error)) if abort.is_pause() => Err(Abort::of_thread(error)),
        (result, _) => result,
    })
}
