//! A flow of one type, as far as its threads need it: how values are read and shown.

use axum::http::StatusCode;
use petalflow::Flow;
use petalflow::interrupt::{InterruptId, InterruptKind, Resume};
use petalflow::state::{State, Storable};
use petalflow::thread::Thread;
use serde_json::Value;

use super::facts::Facts;
use super::forms::Forms;
use super::question::{AnswerBody, unfit};
use super::threads::{InputValue, no_thread};
use super::view::{self, Shown};
use crate::refusal::Refusal;

/// A flow of one type, wherever its threads are.
pub(super) struct TypedFlow<F: Flow> {
    pub(super) facts: Facts,
    pub(super) forms: Forms<F>,
    pub(super) secrets: Vec<String>,
}

impl<F: Flow<State: Storable>> TypedFlow<F> {
    /// The thread, or one of its checkpoints, as clients see it. `None` if there is no such thread.
    pub(super) async fn view(
        &self,
        thread: &Thread<F>,
        checkpoint: Option<u64>,
    ) -> Result<Option<Value>, Refusal> {
        let Some(info) = thread.info().await? else {
            return Ok(None);
        };
        let snapshot = match checkpoint {
            Some(checkpoint) => Some(thread.snapshot_at(checkpoint).await?),
            None => thread.snapshot().await?,
        };
        let Some(snapshot) = snapshot else {
            return Ok(None);
        };
        let state = self.shown(&snapshot.state)?;
        let shown = Shown {
            checkpoint: &snapshot.info,
            tasks: &snapshot.tasks,
            questions: &snapshot.interrupts,
            state,
        };
        Ok(Some(view::value(&self.facts, &info, shown)))
    }

    /// The state in JSON, without its secrets.
    fn shown(&self, state: &F::State) -> Result<Value, Refusal> {
        let mut shown = (self.forms.state)(state).map_err(|error| {
            let text = format!("the state cannot be shown: {error}");
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, text)
        })?;
        if let Value::Object(keys) = &mut shown {
            for secret in &self.secrets {
                if let Some(value) = keys.get_mut(secret) {
                    *value = Value::Null;
                }
            }
        }
        Ok(shown)
    }

    pub(super) fn read_input(
        &self,
        value: InputValue,
    ) -> Result<<F::State as State>::Input, Refusal> {
        let unfit = |error| unfit(format!("no input of `{}`: {error}", self.facts.name));
        self.forms.read(value).map_err(unfit)
    }

    /// What resumes a thread with an answer to this open question.
    pub(super) async fn resume_with(
        &self,
        thread: &Thread<F>,
        question: &str,
        body: AnswerBody,
    ) -> Result<Resume<F::State>, Refusal> {
        let id: InterruptId = question.parse()?;
        let snapshot = thread.snapshot().await?;
        let snapshot = snapshot.ok_or_else(no_thread)?;
        let open = snapshot.interrupts.iter().find(|open| open.id == id);
        let open = open.ok_or_else(|| {
            Refusal::new(
                StatusCode::CONFLICT,
                format!(
                    "the question `{question}` is not open: it has an answer, or was never asked"
                ),
            )
        })?;
        Ok(match open.kind {
            InterruptKind::Ask { .. } => Resume::from(self.forms.questions.read(open, body)?),
            _ => Resume::new().decide(id, body.decision()?),
        })
    }
}
