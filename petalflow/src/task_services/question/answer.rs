//! Checks answers and decisions against what a thread waits for. What fits is removed from the list, and becomes an entry of the
//! next checkpoint.

use std::collections::HashMap;

use crate::checkpoint::{AnswerEntry, DecisionKind};
use crate::ids::TaskId;
use crate::question::{Answer, AnswerError, Interrupt, InterruptId, InterruptKind, open};
use crate::upgrade::reads;

/// What a thread waits for, with the tasks that wait.
pub(crate) type Waiting = Vec<(TaskId, Interrupt)>;

/// What a caller answers.
#[derive(Clone, Copy)]
pub(crate) enum AnswerTarget {
    /// The question or the approval with this id.
    Interrupt(InterruptId),
    /// All approvals that the thread waits for.
    Approvals,
    /// The only question with this name.
    Question(&'static str),
}

impl AnswerTarget {
    /// Whether this is an answer to the question. A decision about all approvals is none.
    pub(crate) fn means(self, interrupt: &Interrupt) -> bool {
        match (self, &interrupt.kind) {
            (AnswerTarget::Interrupt(id), _) => interrupt.id == id,
            (AnswerTarget::Question(asked), InterruptKind::Ask { name, .. }) => name == asked,
            _ => false,
        }
    }

    pub(crate) fn is_answered_by(self, entry: &AnswerEntry) -> bool {
        match self {
            AnswerTarget::Interrupt(id) => entry.id == id.to_bytes(),
            AnswerTarget::Approvals => {
                entry.bytes.is_empty() && DecisionKind::named(&entry.name).is_some()
            }
            AnswerTarget::Question(name) => entry.name == name,
        }
    }
}

/// The entries of answers to questions. Takes them in one step: there may be as many answers as questions.
pub(crate) fn answers(
    waiting: &mut Waiting,
    answers: Vec<Answer>,
) -> Result<Vec<AnswerEntry>, AnswerError> {
    if answers.is_empty() {
        return Ok(Vec::new());
    }
    let ids = waiting.iter().map(|(_, interrupt)| interrupt.id);
    let mut open: HashMap<InterruptId, usize> = ids.zip(0..).collect();
    let mut entries = Vec::with_capacity(answers.len());
    let mut missing = None;
    for answer in answers {
        let Some(index) = open.remove(&answer.id) else {
            missing = Some(answer.id);
            break;
        };
        entries.push(entry(&waiting[index].1, answer)?);
    }
    waiting.retain(|(_, interrupt)| open.contains_key(&interrupt.id));
    missing.map_or(Ok(entries), |id| Err(unknown(waiting, id)))
}

/// The entry of an answer to this question.
fn entry(interrupt: &Interrupt, answer: Answer) -> Result<AnswerEntry, AnswerError> {
    match &interrupt.kind {
        InterruptKind::Ask { name, .. } if name == answer.name => {}
        _ => {
            return Err(AnswerError::OtherQuestion {
                id: answer.id,
                expected: interrupt.what().into(),
                found: answer.name.into(),
            });
        }
    }
    if !interrupt.answer_type.is_empty() && !reads(answer.ty, &interrupt.answer_type) {
        return Err(AnswerError::OtherType {
            id: answer.id,
            question: answer.name.into(),
            expected: interrupt.answer_type.clone(),
            found: answer.ty.into(),
        });
    }
    Ok(AnswerEntry {
        id: answer.id.to_bytes(),
        name: answer.name.into(),
        bytes: answer.bytes,
    })
}

/// The entries of the questions that have expired at this time: answers without bytes. No person can answer them any more.
pub(crate) fn expired(waiting: &mut Waiting, now_ms: u64) -> Vec<AnswerEntry> {
    let mut entries = Vec::new();
    waiting.retain(|(_, interrupt)| {
        let InterruptKind::Ask { name, .. } = &interrupt.kind else {
            return true;
        };
        let expired = interrupt.expires_ms.is_some_and(|at| at <= now_ms);
        if expired {
            entries.push(AnswerEntry {
                id: interrupt.id.to_bytes(),
                name: name.clone(),
                bytes: Vec::new(),
            });
        }
        !expired
    });
    entries
}

/// Takes the approvals that a decision is for: the one with this id, or all.
pub(crate) fn decided(
    waiting: &mut Waiting,
    id: Option<InterruptId>,
) -> Result<Vec<Interrupt>, AnswerError> {
    let is_decided = |interrupt: &Interrupt| {
        !matches!(interrupt.kind, InterruptKind::Ask { .. })
            && id.is_none_or(|id| interrupt.id == id)
    };
    let decided: Vec<Interrupt> = waiting
        .extract_if(.., |(_, interrupt)| is_decided(interrupt))
        .map(|(_, interrupt)| interrupt)
        .collect();
    if !decided.is_empty() {
        return Ok(decided);
    }
    let question = |id| {
        let mut waiting = waiting.iter().map(|(_, interrupt)| interrupt);
        waiting.find(|interrupt| interrupt.id == id)
    };
    Err(match id {
        Some(id) => match question(id) {
            Some(question) => AnswerError::Value(format!(
                "{id} is the question `{}` of node `{}`, and a decision is for an approval; answer the question",
                question.what(),
                question.node
            )),
            None => unknown(waiting, id),
        },
        None => AnswerError::Value(format!(
            "the thread does not wait for an approval; it waits for {}",
            open(&only_interrupts(waiting))
        )),
    })
}

/// The entry of a decision about an approval.
pub(crate) fn decision(interrupt: &Interrupt, kind: DecisionKind) -> AnswerEntry {
    AnswerEntry {
        id: interrupt.id.to_bytes(),
        name: kind.name().into(),
        bytes: Vec::new(),
    }
}

fn unknown(waiting: &Waiting, id: InterruptId) -> AnswerError {
    AnswerError::Unknown {
        id,
        waiting: only_interrupts(waiting),
    }
}

pub(crate) fn only_interrupts(waiting: &[(TaskId, Interrupt)]) -> Vec<Interrupt> {
    waiting
        .iter()
        .map(|(_, interrupt)| interrupt.clone())
        .collect()
}
