//! Checks whether a question already has an answer.

use crate::checkpoint::{AnswerEntry, ThreadStorage};
use crate::durable::load::checkpoint::waiting;
use crate::outcome::ThreadError;
use crate::plan::{ExecutionPlan, NodeNames};
use crate::question::{AnswerError, Interrupt, InterruptId, InterruptKind};
use crate::task_services::question::answer::AnswerTarget;

/// The number of checkpoints that are searched for an answer, newest first.
const SEARCHED: usize = 100;

/// Fails if one of these has an answer in the newest checkpoints.
pub(crate) async fn check_unanswered(
    storage: &ThreadStorage,
    plan: &ExecutionPlan,
    targets: &[AnswerTarget],
) -> Result<(), ThreadError> {
    let approves = targets
        .iter()
        .any(|target| matches!(target, AnswerTarget::Approvals));
    if targets.is_empty() || (approves && waits_for_approval(storage, plan).await?) {
        return Ok(());
    }
    let newest = storage.history("", None, SEARCHED).await?;
    for record in storage.records("", &newest).await? {
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

/// Whether the thread still waits for an approval. Earlier decisions were then for other approvals.
async fn waits_for_approval(
    storage: &ThreadStorage,
    plan: &ExecutionPlan,
) -> Result<bool, ThreadError> {
    let stored = storage.read("", None).await?;
    let Some((newest, mut writes)) =
        stored.and_then(|mut stored| Some((stored.chain.pop()?, stored.writes)))
    else {
        return Ok(false);
    };
    let mut records = storage.records("", std::slice::from_ref(&newest)).await?;
    let Some(record) = records.pop() else {
        return Ok(false);
    };
    if record.header.origin != newest.seq {
        writes = storage.writes("", record.header.origin).await?;
    }
    storage.set_incarnation(record.header.incarnation);
    let waiting = waiting(storage, "", NodeNames::Current(plan), &record, &writes)?;
    let is_approval = |interrupt: &Interrupt| !matches!(interrupt.kind, InterruptKind::Ask { .. });
    Ok(waiting.iter().any(|(_, interrupt)| is_approval(interrupt)))
}
