//! What a thread's run comes to.

use std::fmt;

use crate::question::{Interrupt, listed};
use crate::state::State;

/// What a thread's run comes to: its end, or questions.
///
/// ```
/// use petalflow::thread::Outcome;
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
/// match paused {
///     Outcome::Finished(post) => println!("published: {}", post.text),
///     Outcome::Paused(paused) => assert_eq!(paused.interrupts[0].node, "publish"),
/// }
/// # Ok(())
/// # }
/// ```
///
/// It has no other variants, so that programs match all of them.
#[derive(Debug)]
#[must_use = "the run may have stopped to ask something"]
pub enum Outcome<S: State> {
    /// The run has reached its end.
    Finished(S),
    /// The run waits for people.
    Paused(Paused<S>),
}

/// A run that waits for people. As an error, it says for what.
///
/// ```
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
/// let paused = paused.into_finished().err().expect("somebody is asked");
/// assert_eq!(paused.state.text, "hello");
/// assert_eq!(paused.to_string(), "the run has not ended: node `publish` waits for an approval before it runs");
/// # Ok(())
/// # }
/// ```
#[derive(thiserror::Error)]
#[error("the run has not ended: {}", listed(interrupts))]
pub struct Paused<S: State> {
    /// The state at the last barrier.
    pub state: S,
    /// What is asked.
    pub interrupts: Vec<Interrupt>,
}

impl<S: State> Outcome<S> {
    /// The final state.
    ///
    /// # Errors
    ///
    /// If the run waits for people.
    pub fn into_finished(self) -> Result<S, Paused<S>> {
        match self {
            Outcome::Finished(state) => Ok(state),
            Outcome::Paused(paused) => Err(paused),
        }
    }

    /// What the run waits for; nothing if it has ended.
    pub fn interrupts(&self) -> &[Interrupt] {
        match self {
            Outcome::Finished(_) => &[],
            Outcome::Paused(paused) => &paused.interrupts,
        }
    }

    /// The state: the final one, or that of the last barrier.
    pub fn state(&self) -> &S {
        match self {
            Outcome::Finished(state) => state,
            Outcome::Paused(paused) => &paused.state,
        }
    }
}

impl<S: State> fmt::Debug for Paused<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Paused")
            .field("interrupts", &self.interrupts)
            .finish_non_exhaustive()
    }
}
