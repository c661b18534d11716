//! Checks that answers and decisions fit what a thread waits for.

use super::opener::ThreadOpener;
use crate::checkpoint::AnswerEntry;
use crate::clock::now_ms;
use crate::ids::TaskId;
use crate::interrupt::Decision;
use crate::outcome::ThreadError;
use crate::question::{Answer, AnswerError, Interrupt, InterruptId, InterruptKind};
use crate::state::State;
use crate::upgrade::reads;

impl<S: State> ThreadOpener<'_, S> {
    /// Records an answer to a question.
    pub(in crate::durable) fn answer(
        &mut self,
        answer: Answer,
        waiting: &mut Vec<(TaskId, Interrupt)>,
    ) -> Result<(), ThreadError> {
        let known = waiting
            .iter()
            .position(|(_, interrupt)| interrupt.id == answer.id);
        let Some(index) = known else {
            return Err(AnswerError::Unknown {
                id: answer.id,
                waiting: only_interrupts(waiting),
            }
            .into());
        };
        let (_, interrupt) = &waiting[index];
        match &interrupt.kind {
            InterruptKind::Ask { name, .. } if name == answer.name => {}
            _ => {
                return Err(AnswerError::OtherQuestion {
                    id: answer.id,
                    expected: interrupt.what().into(),
                    found: answer.name.into(),
                }
                .into());
            }
        }
        if !interrupt.answer_type.is_empty() && !reads(answer.ty, &interrupt.answer_type) {
            return Err(AnswerError::OtherType {
                id: answer.id,
                question: answer.name.into(),
                expected: interrupt.answer_type.clone(),
                found: answer.ty.into(),
            }
            .into());
        }
        waiting.remove(index);
        self.writer.add_answer(AnswerEntry {
            id: answer.id.to_bytes(),
            name: answer.name.into(),
            bytes: answer.bytes,
        });
        Ok(())
    }

    /// Records the questions that have expired, each as an answer without bytes. Returns whether there was one. No person can
    /// answer them any more. The outermost flow also waits for the questions of its sub-flows, and records them.
    pub(in crate::durable) fn expire(&mut self, waiting: &mut Vec<(TaskId, Interrupt)>) -> bool {
        if self.writer.has_parent_barrier() {
            return false;
        }
        let now = now_ms();
        let before = waiting.len();
        waiting.retain(|(_, interrupt)| {
            let InterruptKind::Ask { name, .. } = &interrupt.kind else {
                return true;
            };
            let expired = interrupt.expires_ms.is_some_and(|at| at <= now);
            if expired {
                self.writer.add_answer(AnswerEntry {
                    id: interrupt.id.to_bytes(),
                    name: name.clone(),
                    bytes: Vec::new(),
                });
            }
            !expired
        });
        waiting.len() < before
    }

    /// Records a decision. Returns its interrupts.
    pub(in crate::durable) fn decide(
        &mut self,
        id: Option<InterruptId>,
        decision: &Decision<S>,
        waiting: &mut Vec<(TaskId, Interrupt)>,
    ) -> Result<Vec<Interrupt>, ThreadError> {
        let is_decided = |interrupt: &Interrupt| {
            !matches!(interrupt.kind, InterruptKind::Ask { .. })
                && id.is_none_or(|id| interrupt.id == id)
        };
        let decided: Vec<Interrupt> = waiting
            .extract_if(.., |(_, interrupt)| is_decided(interrupt))
            .map(|(_, interrupt)| interrupt)
            .collect();
        if decided.is_empty() {
            let problem = match id {
                Some(id) => AnswerError::Unknown {
                    id,
                    waiting: only_interrupts(waiting),
                },
                None => AnswerError::Value("the thread does not wait for an approval".to_string()),
            };
            return Err(problem.into());
        }
        for interrupt in &decided {
            self.writer.add_answer(AnswerEntry {
                id: interrupt.id.to_bytes(),
                name: decision.action.kind().name().into(),
                bytes: Vec::new(),
            });
        }
        Ok(decided)
    }

    /// Checks that the node may be skipped. If it chooses a route, the run cannot continue without its choice.
    pub(in crate::durable) fn can_skip(&self, interrupt: &Interrupt) -> Result<(), ThreadError> {
        let Interrupt {
            node, namespace, ..
        } = interrupt;
        let inside = namespace != self.namespace.as_str();
        let node_here = self.plan.index_of(node).filter(|_| !inside);
        // The program may have changed since then. Of a sub-flow, only the recorded interrupt is known.
        let chooses = node_here.map_or(interrupt.chooses, |node| self.plan.chooses(node));
        if !chooses || interrupt.kind != InterruptKind::Before {
            return Ok(());
        }
        let problem = if inside {
            format!(
                "node `{node}` inside `{namespace}` cannot be skipped, because it chooses a route: approve or reject it"
            )
        } else {
            format!(
                "node `{node}` cannot be skipped, because it chooses a route: choose the next node with `Resume::goto`"
            )
        };
        Err(AnswerError::Value(problem).into())
    }

    /// Checks that the decision may edit the state. The state of a sub-flow cannot be edited.
    pub(in crate::durable) fn can_edit(&self, interrupt: &Interrupt) -> Result<(), ThreadError> {
        if interrupt.namespace == self.namespace.as_str() {
            return Ok(());
        }
        Err(AnswerError::Value(format!(
            "the run waits inside `{}`, whose state cannot be edited from outside: approve, reject or skip node `{}`",
            interrupt.namespace, interrupt.node
        ))
        .into())
    }
}

pub(in crate::durable) fn only_interrupts(waiting: &[(TaskId, Interrupt)]) -> Vec<Interrupt> {
    waiting
        .iter()
        .map(|(_, interrupt)| interrupt.clone())
        .collect()
}
