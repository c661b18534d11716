//! Edits of a thread's state from outside of a run.

use crate::error::BoxError;
use crate::node::{ExternalOutput, Output};
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
    pub(crate) output: Result<ExternalOutput<S>, BoxError>,
}

impl_debug!([S: State] Edit<S>, |this| node = this.node, output = this.output);

impl<S: State> Edit<S> {
    /// Writes these values; the thread resumes where it stopped.
    pub fn new(writes: impl Output<S>) -> Self {
        Edit {
            node: None,
            output: ExternalOutput::new(writes),
        }
    }

    /// Writes these values as the result of this node; the thread resumes after the node. The writes may be of any keys.
    ///
    /// If the node chooses a route or sends items, so does the edit, with a value of the type that the node returns. A node
    /// that writes no key may be left to decide by the new state: without a route, the thread resumes at the node.
    ///
    /// ```
    /// use petalflow::thread::Edit;
    /// # use petalflow::checkpoint::InMemoryStore;
    /// # use petalflow::prelude::*;
    /// # #[state]
    /// # struct Essay { #[key(input)] score: u32, #[key(append)] steps: Vec<String> }
    /// #[node(Essay)]
    /// async fn is_good(score: &u32) -> bool {
    ///     *score > 5
    /// }
    /// # #[node(Essay)]
    /// # async fn publish() -> EssaySteps { EssaySteps(vec!["published".into()]) }
    /// # #[node(Essay)]
    /// # async fn revise() -> EssaySteps { EssaySteps(vec!["revised".into()]) }
    /// # flow!(Review(Essay) { START -> is_good -> match { true => publish, false => revise }; });
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let thread = Review::new().store(&InMemoryStore::new()).thread("ann");
    /// # thread.run(3).await?.into_finished()?;
    /// // The node decides by the new score.
    /// thread.update(Edit::new(EssayScore(9)).by("is_good")).await?;
    /// let essay = thread.resume(()).await?.into_finished()?;
    /// assert_eq!(essay.steps, ["revised", "published"]);
    ///
    /// // The edit decides.
    /// thread.update(Edit::new(false).by("is_good")).await?;
    /// let essay = thread.resume(()).await?.into_finished()?;
    /// assert_eq!(essay.steps, ["revised", "published", "revised"]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn by(mut self, node: impl Into<String>) -> Self {
        self.node = Some(node.into());
        self
    }
}
