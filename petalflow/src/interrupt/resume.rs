//! The input with which a thread is resumed.

use super::decision::update_of;
use super::{Answer, Decision, InterruptId};
use crate::error::BoxError;
use crate::node::KeyWrites;
use crate::state::{State, Update};

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
    pub(crate) answers: Vec<Answer>,
    /// Without an id, it applies to all open interrupts.
    pub(crate) decisions: Vec<(Option<InterruptId>, Decision<S>)>,
    pub(crate) updates: Vec<Result<Update<S>, BoxError>>,
    pub(crate) goto: Vec<String>,
}

impl_debug!([S: State] Resume<S>, |this| answers = this.answers, decisions = this.decisions, updates = this.updates.len(), goto = this.goto);

impl<S: State> Default for Resume<S> {
    fn default() -> Self {
        Resume {
            answers: Vec::new(),
            decisions: Vec::new(),
            updates: Vec::new(),
            goto: Vec::new(),
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
        self.answers.push(answer);
        self
    }

    /// Decides one `interrupt before` or `interrupt after`.
    #[must_use]
    pub fn decide(mut self, id: InterruptId, decision: Decision<S>) -> Self {
        self.decisions.push((Some(id), decision));
        self
    }

    /// Decides all open ones.
    #[must_use]
    pub fn decide_all(mut self, decision: Decision<S>) -> Self {
        self.decisions.push((None, decision));
        self
    }

    /// Writes these values through the keys' reducers before the run resumes.
    #[must_use]
    pub fn update(mut self, writes: impl KeyWrites<S>) -> Self {
        self.updates.push(update_of(writes));
        self
    }

    /// Resumes at this node instead of where the thread stopped; called several times, at all of these nodes. Use it if
    /// a changed program no longer has the node at which the thread stopped.
    #[must_use]
    pub fn goto(mut self, node: impl Into<String>) -> Self {
        self.goto.push(node.into());
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
        Resume {
            answers,
            ..Self::default()
        }
    }
}

impl<S: State> From<Decision<S>> for Resume<S> {
    fn from(decision: Decision<S>) -> Self {
        Self::new().decide_all(decision)
    }
}
