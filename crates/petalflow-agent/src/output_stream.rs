//! The typed answer of an agent while its model writes it.

use std::fmt;
use std::marker::PhantomData;

use petalflow::BoxError;
use petalflow::tool::Partial;

use crate::Conversation;
use crate::stream::{AgentEventKind, AgentEvents, AgentStreamItem};

/// The typed answer of an agent while its model writes it: a stream of what is known of it, and then the conversation with the
/// whole answer. Made by [`Agent::stream_output`](crate::Agent::stream_output) and [`AgentEvents::outputs`].
///
/// Each item replaces the one before, also after a retry, or when an answer has gone back to the model. See
/// [`PartialOutput`](crate::PartialOutput) for what is known when. Polling the stream drives the run. Dropping it stops the run.
///
/// ```
/// use petalflow::tool::Partial;
/// use petalflow_agent::Agent;
/// use petalflow_llm::{Reply, ScriptedModel};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema, Partial)]
/// struct Recipe {
///     title: String,
///     steps: Vec<String>,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let pieces = [r#"{"title": "Pancakes", "#, r#""steps": ["Mix.", "#, r#""Bake."]}"#];
/// # let model = ScriptedModel::new([Reply::chunks(pieces)]);
/// let agent = Agent::new(model).output::<Recipe>();
/// let mut recipes = agent.stream_output::<Recipe>("Pancakes, please.");
/// while let Some(recipe) = recipes.next().await {
///     let steps = recipe.steps.unwrap_or_default();
///     println!("{}: {} steps", recipe.title.unwrap_or_default(), steps.len());
/// }
/// let recipe: Recipe = recipes.finish().await?.output()?;
/// assert_eq!(recipe.steps, ["Mix.", "Bake."]);
/// # Ok(())
/// # }
/// ```
#[must_use = "the stream drives the run: nothing happens before it is polled"]
pub struct OutputStream<T> {
    events: AgentEvents,
    /// What ends the run, once it has ended.
    end: Option<AgentEventKind>,
    output: PhantomData<fn() -> T>,
}

impl AgentEvents {
    /// Reads the partial answers of the agent as what is known of a `T`. All other events are dropped.
    ///
    /// ```
    /// use petalflow::checkpoint::InMemoryStore;
    /// use petalflow_agent::Agent;
    /// use petalflow_agent::stream::AgentEvents;
    /// use petalflow_llm::{Reply, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let model = ScriptedModel::new([Reply::chunks(["[3, ", "5, 8]"])]);
    /// let thread = Agent::new(model).output::<Vec<u32>>().streaming().store(&InMemoryStore::new()).thread("ann");
    /// let mut numbers = AgentEvents::new(thread.run("Three numbers, please.").events()).outputs::<Vec<u32>>();
    /// assert_eq!(numbers.next().await, Some(vec![3]));
    /// assert_eq!(numbers.finish().await?.output::<Vec<u32>>()?, [3, 5, 8]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn outputs<T: Partial>(self) -> OutputStream<T> {
        OutputStream {
            events: self,
            end: None,
            output: PhantomData,
        }
    }
}

impl<T: Partial> OutputStream<T> {
    /// What is known of the answer when the next partial answer comes. It may be what was known before. `None` when the run has ended.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing. The run stops until the stream is polled again.
    pub async fn next(&mut self) -> Option<T::Partial> {
        while let Some(item) = self.events.next().await {
            if let Some(known) = self.take(item) {
                return Some(known);
            }
        }
        None
    }

    /// Runs the turn to its end, and returns the conversation. [`Conversation::output`] has the whole answer, which was checked.
    ///
    /// # Errors
    ///
    /// The error of the run. Also if the turn waits for a person or sleeps: read the [events](crate::Agent::events) of an agent
    /// that does.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future stops the run.
    pub async fn finish(mut self) -> Result<Conversation, BoxError> {
        while self.next().await.is_some() {}
        match self.end.take() {
            Some(AgentEventKind::Finished(talk)) => Ok(*talk),
            Some(AgentEventKind::Failed(error)) => Err(error.into()),
            Some(AgentEventKind::Interrupted(_)) => {
                Err("the turn waits for a person, and has no answer yet".into())
            }
            Some(AgentEventKind::Sleeping(_)) => {
                Err("the turn sleeps, and has no answer yet".into())
            }
            _ => Err("the run has ended without a result".into()),
        }
    }

    fn take(&mut self, item: AgentStreamItem) -> Option<T::Partial> {
        match item.kind {
            // Agents that tools run have answers of their own.
            AgentEventKind::PartialOutput(output)
                if item.namespace.as_str().is_empty() && output.branch.is_none() =>
            {
                output.read::<T>()
            }
            kind @ (AgentEventKind::Finished(_)
            | AgentEventKind::Failed(_)
            | AgentEventKind::Interrupted(_)
            | AgentEventKind::Sleeping(_)) => {
                self.end = Some(kind);
                None
            }
            _ => None,
        }
    }
}

impl<T> fmt::Debug for OutputStream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutputStream").finish_non_exhaustive()
    }
}
