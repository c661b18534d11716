//! Edits of a thread's state from outside of a run.

use crate::error::BoxError;
use crate::node::{Effects, Output};
use crate::state::State;

/// An edit of a thread's state from outside of a run: the result of a node, written through the keys' reducers.
///
/// ```
/// use petalflow::thread::Edit;
/// # use petalflow::checkpoint::InMemoryStore;
/// # use petalflow::prelude::*;
/// # #[state]
/// # struct Chat { #[key(input, append)] lines: Vec<String> }
/// # #[node(Chat)]
/// # async fn reply(lines: &[String]) -> ChatLines { ChatLines(vec![format!("{} so far", lines.len())]) }
/// # flow!(Talk(Chat) { reply });
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let thread = Talk::new().store(&InMemoryStore::new()).thread("ann");
/// # thread.run(vec!["hello".to_string()]).await?.into_finished()?;
/// thread.update(Edit::new(ChatLines(vec!["by hand".into()]))).await?;
/// let snapshot = thread.snapshot().await?.expect("it has run");
/// assert_eq!(snapshot.state.lines, ["hello", "1 so far", "by hand"]);
/// # Ok(())
/// # }
/// ```
pub struct Edit<S: State> {
    pub(crate) node: Option<String>,
    pub(crate) effects: Result<Effects<S>, BoxError>,
}

impl<S: State> std::fmt::Debug for Edit<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Edit")
            .field("node", &self.node)
            .field("effects", &self.effects)
            .finish()
    }
}

impl<S: State> Edit<S> {
    /// Writes these values; the thread resumes where it stopped.
    pub fn new(writes: impl Output<S>) -> Self {
        let mut effects = Effects::default();
        let applied = writes.apply(&mut effects);
        Edit {
            node: None,
            effects: applied.map(|()| effects),
        }
    }

    /// Writes these values as the result of this node; the thread resumes after the node.
    #[must_use]
    pub fn by(mut self, node: impl Into<String>) -> Self {
        self.node = Some(node.into());
        self
    }
}
