//! Answers that depend on what a thread waits for.

use super::{AnswerError, AnyResume, Interrupt, InterruptId, Resume};
use crate::error::BoxError;
use crate::state::State;

/// An answer that is made when the thread is loaded.
pub(crate) struct Response {
    pub(crate) id: InterruptId,
    make: Box<dyn FnOnce(&Interrupt) -> Result<AnyResume, BoxError> + Send + Sync>,
}

impl<S: State> Resume<S> {
    /// Responds to the question or the approval with this id as the function says, which gets it from the thread that the run
    /// has claimed. So a program that does not know what is asked need not load the thread first, and nobody else can answer in
    /// between. An error of the function is [`AnswerError::Value`], and the thread waits as before.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow::interrupt::{Answer, Ask, Decision, InterruptKind, Resume};
    /// use petalflow::prelude::*;
    ///
    /// #[derive(serde::Serialize, Ask)]
    /// #[ask(answer = bool)]
    /// struct MayPost {
    ///     text: String,
    /// }
    /// # #[state]
    /// # struct Post { #[key(input)] text: String, posted: bool }
    /// # #[node(Post)]
    /// # async fn review(text: &str, cx: Context) -> petalflow::Result<PostPosted> {
    /// #     Ok(PostPosted(cx.ask(MayPost { text: text.into() }).await?))
    /// # }
    /// # flow!(Publish(Post) { review });
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let thread = Publish::new().store(&InMemoryStore::new()).thread("post");
    /// # let id = thread.run("hello".to_string()).await?.interrupts()[0].id;
    /// // A form has been sent, for whatever has this id.
    /// let resume = Resume::new().respond(id, |open| match open.kind {
    ///     InterruptKind::Ask { .. } => Ok(Answer::new::<MayPost>(open.id, &true)?.into()),
    ///     _ => Ok(Resume::new().decide(open.id, Decision::approve())),
    /// });
    /// assert!(thread.resume(resume).await?.into_finished()?.posted);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn respond(
        mut self,
        id: InterruptId,
        make: impl FnOnce(&Interrupt) -> Result<Self, BoxError> + Send + Sync + 'static,
    ) -> Self {
        let make = Box::new(|open: &Interrupt| Ok(make(open)?.any));
        self.any.responses.push(Response { id, make });
        self
    }
}

impl AnyResume {
    /// The input with the answers and decisions of its responses to what the thread waits for.
    pub(crate) fn with_responses<'a>(
        mut self,
        waiting: impl Iterator<Item = &'a Interrupt> + Clone,
    ) -> Result<Self, AnswerError> {
        for Response { id, make } in std::mem::take(&mut self.responses) {
            let open = waiting.clone().find(|open| open.id == id);
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
        Ok(self)
    }
}
