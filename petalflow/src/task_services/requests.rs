//! Requests of tasks to models, which a thread with results records for replays.

use std::pin::pin;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::{TaskRef, TaskServices, within_effect};
use crate::checkpoint::{Durability, WriteName};
use crate::error::BoxError;
use crate::noted_request::NotedRequest;
use crate::request_parts::RequestParts;
use crate::state::Recordable;
use petalflow_store::codec::{decode, encode, to_form};

const METHOD: &str = "note_request";

/// How many requests of an attempt are recorded.
const MOST: u32 = 256;

/// The longest answer that is recorded, in bytes.
const LONGEST_ANSWER: usize = 256 * 1024;

/// A request that was noted.
pub(crate) struct Noted {
    group: Vec<String>,
    index: u32,
    /// Whether the answer is recorded with the next request. That of an effect is recorded by itself.
    keeps_answer: bool,
    /// The answer that a replay gives.
    answer: Option<Vec<u8>>,
}

impl TaskServices {
    /// Whether requests are recorded: the thread retains the results of its tasks, and stores them when they end.
    pub(crate) fn notes_requests(&self) -> bool {
        self.retention.results && self.durability != Durability::Exit
    }

    /// Records a request. In a replay, gives it to the replay, and goes on only if the task is one that runs.
    pub(crate) async fn note_request(
        &self,
        task: &TaskRef<'_>,
        parts: &RequestParts,
    ) -> Result<Noted, BoxError> {
        self.note(task, parts, false).await
    }

    /// As [`note_request`](Self::note_request). A replay of a task that runs as far as its requests goes on if it has the answer.
    pub(crate) async fn note_call(
        &self,
        task: &TaskRef<'_>,
        parts: &RequestParts,
    ) -> Result<Noted, BoxError> {
        self.note(task, parts, true).await
    }

    async fn note(
        &self,
        task: &TaskRef<'_>,
        parts: &RequestParts,
        takes_answer: bool,
    ) -> Result<Noted, BoxError> {
        task.check_alive(METHOD)?;
        let effects = within_effect::names(task.id);
        let keeps_answer = takes_answer && effects.is_empty();
        let mut group = effects.clone();
        group.extend(parts.item().map(String::from));
        let (number, index, attempt) = self.number_request(task, &group);
        let noted = Noted {
            group,
            index,
            keeps_answer,
            answer: None,
        };
        #[cfg(feature = "engine")]
        if self.storage.store.is_replay() {
            let made_in = (&*effects, parts.item());
            let request = NotedRequest::encode(attempt, made_in, Vec::new(), parts.form(true))?;
            let at = (number, &*noted.group, index);
            let answer = self.storage.store.take_request(task.id, at, request);
            self.end_effect(task, &effects).await;
            let answer = answer.filter(|_| takes_answer);
            if answer.is_none() {
                self.leave_if_prepared(task).await?;
            }
            return Ok(Noted { answer, ..noted });
        }
        if number >= MOST {
            return Ok(noted);
        }
        let answers = self.lock().requests_made.take_answers(task);
        let (made_in, form) = ((&*effects, parts.item()), parts.form(false));
        if number == 0 && self.has_noted(task, made_in, &form)? {
            return Ok(noted);
        }
        let request = NotedRequest::encode(attempt, made_in, answers, form)?;
        let stored = pin!(self.barrier_stored(task.superstep));
        task.while_alive(METHOD, stored).await?;
        let name = WriteName::Request(number);
        match self.store_record(task, name, request).await {
            Ok(()) => Ok(noted),
            Err(error) => Err(self.abort(task, METHOD, error.into()).await),
        }
    }

    /// Whether an earlier run of the task has recorded this request and no other. Then this run continues that attempt, and nothing is
    /// written: a process that lives for few writes must not spend them on what the store has.
    fn has_noted(
        &self,
        task: &TaskRef<'_>,
        made_in: (&[String], Option<&str>),
        form: &Value,
    ) -> Result<bool, BoxError> {
        let mut inner = self.lock();
        let Some((attempt, noted)) = inner.requests_made.only_request(task) else {
            return Ok(false);
        };
        let again = NotedRequest::encode(attempt, made_in, Vec::new(), form.clone())?;
        let is_same = again == noted;
        if is_same {
            inner.requests_made.continue_attempt(task);
        }
        Ok(is_same)
    }

    /// The answer that a replay gives to a request. `None` if there is none of this type: then the task is left, if it runs only as far as
    /// its requests.
    pub(crate) async fn recorded_answer<T: Recordable>(
        &self,
        task: &TaskRef<'_>,
        noted: &Noted,
    ) -> Result<Option<T>, BoxError> {
        let Some(bytes) = &noted.answer else {
            return Ok(None);
        };
        match decode(bytes) {
            Ok(answer) if self.storage.store.prepares(task.id) => Ok(Some(answer)),
            _ => {
                #[cfg(feature = "engine")]
                self.leave_if_prepared(task).await?;
                Ok(None)
            }
        }
    }

    /// Keeps the answer to a request: it is recorded with the next one of the task.
    pub(crate) fn note_answer<T: Recordable>(&self, task: &TaskRef<'_>, noted: Noted, answer: &T) {
        let mut bytes = Vec::new();
        let is_kept = noted.keeps_answer && !self.storage.store.is_replay();
        // A replay that does not have it ends at the request.
        if !is_kept || encode(answer, &mut bytes).is_err() || bytes.len() > LONGEST_ANSWER {
            return;
        }
        let form = to_form(&bytes);
        if form.get("$bytes").is_some() {
            return;
        }
        // It is not one of an effect, so its group is what it was for.
        let of = noted.group.first();
        let answer = json!({ "of": of, "index": noted.index, "is": form });
        let mut inner = self.lock();
        inner.requests_made.keep_answer(task, answer);
    }

    /// Leaves a task that a replay runs only as far as its requests.
    #[cfg(feature = "engine")]
    pub(crate) async fn leave_if_prepared(&self, task: &TaskRef<'_>) -> Result<(), BoxError> {
        self.end_effect(task, &within_effect::names(task.id)).await;
        if self.storage.store.prepares(task.id) {
            return Err(self.leave_for_good(task.id).await);
        }
        Ok(())
    }

    /// Ends the innermost of these effects, if a replay runs it as far as the requests in it: it gives its recorded result.
    #[cfg(feature = "engine")]
    async fn end_effect(&self, task: &TaskRef<'_>, effects: &[String]) {
        if let Some(effect) = effects.last()
            && self.storage.store.enters_effect(task.id, effect)
        {
            self.lock().asked_within.insert((task.id, effect.clone()));
            std::future::pending::<()>().await;
        }
    }

    /// An effect has given its recorded result without running.
    pub(super) fn skip_requests(&self, task: &TaskRef<'_>, effect: &str) {
        if self.notes_requests() {
            self.lock().requests_made.skip(task, effect);
        }
    }

    /// The number of a request among those of an attempt, its index in its group, and the number of the attempt.
    fn number_request(&self, task: &TaskRef<'_>, group: &[String]) -> (u32, u32, u32) {
        self.has_records.store(true, Ordering::Release);
        let mut inner = self.lock();
        inner.requests_made.number(task, group)
    }
}
