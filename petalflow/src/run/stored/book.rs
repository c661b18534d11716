//! What the engine carries along when its run is stored.

use std::collections::HashMap;

use super::head::gate;
use super::journal::Journal;
use super::task::Finished;
use crate::error::NodeError;
use crate::event::EventKind;
use crate::flow::Flow;
use crate::ids::TaskId;
use crate::outcome::{RunErrorKind, ThreadError};
use crate::plan::ExecutionPlan;
use crate::question::{Interrupt, InterruptId};
use crate::run::broken::Broken;
use crate::run::drive::Engine;
use crate::state::{KeySet, State};
use crate::superstep::Task;

/// What the engine carries along when its run is stored.
pub(crate) struct Book<S: State> {
    pub(crate) journal: Journal<S>,
    /// What tasks have left in a superstep that was broken off.
    pub(crate) finished: HashMap<TaskId, Finished<S>>,
    /// Who is asked before the tasks of the superstep, and for which of them.
    pub(crate) asked: Vec<(TaskId, Interrupt)>,
}

/// What becomes of a task of the frontier.
pub(crate) enum Fate<S: State> {
    /// It runs.
    Run,
    /// It has run before, or is not to run.
    Finished(Box<Finished<S>>),
    /// A person is asked first.
    Waits,
}

impl<S: State> Book<S> {
    /// What becomes of each task of the frontier; notes who is asked first.
    pub(crate) fn fates<F: Flow<State = S>>(
        &mut self,
        engine: &Engine<F>,
        frontier: &[Task],
    ) -> Result<Vec<Fate<S>>, Broken<S>> {
        let plan = engine.plan();
        // Most supersteps of most runs.
        if self.finished.is_empty() && plan.gates.is_empty() {
            return Ok(Vec::new());
        }
        let mut fates = Vec::new();
        for task in frontier {
            let name = plan.stored_name(task.node);
            let id = self.task_id(name, task.send);
            let mut fate = match self.finished.remove(&id) {
                Some(finished) => Fate::Finished(Box::new(finished)),
                None => Fate::Run,
            };
            for (place, _) in before(plan, task.node) {
                if matches!(fate, Fate::Finished(_)) {
                    break;
                }
                let journal = &self.journal;
                let (of, mut interrupt) = gate(
                    &journal.archive,
                    &journal.namespace,
                    journal.header.origin,
                    name,
                    false,
                );
                interrupt.node = plan.name(task.node).into();
                interrupt.chooses = plan.chooses(task.node);
                match said(engine, interrupt.id) {
                    Some("skipped") => {
                        fate = Fate::Finished(Box::new(Finished::skipped()));
                    }
                    Some(_) => {}
                    None => {
                        if guard(engine, place, plan.name(task.node), false)? {
                            fate = Fate::Waits;
                            if !self
                                .asked
                                .iter()
                                .any(|(_, known): &(_, Interrupt)| known.id == interrupt.id)
                            {
                                if let Some(known) = known(engine, interrupt.id) {
                                    interrupt.asked_ms = known.asked_ms;
                                }
                                self.asked.push((of, interrupt));
                            }
                        }
                    }
                }
            }
            fates.push(fate);
        }
        self.finished.clear();
        Ok(fates)
    }

    /// The nodes that have run and after which a person is asked.
    pub(crate) fn gates<F: Flow<State = S>>(
        engine: &Engine<F>,
        ended: impl Iterator<Item = u32> + Clone,
    ) -> Result<Vec<String>, Broken<S>> {
        let plan = engine.plan();
        let mut gates = Vec::new();
        for (place, gate) in plan.gates.iter().enumerate() {
            let name = plan.stored_name(gate.node);
            if gate.after
                && ended.clone().any(|node| node == gate.node)
                && !gates.iter().any(|known| known == name)
                && guard(engine, place, plan.name(gate.node), true)?
            {
                gates.push(name.to_string());
            }
        }
        Ok(gates)
    }

    /// What is asked at the last barrier.
    pub(crate) fn asked_after(&self) -> Vec<Interrupt> {
        let journal = &self.journal;
        let interrupt = |node: &String| {
            gate(
                &journal.archive,
                &journal.namespace,
                journal.header.origin,
                node,
                true,
            )
            .1
        };
        journal.header.gates.iter().map(interrupt).collect()
    }

    fn task_id(&self, node: &str, send: Option<u32>) -> TaskId {
        let journal = &self.journal;
        crate::ids::task_id(
            &journal.archive.thread,
            &journal.namespace,
            journal.header.origin,
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
            Some(state) if !self.journal.torn => self.journal.settle(state, written).await,
            _ => self.journal.land().await,
        }
    }

    /// Tells of the checkpoint that was just made, if one was.
    pub(crate) fn tell<F: Flow<State = S>>(&mut self, engine: &Engine<F>) {
        if let Some(checkpoint) = self.journal.made.take() {
            engine.tell(|| EventKind::Checkpoint { checkpoint });
        }
    }
}

/// A question that was asked before this run of the program.
fn known<F: Flow>(engine: &Engine<F>, id: InterruptId) -> Option<Interrupt> {
    engine.scope.shared.desk.as_ref()?.known(id)
}

/// What a person has said to it.
fn said<F: Flow>(engine: &Engine<F>, id: InterruptId) -> Option<&str> {
    let desk = engine.scope.shared.desk.as_ref()?;
    desk.answers.get(&id).map(|(name, _)| &**name)
}

fn before(plan: &ExecutionPlan, node: u32) -> impl Iterator<Item = (usize, &crate::plan::Gate)> {
    let gates = plan.gates.iter().enumerate();
    gates.filter(move |(_, gate)| gate.node == node && !gate.after)
}

/// Whether the guard of an interrupt stops the run.
fn guard<F: Flow>(
    engine: &Engine<F>,
    place: usize,
    node: &str,
    after: bool,
) -> Result<bool, Broken<F::State>> {
    let Some(state) = &engine.state else {
        unreachable!("the state is at home between forks")
    };
    let asked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        engine.flow.gate(petalflow_graph::index(place), state)
    }));
    let problem = match asked {
        Ok(Ok(stops)) => return Ok(stops),
        Ok(Err(error)) => error,
        Err(_) => "it panicked".into(),
    };
    let when = if after { "after" } else { "before" };
    let error = NodeError::new(
        node,
        &engine.scope.shared.namespace,
        engine.scope.superstep,
        crate::FailureKind::Error,
        format!("the guard of `interrupt {when} {node}` failed: {problem}"),
    );
    Err(Broken::new(RunErrorKind::Node(error)))
}
