//! A node asks a person.

use std::any::type_name;
use std::sync::atomic::Ordering;

use crate::clock::now_ms;
use crate::error::BoxError;
use crate::question::{Ask, Expiry, Interrupt, InterruptId, InterruptKind};
use crate::task_services::{TaskRef, TaskServices};
use petalflow_store::codec::decode;

impl TaskServices {
    /// Asks a question. Without a recorded answer this does not complete while the node runs: the task is dropped, and the
    /// node runs again once there is an answer.
    pub(crate) async fn ask<A: Ask>(
        &self,
        task: &TaskRef<'_>,
        question: A,
    ) -> Result<A::Answer, BoxError> {
        task.check_alive("ask")?;
        let key = question.key();
        let name = format!("{}/{key}", A::NAME);
        self.reserve(task, "ask", &name, || {
            format!("give each question of one type its own `Ask::key`; this one is {key:?}")
        })?;
        let id = InterruptId::of(task.id, &name);
        let expiry = question.expires();
        if let Some((asked, answer)) = self.answers.get(id) {
            for (services, task) in self.lineage(task.id) {
                services.has_records.store(true, Ordering::Release);
                services.lock().answered.insert(task);
            }
            return recorded_answer::<A>(task.node, &asked, &answer, expiry);
        }
        // The task is not dropped before it has asked all that it asks at once.
        let asking = self.call_effect(task.id);
        let asked_before = self.first_asked_ms(id);
        let mut asked_ms = asked_before.unwrap_or_else(now_ms);
        let mut expires_ms = None;
        if let Some(Expiry { after, answer }) = expiry {
            if after.is_zero() {
                return Ok(answer);
            }
            if asked_before.is_none() {
                asked_ms = match self.storage.store.now_ms().await {
                    Ok(now_ms) => now_ms,
                    Err(error) => return Err(self.abort(task, "ask", error.into()).await),
                };
            }
            let after = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
            // That it has expired is recorded first, as an answer is. Otherwise one run of the node could continue with the default,
            // and the next with an answer that arrived in between.
            expires_ms = Some(asked_ms.saturating_add(after));
        }
        let kind = InterruptKind::Ask {
            name: A::NAME.into(),
            question: question.stored()?,
        };
        let mut interrupt = Interrupt::new(id, task.node, self.namespace.as_str(), kind);
        interrupt.index = task.index;
        (interrupt.asked_ms, interrupt.expires_ms) = (asked_ms, expires_ms);
        interrupt.answer_type = type_name::<A::Answer>().into();
        self.wait_for(task, vec![interrupt]);
        drop(asking);
        Err(task.wait_until_over("ask").await)
    }
}

/// Decodes a recorded answer, which must be to a question of the same type.
fn recorded_answer<A: Ask>(
    node: &str,
    asked: &str,
    answer: &[u8],
    expiry: Option<Expiry<A::Answer>>,
) -> Result<A::Answer, BoxError> {
    let ask_again =
        "to ask again, fork the thread at its newest checkpoint (`Thread::fork`) and resume it";
    if asked != A::NAME {
        let name = A::NAME;
        return Err(format!(
            "node `{node}` asks `{name}`, and the recorded answer is for `{asked}`; {ask_again}"
        )
        .into());
    }
    if answer.is_empty() {
        return expiry.map(|expiry| expiry.answer).ok_or_else(|| {
            format!(
                "the question `{}` of node `{node}` has expired, and `Ask::expires` returns no default answer any more; {ask_again}",
                A::NAME
            )
            .into()
        });
    }
    decode(answer).map_err(|error| {
        format!(
            "the recorded answer to `{}` in node `{node}` cannot be read as `{}`: {error}; an earlier program has recorded another type; {ask_again}",
            A::NAME,
            type_name::<A::Answer>()
        )
        .into()
    })
}
