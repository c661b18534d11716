//! What people say to a thread: whether it fits what the thread waits for.

use super::open::ThreadOpener;
use crate::checkpoint::AnswerEntry;
use crate::clock::now_ms;
use crate::ids::TaskId;
use crate::interrupt::Approval;
use crate::outcome::ThreadError;
use crate::question::{Answer, AnswerError, Interrupt, InterruptId, InterruptKind};
use crate::state::State;

impl<S: State> ThreadOpener<'_, S> {
    pub(super) fn answer(
        &mut self,
        answer: Answer,
        waiting: &mut Vec<(TaskId, Interrupt)>,
    ) -> Result<(), ThreadError> {
        let known = waiting
            .iter()
            .position(|(_, interrupt)| interrupt.id == answer.id);
        let Some(place) = known else {
            return Err(AnswerError::Unknown {
                id: answer.id,
                waiting: only(waiting),
            }
            .into());
        };
        let (_, interrupt) = &waiting[place];
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
        waiting.remove(place);
        self.writer.header.answers.push(AnswerEntry {
            id: answer.id.to_bytes(),
            name: answer.name.into(),
            bytes: answer.bytes,
        });
        Ok(())
    }

    /// Records that questions have answered themselves, as an answer without bytes; says whether any has. From now on nobody
    /// else can answer them. What a flow inside another asks, the outermost waits for as well: it says so for both.
    pub(super) fn expire(&mut self, waiting: &mut Vec<(TaskId, Interrupt)>) -> bool {
        if self.writer.above.is_some() {
            return false;
        }
        let now = now_ms();
        let header = &mut self.writer.header;
        let before = header.answers.len();
        waiting.retain(|(_, interrupt)| {
            let InterruptKind::Ask { name, .. } = &interrupt.kind else {
                return true;
            };
            let expired = interrupt.expires_ms.is_some_and(|at| at <= now);
            if expired {
                header.answers.push(AnswerEntry {
                    id: interrupt.id.to_bytes(),
                    name: name.clone(),
                    bytes: Vec::new(),
                });
            }
            !expired
        });
        header.answers.len() > before
    }

    /// Records a decision, and says of which interrupts it is one.
    pub(super) fn decide(
        &mut self,
        id: Option<InterruptId>,
        approval: &Approval<S>,
        waiting: &mut Vec<(TaskId, Interrupt)>,
    ) -> Result<Vec<Interrupt>, ThreadError> {
        let gates = |interrupt: &Interrupt| {
            !matches!(interrupt.kind, InterruptKind::Ask { .. })
                && id.is_none_or(|id| interrupt.id == id)
        };
        let decided: Vec<Interrupt> = waiting
            .extract_if(.., |(_, interrupt)| gates(interrupt))
            .map(|(_, interrupt)| interrupt)
            .collect();
        if decided.is_empty() {
            let problem = match id {
                Some(id) => AnswerError::Unknown {
                    id,
                    waiting: only(waiting),
                },
                None => AnswerError::Value("the thread does not wait for an approval".to_string()),
            };
            return Err(problem.into());
        }
        for interrupt in &decided {
            self.writer.header.answers.push(AnswerEntry {
                id: interrupt.id.to_bytes(),
                name: approval.decision.word().into(),
                bytes: Vec::new(),
            });
        }
        Ok(decided)
    }

    /// A node that chooses where to go cannot be skipped: nothing would say where the run goes on.
    pub(super) fn can_skip(&self, interrupt: &Interrupt) -> Result<(), ThreadError> {
        let Interrupt {
            node, namespace, ..
        } = interrupt;
        let inside = namespace != self.namespace.as_str();
        let node_here = self.plan.index_of(node).filter(|_| !inside);
        // The program may have changed since it was asked; of one inside, only what it said then is known.
        let chooses = node_here.map_or(interrupt.chooses, |node| self.plan.chooses(node));
        if !chooses || interrupt.kind != InterruptKind::Before {
            return Ok(());
        }
        let problem = if inside {
            format!(
                "node `{node}` inside `{namespace}` cannot be skipped, because it chooses where the run goes on: approve or reject it"
            )
        } else {
            format!(
                "node `{node}` cannot be skipped, because it chooses where the run goes on: use `Resume::goto` to say where"
            )
        };
        Err(AnswerError::Value(problem).into())
    }

    /// The state of a flow inside another cannot be reached from outside.
    pub(super) fn can_edit(&self, interrupt: &Interrupt) -> Result<(), ThreadError> {
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

#[inline]
pub(super) fn only(waiting: &[(TaskId, Interrupt)]) -> Vec<Interrupt> {
    waiting
        .iter()
        .map(|(_, interrupt)| interrupt.clone())
        .collect()
}
