//! Edits of a thread's state from outside of a run.

use std::marker::PhantomData;

use crate::erased::StateType;
use crate::error::BoxError;
use crate::node::{ExternalOutput, Output};
use crate::state::{KeyFlag, State};
use petalflow_store::codec::encode;
use serde_core::Serialize;

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
    pub(crate) any: AnyEdit,
    state: PhantomData<fn() -> S>,
}

/// An [`Edit`] without the type of the state.
pub(crate) struct AnyEdit {
    pub(crate) node: Option<String>,
    pub(crate) output: Result<ExternalOutput, BoxError>,
}

impl_debug!([S: State] Edit<S>, |this| node = this.any.node, output = this.any.output);

impl AnyEdit {
    fn new(output: Result<ExternalOutput, BoxError>) -> Self {
        AnyEdit { node: None, output }
    }

    /// See [`Edit::of_keys`].
    fn of_keys<N: AsRef<str>, V: Serialize>(
        ty: &StateType,
        values: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Self, BoxError> {
        let codec = (ty.codec)();
        let codec = codec.ok_or_else(|| format!("the state `{}` is volatile", ty.name))?;
        let mut writes = (ty.no_effects)();
        for (name, value) in values {
            let name = name.as_ref();
            let index = ty.keys.iter().position(|key| key.name == name);
            let Some(index) = index.filter(|index| !ty.untracked.contains(*index)) else {
                let keys = ty.keys.iter().filter(|key| !key.has(KeyFlag::Untracked));
                let keys: Vec<_> = keys.map(|key| format!("`{}`", key.name)).collect();
                let (state, keys) = (ty.name, keys.join(", "));
                return Err(format!(
                    "the state `{state}` has no key `{name}`; its keys are {keys}"
                )
                .into());
            };
            let mut bytes = Vec::new();
            encode(&value, &mut bytes)?;
            (codec.load_value)(&mut *writes, index, &bytes)
                .map_err(|error| format!("the value of key `{name}` does not fit: {error}"))?;
        }
        Ok(AnyEdit::new(Ok(ExternalOutput::of_update(writes))))
    }
}

impl<S: State> Edit<S> {
    fn of(any: AnyEdit) -> Self {
        Edit {
            any,
            state: PhantomData,
        }
    }

    /// Writes these values; the thread resumes where it stopped.
    pub fn new(writes: impl Output<S>) -> Self {
        Edit::of(AnyEdit::new(ExternalOutput::new::<S, _>(writes)))
    }

    /// Sets keys that are known by their names only: for a program that does not know the types of the state, such as a page for
    /// edits. Each value replaces that of its key, whatever the reducer of the key is. It may have any form that serde reads as
    /// the type of the key.
    ///
    /// ```
    /// use petalflow::thread::Edit;
    /// use petalflow::prelude::*;
    /// use serde_json::json;
    ///
    /// #[state]
    /// struct Chat {
    ///     #[key(append)]
    ///     lines: Vec<String>,
    /// }
    ///
    /// let edit = Edit::<Chat>::of_keys([("lines", json!(["by hand"]))])?;
    /// # let _ = edit;
    /// let error = Edit::<Chat>::of_keys([("line", json!("by hand"))]).unwrap_err();
    /// assert_eq!(error.to_string(), "the state `Chat` has no key `line`; its keys are `lines`");
    /// # Ok::<(), petalflow::BoxError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the state has no such key, does not store it, or a value is not one of its type.
    pub fn of_keys<N: AsRef<str>, V: Serialize>(
        values: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Self, BoxError> {
        AnyEdit::of_keys(StateType::of::<S>(), values).map(Edit::of)
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
        self.any.node = Some(node.into());
        self
    }
}
