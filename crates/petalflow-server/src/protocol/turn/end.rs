//! The end of a turn: its outcome, and what its thread has then.

use serde_json::Value;

use crate::refusal::Refusal;
use crate::served::{OpenQuestion, ServedThreads};

/// The end of a turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TurnEnd {
    pub(crate) outcome: TurnOutcome,
    /// What the conversation has. Of a conversation of a document, this is the state alone, which has its values.
    pub(crate) turn: petalflow_agent::TurnEnd,
    /// The questions and approvals that the flow waits for.
    pub(crate) questions: Vec<OpenQuestion>,
    /// The checkpoint at the end.
    pub(crate) checkpoint: Option<u64>,
}

/// How a turn has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TurnOutcome {
    /// It has an answer, or waits: then something is pending.
    Finished,
    /// The flow waits for answers to questions.
    Interrupted,
    /// It has failed, with the cause.
    Failed(String),
    Cancelled,
    /// The server stops. The next process continues the turn.
    Stopped,
}

/// The end of a turn with this outcome, from its last checkpoint. If that was removed, from the thread as it is now. `interrupts`:
/// what it waits for, from the log.
pub(super) async fn read(
    flow: &dyn ServedThreads,
    thread: &str,
    checkpoint: Option<u64>,
    outcome: TurnOutcome,
    interrupts: Vec<Value>,
) -> Result<TurnEnd, Refusal> {
    let view = match flow.turn_view(thread, checkpoint).await {
        Ok(view) => view,
        Err(_) if checkpoint.is_some() => flow.turn_view(thread, None).await?,
        Err(refusal) => return Err(refusal),
    };
    let questions = interrupts.into_iter();
    let questions = questions.filter_map(|shown| OpenQuestion::of(shown, flow.questions()));
    Ok(TurnEnd {
        outcome,
        turn: view.map(|view| view.turn).unwrap_or_default(),
        questions: questions.collect(),
        checkpoint,
    })
}
