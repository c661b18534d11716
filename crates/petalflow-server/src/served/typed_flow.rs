//! A flow of one type, as far as its threads need it: how values are read and shown.

use std::sync::Arc;

use axum::http::StatusCode;
use petalflow::Flow;
use petalflow::interrupt::{Interrupt, InterruptId, InterruptKind, Resume};
use petalflow::state::{State, Storable};
use petalflow::thread::Thread;
use serde_json::Value;

use super::facts::Facts;
use super::forms::Forms;
#[cfg(feature = "protocol")]
use super::open_question::OpenQuestion;
use super::question::{AnswerBody, unfit};
use super::refused_answer::RefusedAnswer;
use super::threads::InputValue;
#[cfg(feature = "protocol")]
use super::turn_view::{TurnView, hide};
use super::view::{self, Shown};
use crate::refusal::Refusal;

/// A flow of one type, wherever its threads are.
pub(super) struct TypedFlow<F: Flow> {
    pub(super) facts: Facts,
    pub(super) forms: Forms<F>,
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
            waits: view::waits(&info, &snapshot.interrupts, &self.forms.questions, || {
                let waits = self.forms.waits;
                waits.map_or_else(Vec::new, |waits| waits(&snapshot.state))
            }),
        };
        Ok(Some(view::value(&self.facts, &info, shown)))
    }

    /// The thread, or one of its checkpoints, as readers of its turns need it. `None` if there is no such thread.
    #[cfg(feature = "protocol")]
    pub(super) async fn turn_view(
        &self,
        thread: &Thread<F>,
        checkpoint: Option<u64>,
    ) -> Result<Option<TurnView>, Refusal> {
        let snapshot = match checkpoint {
            Some(checkpoint) => Some(thread.snapshot_at(checkpoint).await?),
            None => thread.snapshot().await?,
        };
        Ok(snapshot.map(|snapshot| {
            let questions = snapshot.interrupts.iter().filter_map(|open| {
                let shown = serde_json::json!(open);
                OpenQuestion::of(shown, &self.forms.questions)
            });
            let questions = questions.collect();
            let of_state = self.forms.turn_end;
            let turn = of_state.map(|of_state| of_state(snapshot.state));
            let mut turn = turn.unwrap_or_default();
            for secret in &self.facts.secrets {
                hide(&mut turn, secret);
            }
            TurnView { turn, questions }
        }))
    }

    /// The state in JSON, without its secrets.
    fn shown(&self, state: &F::State) -> Result<Value, Refusal> {
        let mut shown = (self.forms.state)(state).map_err(|error| {
            let text = format!("the state cannot be shown: {error}");
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, text)
        })?;
        if let Value::Object(keys) = &mut shown {
            for secret in &self.facts.secrets {
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

    /// What resumes a thread with an answer to this question, which is read when the thread is loaded. Why it is refused is then in
    /// `refused`.
    pub(super) fn resume_with(
        self: &Arc<Self>,
        question: &str,
        body: AnswerBody,
        refused: RefusedAnswer,
    ) -> Result<Resume<F::State>, Refusal> {
        let id: InterruptId = question.parse()?;
        let flow = Arc::clone(self);
        Ok(Resume::new().respond(id, move |open| {
            let read = flow.read_answer(open, body);
            read.map_err(|refusal| {
                let text = refusal.text().to_string();
                refused.set(refusal);
                text.into()
            })
        }))
    }

    fn read_answer(&self, open: &Interrupt, body: AnswerBody) -> Result<Resume<F::State>, Refusal> {
        Ok(match open.kind {
            InterruptKind::Ask { .. } => self.forms.questions.read(open, body)?.into(),
            _ => Resume::new().decide(open.id, body.decision()?),
        })
    }
}
