//! The name of a question within its thread.

use std::fmt;

use crate::ids::TaskId;

/// Names a question within a thread: the same for as long as it waits, so that an answer can be addressed to it.
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
/// // Kept in a link in a mail, say.
/// let kept = paused.interrupts()[0].id.to_bytes();
/// let id = InterruptId::from_bytes(kept);
/// thread.resume(Resume::new().decide(id, Decision::approve())).await?.into_finished()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct InterruptId(TaskId);

impl InterruptId {
    /// The id of what a task asks under a key.
    #[inline]
    pub(crate) fn of(task: TaskId, key: &str) -> Self {
        InterruptId(TaskId::of(&[&task.to_bytes(), key.as_bytes()]))
    }

    /// The id as bytes, to be kept elsewhere.
    #[inline]
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_bytes()
    }

    /// The id of these bytes.
    #[inline]
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        InterruptId(TaskId::from_bytes(bytes))
    }
}

impl fmt::Display for InterruptId {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for InterruptId {
    #[inline]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InterruptId({self})")
    }
}
