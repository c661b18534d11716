//! Results that a client sends: which of them a thread waits for.

use std::sync::Arc;

use serde_json::Value;

use super::calls::{self, Waits};
use super::error::ApiError;
use crate::access::Access;
use crate::protocol::turn::PersonAnswer;
use crate::served::{AnswerBody, ServedThreads};
use crate::server::{Inner, prefix};

/// A result of a call, as a client sends it.
#[derive(Clone, Debug)]
pub(super) struct SentResult {
    pub(super) call: String,
    pub(super) content: Value,
}

/// What results do.
pub(super) enum Continues {
    /// They answer what a thread waits for.
    Answers {
        thread: String,
        answers: Vec<PersonAnswer>,
    },
    /// They answer a question of a flow.
    Question {
        thread: String,
        question: String,
        body: AnswerBody,
    },
}

/// What the results continue. `None` if no thread waits for all of them: the client has the conversation itself.
pub(super) async fn find(
    server: &Inner,
    access: &Access,
    flow: &Arc<dyn ServedThreads>,
    results: &[SentResult],
) -> Result<Option<Continues>, ApiError> {
    let mut own = results.iter().map(|result| calls::thread_of(&result.call));
    let Some(Some(first)) = own.next() else {
        return Ok(None);
    };
    if own.any(|other| other != Some(first)) {
        return Ok(None);
    }
    let thread = format!("{}{first}", prefix(flow.facts()));
    if server.visible(access, &thread).await.is_err() {
        return Ok(None);
    }
    let waits = waits(&**flow, &thread).await?;
    let mut answers = Vec::new();
    for result in results {
        let Some((_, waits)) = waits.iter().find(|(id, _)| *id == result.call) else {
            return Ok(None);
        };
        match waits {
            Waits::Pending(pending) => {
                answers.extend(calls::answer(pending, result.content.clone()));
            }
            Waits::Question(question) if results.len() == 1 => {
                return Ok(Some(Continues::Question {
                    thread,
                    question: question.clone(),
                    body: AnswerBody::of(calls::parsed(result.content.clone())),
                }));
            }
            Waits::Question(_) => {
                return Err(ApiError::invalid(
                    "a question of a flow is answered alone: send one result, and the others after it",
                ));
            }
        }
    }
    Ok(Some(Continues::Answers { thread, answers }))
}

/// What a thread waits for, by the ids of the calls.
async fn waits(flow: &dyn ServedThreads, thread: &str) -> Result<Vec<(String, Waits)>, ApiError> {
    let Some(now) = flow.turn_view(thread, None).await? else {
        return Ok(Vec::new());
    };
    let pending = now.turn.pending.into_iter().map(|pending| {
        let id = calls::id(thread, pending.id());
        (id, Waits::Pending(pending))
    });
    let questions = now.questions.into_iter().map(|question| {
        let id = calls::id(thread, &question.id);
        (id, Waits::Question(question.id))
    });
    Ok(pending.chain(questions).collect())
}
