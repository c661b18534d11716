//! The id of a question within its thread.

use std::fmt;

use crate::ids::TaskId;

/// The id of a question within a thread. It stays the same while the question waits, so an answer can name it.
///
/// ```
/// use petalflow::interrupt::{Decision, InterruptId, Resume};
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
/// // For example, stored in a link in a mail.
/// let stored = paused.interrupts()[0].id.to_bytes();
/// let id = InterruptId::from_bytes(stored);
/// thread.resume(Resume::new().decide(id, Decision::approve())).await?.into_finished()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InterruptId(#[doc(hidden)] pub TaskId);

impl InterruptId {
    /// The id of the question that a task asks under this key.
    #[doc(hidden)]
    pub fn of(task: TaskId, key: &str) -> Self {
        InterruptId(TaskId::of(&[&task.to_bytes(), key.as_bytes()]))
    }

    /// The id as bytes, for a store.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_bytes()
    }

    /// The id with these bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        InterruptId(TaskId::from_bytes(bytes))
    }

    /// The id with this text form.
    pub(super) fn parse(text: &str) -> Option<Self> {
        TaskId::parse(text).map(InterruptId)
    }
}

impl fmt::Display for InterruptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for InterruptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InterruptId({self})")
    }
}
