//! Finds out whether what a caller answers has an answer already.

use super::thread_start::Command;
use crate::checkpoint::{AnswerEntry, DecisionKind, Record, ThreadStorage};
use crate::outcome::ThreadError;
use crate::question::{AnswerError, InterruptId};
use crate::state::State;

/// The number of checkpoints that are searched for an answer, newest first.
const SEARCHED: usize = 100;

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
    #[inline]
    fn is_answered_by(self, entry: &AnswerEntry) -> bool {
        match self {
            AnswerTarget::Interrupt(id) => entry.id == id.to_bytes(),
            AnswerTarget::Approvals => {
                entry.bytes.is_empty() && DecisionKind::named(&entry.name).is_some()
            }
            AnswerTarget::Question(name) => entry.name == name,
        }
    }
}

impl<S: State> Command<S> {
    /// What the command answers.
    pub(super) fn targets(&self) -> Vec<AnswerTarget> {
        let Command::Resume(resume) = self else {
            return Vec::new();
        };
        let answers = resume.answers.iter();
        let answers = answers.map(|answer| AnswerTarget::Interrupt(answer.id));
        let approvals = resume.approvals.iter();
        let approvals =
            approvals.map(|(id, _)| id.map_or(AnswerTarget::Approvals, AnswerTarget::Interrupt));
        answers.chain(approvals).collect()
    }
}

/// Fails if one of these has an answer in the newest checkpoints.
#[inline]
pub(crate) async fn check_unanswered(
    storage: &ThreadStorage,
    targets: &[AnswerTarget],
) -> Result<(), ThreadError> {
    if targets.is_empty() {
        return Ok(());
    }
    for checkpoint in storage.history("", None, SEARCHED).await? {
        let record = Record::decode(&checkpoint.bytes).map_err(ThreadError::value(format!(
            "checkpoint {} of thread `{}`",
            checkpoint.seq, storage.thread
        )))?;
        let mut entries = record.header.answers.into_iter();
        let answered = |entry: &AnswerEntry| targets.iter().any(|to| to.is_answered_by(entry));
        if let Some(entry) = entries.find(answered) {
            return Err(ThreadError::Answer(AnswerError::Answered {
                id: InterruptId::from_bytes(entry.id),
                name: entry.name,
            }));
        }
    }
    Ok(())
}
