//! The outcome of a run of a thread.

use std::time::SystemTime;

use crate::clock::{to_ms, utc};
use crate::erased::StateBox;
use crate::question::{Interrupt, list_as_text};
use crate::state::State;

/// How a run of a thread ended: finished, or paused.
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
#[must_use = "the run may be paused"]
pub enum Outcome<S: State> {
    /// The run has finished. This is its state.
    Finished(S),
    /// The run waits: for a person, for a time, or for both.
    Paused(Paused<S>),
}

/// A run that waits for a person, or for a time. As an error, its message says what it waits for.
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
/// let paused = paused.into_finished().err().expect("it is paused");
/// assert_eq!(paused.state.text, "hello");
/// assert_eq!(paused.to_string(), "the run has not ended: node `publish` waits for an approval before it runs");
/// # Ok(())
/// # }
/// ```
#[derive(thiserror::Error)]
#[error("the run has not ended: {}", waits_for(interrupts, *wakes))]
pub struct Paused<S: State> {
    /// The state at the last barrier.
    pub state: S,
    /// What the run waits for from people. Empty if it only sleeps.
    pub interrupts: Vec<Interrupt>,
    /// When the run can continue although nobody answers, if it [sleeps](crate::Context::sleep): the end of the first of its sleeps, by
    /// the clock of the store.
    pub wakes: Option<SystemTime>,
}

/// What a paused run waits for, in words.
pub(super) fn waits_for(interrupts: &[Interrupt], wakes: Option<SystemTime>) -> String {
    let Some(wakes) = wakes else {
        return list_as_text(interrupts);
    };
    let sleeps = format!("it sleeps until {}", utc(to_ms(wakes)));
    if interrupts.is_empty() {
        return sleeps;
    }
    format!("{}; {sleeps}", list_as_text(interrupts))
}

impl<S: State> Outcome<S> {
    /// The final state.
    ///
    /// # Errors
    ///
    /// If the run is paused.
    pub fn into_finished(self) -> Result<S, Paused<S>> {
        match self {
            Outcome::Finished(state) => Ok(state),
            Outcome::Paused(paused) => Err(paused),
        }
    }

    /// What the run waits for from people. Empty if it has finished, or only sleeps.
    pub fn interrupts(&self) -> &[Interrupt] {
        match self {
            Outcome::Finished(_) => &[],
            Outcome::Paused(paused) => &paused.interrupts,
        }
    }

    /// The final state, or the state at the last barrier.
    pub fn state(&self) -> &S {
        match self {
            Outcome::Finished(state) => state,
            Outcome::Paused(paused) => &paused.state,
        }
    }
}

crate::error::debug_is_message!([S: State] Paused<S>);

/// A [`Paused`] run without the type of its state.
pub(crate) struct AnyPaused {
    pub(crate) state: StateBox,
    pub(crate) interrupts: Vec<Interrupt>,
    /// In milliseconds since 1970 (UTC).
    pub(crate) wakes_ms: Option<u64>,
}
