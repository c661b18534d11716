//! The input with which a thread is resumed, without the type of its state.

use std::collections::{HashMap, HashSet};

use super::{Answer, AnswerError, AnyDecision, Ask, DecisionAction, Interrupt, InterruptId};
use crate::erased::EffectsBox;
use crate::error::BoxError;
use crate::task_services::question::answer::AnswerTarget;

/// A [`Resume`](super::Resume) without the type of the state.
#[derive(Default)]
pub(crate) struct AnyResume {
    pub(crate) answers: Vec<Answer>,
    /// Without an id, it applies to all open interrupts.
    pub(crate) decisions: Vec<(Option<InterruptId>, AnyDecision)>,
    pub(crate) updates: Vec<Result<EffectsBox, BoxError>>,
    pub(crate) goto: Vec<String>,
    pub(crate) responses: Vec<Response>,
}

/// An answer that is made when the thread is loaded.
pub(crate) enum Response {
    /// To the question or the approval with this id.
    To {
        id: InterruptId,
        make: Box<dyn FnOnce(&Interrupt) -> Result<AnyResume, BoxError> + Send + Sync>,
    },
    Only(OnlyQuestion),
}

/// An answer to the only question of a type.
pub(crate) struct OnlyQuestion {
    is_asked: fn(&Interrupt) -> bool,
    /// Its id is set when the question is known.
    answer: Answer,
}

impl OnlyQuestion {
    pub(crate) fn answered<A: Ask>(answer: &A::Answer) -> Result<Self, AnswerError> {
        Ok(OnlyQuestion {
            is_asked: Interrupt::asks::<A>,
            answer: Answer::new::<A>(InterruptId::from_bytes([0; 16]), answer)?,
        })
    }

    /// The answer with the id of the question.
    fn entry_for<'a>(
        mut self,
        waiting: impl Iterator<Item = &'a Interrupt> + Clone,
    ) -> Result<Answer, AnswerError> {
        let is_asked = |open: &&Interrupt| (self.is_asked)(open);
        let mut asked = waiting.clone().filter(is_asked);
        match (asked.next(), asked.next()) {
            (Some(question), None) => {
                self.answer.id = question.id;
                Ok(self.answer)
            }
            (None, _) => Err(AnswerError::NotAsked {
                question: self.answer.name.into(),
                waiting: waiting.cloned().collect(),
            }),
            _ => Err(AnswerError::Ambiguous {
                waiting: waiting.filter(is_asked).cloned().collect(),
            }),
        }
    }
}

impl Response {
    /// What it answers.
    pub(crate) fn target(&self) -> AnswerTarget {
        match self {
            Response::To { id, .. } => AnswerTarget::Interrupt(*id),
            Response::Only(only) => AnswerTarget::Question(only.answer.name),
        }
    }
}

impl AnyResume {
    /// Whether a run in progress can take it. It does not change the state, which the nodes that run have, nor the frontier.
    pub(crate) fn fits_a_run(&self) -> bool {
        let mut decisions = self.decisions.iter();
        let edits =
            decisions.any(|(_, decision)| matches!(decision.action, DecisionAction::Edit(_)));
        !edits && self.updates.is_empty() && self.goto.is_empty()
    }

    /// The input with the answers and decisions of its responses to what the thread waits for.
    pub(crate) fn with_responses<'a>(
        mut self,
        waiting: impl Iterator<Item = &'a Interrupt> + Clone,
    ) -> Result<Self, AnswerError> {
        let mut by_id: HashMap<InterruptId, &Interrupt> = HashMap::new();
        if !self.responses.is_empty() {
            by_id.extend(waiting.clone().map(|open| (open.id, open)));
        }
        for response in std::mem::take(&mut self.responses) {
            let (id, make) = match response {
                Response::To { id, make } => (id, make),
                Response::Only(only) => {
                    self.answers.push(only.entry_for(waiting.clone())?);
                    continue;
                }
            };
            let open = by_id.get(&id).copied();
            let open = open.ok_or_else(|| AnswerError::Unknown {
                id,
                waiting: waiting.clone().cloned().collect(),
            })?;
            let made = make(open).map_err(|error| AnswerError::Value(error.to_string()))?;
            self.answers.extend(made.answers);
            self.decisions.extend(made.decisions);
            self.updates.extend(made.updates);
            self.goto.extend(made.goto);
        }
        self.check_answers_once()?;
        Ok(self)
    }

    /// Refuses two answers to the same question, and two decisions about the same approval: nothing says which counts.
    fn check_answers_once(&self) -> Result<(), AnswerError> {
        let answers = self.answers.iter().map(|answer| answer.id);
        let decisions = self.decisions.iter().filter_map(|(id, _)| *id);
        let mut answered = HashSet::new();
        for id in answers.chain(decisions) {
            if !answered.insert(id.to_bytes()) {
                return Err(AnswerError::Value(format!(
                    "there are two answers to {id} in this `Resume`; give one"
                )));
            }
        }
        Ok(())
    }
}
