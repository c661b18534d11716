//! [`Agent`]: its builder methods and the methods that run it.

mod builder;
mod callbacks;
mod client;
mod node;
mod output;
mod run;
mod tools;
mod turn_middleware;

use std::sync::{Arc, OnceLock};

use crate::definition::{Definition, RootAgent};
use petalflow_llm::LlmClient;

pub use node::AgentNode;
pub use output::Answer;

/// An agent: a model with tools, instructions and other agents. A clone is cheap.
///
/// ```
/// use petalflow_agent::Agent;
/// # use petalflow_llm::{Reply, ScriptedModel};
/// use petalflow::prelude::*;
/// # use serde_json::json;
///
/// /// Looks something up.
/// #[tool]
/// fn search(
///     /// What to look for.
///     topic: String,
/// ) -> String {
///     format!("all about {topic}")
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// # let model = ScriptedModel::new([Reply::call("search", json!({ "topic": "petals" })), "They are leaves.".into()]);
/// let agent = Agent::new(model).tool(search {}).instructions("Look things up before you answer.");
/// let answer = agent.run("What are petals?").await?;
/// assert_eq!(answer.to_string(), "They are leaves.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Agent(Arc<RootAgent>);

impl Agent {
    /// Creates an agent with this model.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let agent = Agent::new(ScriptedModel::new(["hello yourself"]));
    /// assert_eq!(agent.run("hello").await?.answer(), "hello yourself");
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(model: impl LlmClient) -> Self {
        Self::of(Definition::new("agent", Some(Arc::new(model))))
    }

    /// Creates an agent with this name. It uses the model of its parent agent.
    ///
    /// ```
    /// use petalflow_agent::{Agent, Mode};
    /// # use petalflow_llm::ScriptedModel;
    ///
    /// # let model = ScriptedModel::new(["hi"]);
    /// let translator = Agent::named("translator").description("Translates words.").mode(Mode::SingleTurn);
    /// let guide = Agent::new(model).sub_agent(translator);
    /// # let _ = guide;
    /// ```
    pub fn named(name: impl Into<String>) -> Self {
        let mut definition = Definition::new(&name.into(), None);
        definition.named = true;
        Self::of(definition)
    }

    fn of(definition: Definition) -> Self {
        Agent(Arc::new(RootAgent::new(Arc::new(definition))))
    }

    fn edit(self, edit: impl FnOnce(&mut Definition)) -> Self {
        let mut definition = Arc::unwrap_or_clone(self.into_definition());
        edit(&mut definition);
        definition.specs = OnceLock::new();
        Self::of(definition)
    }

    fn into_definition(self) -> Arc<Definition> {
        match Arc::try_unwrap(self.0) {
            Ok(root) => root.definition,
            Err(shared) => Arc::clone(&shared.definition),
        }
    }
}
