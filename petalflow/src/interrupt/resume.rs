//! The input with which a thread is resumed.

use std::marker::PhantomData;

use super::any_resume::{AnyResume, Response};
use super::decision::effects_of;
use super::{Answer, Decision, Interrupt, InterruptId};
use crate::error::BoxError;
use crate::node::KeyWrites;
use crate::state::State;

/// The input with which a thread is resumed: answers, decisions, changes to the state, other nodes to continue at. `()`
/// is empty.
///
/// ```
/// use petalflow::interrupt::{Decision, Resume};
/// # use petalflow::checkpoint::InMemoryStore;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Post { #[key(input)] text: String }
/// # #[node(Post)]
/// # async fn publish(text: &str) { println!("{text}"); }
/// # flow!(Publish(Post) { publish; interrupt before publish; });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let thread = Publish::new().store(&InMemoryStore::new()).thread("post");
/// # let paused = thread.run("hello".to_string()).await?;
/// # let _ = paused;
/// let resume = Resume::new().update(PostText("Hello".into())).decide_all(Decision::approve());
/// assert_eq!(thread.resume(resume).await?.into_finished()?.text, "Hello");
/// # Ok(())
/// # }
/// ```
pub struct Resume<S: State> {
    pub(crate) any: AnyResume,
    state: PhantomData<fn() -> S>,
}

impl_debug!([S: State] Resume<S>, |this| answers = this.any.answers, decisions = this.any.decisions, updates = this.any.updates.len(), goto = this.any.goto,
    responses = this.any.responses.len());

impl<S: State> Default for Resume<S> {
    fn default() -> Self {
        Resume {
            any: AnyResume::default(),
            state: PhantomData,
        }
    }
}

impl<S: State> Resume<S> {
    /// An empty input.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers a question.
    #[must_use]
    pub fn answer(mut self, answer: Answer) -> Self {
        self.any.answers.push(answer);
        self
    }

    /// Decides one `interrupt before` or `interrupt after`.
    #[must_use]
    pub fn decide(mut self, id: InterruptId, decision: Decision<S>) -> Self {
        self.any.decisions.push((Some(id), decision.any));
        self
    }

    /// Decides all open ones.
    #[must_use]
    pub fn decide_all(mut self, decision: Decision<S>) -> Self {
        self.any.decisions.push((None, decision.any));
        self
    }

    /// Writes these values through the keys' reducers before the run resumes.
    #[must_use]
    pub fn update(mut self, writes: impl KeyWrites<S>) -> Self {
        self.any.updates.push(effects_of(writes));
        self
    }

    /// Resumes at this node instead of where the thread stopped; called several times, at all of these nodes. Use it if
    /// a changed program no longer has the node at which the thread stopped.
    #[must_use]
    pub fn goto(mut self, node: impl Into<String>) -> Self {
        self.any.goto.push(node.into());
        self
    }

    /// Responds to the question or the approval with this id as the function says, which gets it from the thread that the run
    /// has claimed. So a program that does not know what is asked need not load the thread first, and nobody else can answer in
    /// between. An error of the function is [`AnswerError::Value`](crate::interrupt::AnswerError::Value), and the thread waits as before.
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
        self.any.responses.push(Response::To { id, make });
        self
    }
}

impl<S: State> From<()> for Resume<S> {
    fn from((): ()) -> Self {
        Self::default()
    }
}

impl<S: State> From<Answer> for Resume<S> {
    fn from(answer: Answer) -> Self {
        Self::new().answer(answer)
    }
}

impl<S: State> From<Vec<Answer>> for Resume<S> {
    fn from(answers: Vec<Answer>) -> Self {
        let mut resume = Self::default();
        resume.any.answers = answers;
        resume
    }
}

impl<S: State> From<Decision<S>> for Resume<S> {
    fn from(decision: Decision<S>) -> Self {
        Self::new().decide_all(decision)
    }
}
