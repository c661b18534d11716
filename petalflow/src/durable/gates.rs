//! What the driver carries along when its run is stored.

use std::collections::HashMap;

use super::checkpoint_writer::CheckpointWriter;
use super::load::gate;
use super::stored_task::FinishedTask;
use crate::error::NodeError;
use crate::event::EventKind;
use crate::exec::{Abort, Driver};
use crate::flow::Flow;
use crate::ids::TaskId;
use crate::outcome::{RunErrorKind, ThreadError};
use crate::plan::ExecutionPlan;
use crate::question::{Interrupt, InterruptId};
use crate::state::{KeySet, State};
use crate::superstep::Task;

/// What the driver carries along when its run is stored.
pub(crate) struct ThreadPersistence<S: State> {
    pub(crate) writer: CheckpointWriter<S>,
    /// What tasks have left in a superstep that was abort off.
    pub(crate) finished: HashMap<TaskId, FinishedTask<S>>,
    /// Who is asked before the tasks of the superstep, and for which of them.
    pub(crate) asked: Vec<(TaskId, Interrupt)>,
}

/// What becomes of a task of the frontier.
pub(crate) enum TaskDisposition<S: State> {
    /// It runs.
    Run,
    /// It has run before, or is not to run.
    FinishedTask(Box<FinishedTask<S>>),
    /// A person is asked first.
    Waits,
}

impl<S: State> ThreadPersistence<S> {
    /// What becomes of each task of the frontier; notes who is asked first.
    pub(crate) fn dispositions<F: Flow<State = S>>(
        &mut self,
        driver: &Driver<F>,
        frontier: &[Task],
    ) -> Result<Vec<TaskDisposition<S>>, Abort<S>> {
        let plan = driver.plan();
        // Most supersteps of most runs.
        if self.finished.is_empty() && plan.gates.is_empty() {
            return Ok(Vec::new());
        }
        let mut dispositions = Vec::new();
        for task in frontier {
            let name = plan.stored_name(task.node);
            let id = self.task_id(name, task.send);
            let mut disposition = match self.finished.remove(&id) {
                Some(finished) => TaskDisposition::FinishedTask(Box::new(finished)),
                None => TaskDisposition::Run,
            };
            for (place, _) in before(plan, task.node) {
                if matches!(disposition, TaskDisposition::FinishedTask(_)) {
                    break;
                }
                let writer = &self.writer;
                let (of, mut interrupt) = gate(
                    &writer.archive,
                    &writer.namespace,
                    writer.header.origin,
                    name,
                    false,
                );
                interrupt.node = plan.name(task.node).into();
                interrupt.chooses = plan.chooses(task.node);
                match said(driver, interrupt.id) {
                    Some("skipped") => {
                        disposition =
                            TaskDisposition::FinishedTask(Box::new(FinishedTask::skipped()));
                    }
                    Some(_) => {}
                    None => {
                        if guard(driver, place, plan.name(task.node), false)? {
                            disposition = TaskDisposition::Waits;
                            if !self
                                .asked
                                .iter()
                                .any(|(_, known): &(_, Interrupt)| known.id == interrupt.id)
                            {
                                if let Some(known) = known(driver, interrupt.id) {
                                    interrupt.asked_ms = known.asked_ms;
                                }
                                self.asked.push((of, interrupt));
                            }
                        }
                    }
                }
            }
            dispositions.push(disposition);
        }
        self.finished.clear();
        Ok(dispositions)
    }

    /// The nodes that have run and after which a person is asked.
    pub(crate) fn gates<F: Flow<State = S>>(
        driver: &Driver<F>,
        ended: impl Iterator<Item = u32> + Clone,
    ) -> Result<Vec<String>, Abort<S>> {
        let plan = driver.plan();
        let mut gates = Vec::new();
        for (place, gate) in plan.gates.iter().enumerate() {
            let name = plan.stored_name(gate.node);
            if gate.after
                && ended.clone().any(|node| node == gate.node)
                && !gates.iter().any(|known| known == name)
                && guard(driver, place, plan.name(gate.node), true)?
            {
                gates.push(name.to_string());
            }
        }
        Ok(gates)
    }

    /// What is asked at the last barrier.
    pub(crate) fn asked_after(&self) -> Vec<Interrupt> {
        let writer = &self.writer;
        let interrupt = |node: &String| {
            gate(
                &writer.archive,
                &writer.namespace,
                writer.header.origin,
                node,
                true,
            )
            .1
        };
        writer.header.gates.iter().map(interrupt).collect()
    }

    fn task_id(&self, node: &str, send: Option<u32>) -> TaskId {
        let writer = &self.writer;
        crate::ids::task_id(
            &writer.archive.thread,
            &writer.namespace,
            writer.header.origin,
            node,
            send,
        )
    }

    /// Sees to it that the last barrier is stored when the run ends, however it does.
    pub(crate) async fn close(
        &mut self,
        state: Option<&S>,
        written: KeySet,
    ) -> Result<(), ThreadError> {
        match state {
            // A state that is ahead of its barrier is lost, as in a crash.
            Some(state) if !self.writer.dirty => self.writer.settle(state, written).await,
            _ => self.writer.await_in_flight().await,
        }
    }

    /// Tells of the checkpoint that was just made, if one was.
    pub(crate) fn tell<F: Flow<State = S>>(&mut self, driver: &Driver<F>) {
        if let Some(checkpoint) = self.writer.made.take() {
            driver.tell(|| EventKind::Checkpoint { checkpoint });
        }
    }
}

/// A question that was asked before this run of the program.
fn known<F: Flow>(driver: &Driver<F>, id: InterruptId) -> Option<Interrupt> {
    driver.scope.shared.services.as_ref()?.known(id)
}

/// What a person has said to it.
fn said<F: Flow>(driver: &Driver<F>, id: InterruptId) -> Option<&str> {
    let services = driver.scope.shared.services.as_ref()?;
    services.answers.get(&id).map(|(name, _)| &**name)
}

fn before(plan: &ExecutionPlan, node: u32) -> impl Iterator<Item = (usize, &crate::plan::Gate)> {
    let gates = plan.gates.iter().enumerate();
    gates.filter(move |(_, gate)| gate.node == node && !gate.after)
}

/// Whether the guard of an interrupt stops the run.
fn guard<F: Flow>(
    driver: &Driver<F>,
    place: usize,
    node: &str,
    after: bool,
) -> Result<bool, Abort<F::State>> {
    let Some(state) = &driver.state else {
        unreachable!("the state is at home between forks")
    };
    let asked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        driver.flow.gate(petalflow_graph::index(place), state)
    }));
    let problem = match asked {
        Ok(Ok(stops)) => return Ok(stops),
        Ok(Err(error)) => error,
        Err(_) => "it panicked".into(),
    };
    let when = if after { "after" } else { "before" };
    let error = NodeError::new(
        node,
        &driver.scope.shared.namespace,
        driver.scope.superstep,
        crate::FailureKind::Error,
        format!("the guard of `interrupt {when} {node}` failed: {problem}"),
    );
    Err(Abort::new(RunErrorKind::Node(error)))
}
