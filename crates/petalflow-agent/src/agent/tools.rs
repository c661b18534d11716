//! The methods of [`Agent`] that add tools.

use std::sync::Arc;

use super::Agent;
use crate::definition::Source;
use petalflow::tool::{Tool, ToolSource};

impl Agent {
    /// Adds a tool.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow::prelude::*;
    /// # use petalflow_llm::{Reply, ScriptedModel};
    /// # use serde_json::json;
    ///
    /// /// Adds two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let model = ScriptedModel::new([Reply::call("add", json!({ "a": 2, "b": 3 })), "It is 5.".into()]);
    /// let agent = Agent::new(model).tool(add {});
    /// assert_eq!(agent.run("What is 2 + 3?").await?.answer(), "It is 5.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn tool(self, tool: impl Tool) -> Self {
        self.edit(|agent| agent.tools.push(Arc::new(tool)))
    }

    /// Adds several tools.
    #[must_use]
    pub fn tools(self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.edit(|agent| agent.tools.extend(tools))
    }

    /// Adds a tool source, such as a server. It is asked for its tools before each model call.
    ///
    /// If it fails, an agent with other tools continues without those of the source: the model is told that they are not
    /// available and why, and listeners get a [`ToolsUnavailable`](crate::ToolsUnavailable). The source is asked again for
    /// a model call ten seconds later, or later if it took longer to fail. An agent without other tools fails.
    #[must_use]
    pub fn tool_source(self, source: impl ToolSource) -> Self {
        self.edit(|agent| agent.sources.push(Arc::new(Source::new(source))))
    }

    /// Adds a source of tools that the model does not read, but searches for: hundreds of tools cost no tokens until they
    /// are found.
    ///
    /// A model whose provider has a tool search ([`Capabilities::tool_search`](petalflow_llm::Capabilities)) uses that one:
    /// Claude from version 4.5 on, and OpenAI's models from GPT-5.4 on over the Responses interface. Other models get the
    /// tool `search_tools`. It finds the five tools whose names, descriptions and arguments fit best to words, and the
    /// agent has them from then on, in later turns too. A model may also call such a tool without a search.
    ///
    /// For what happens if the source fails, see [`tool_source`](Self::tool_source). A list of tools is a source too.
    ///
    /// ```
    /// use petalflow::prelude::*;
    /// use petalflow_agent::Agent;
    /// # use petalflow_llm::{Reply, ScriptedModel};
    /// # use serde_json::json;
    ///
    /// /// Pays an order back.
    /// #[tool]
    /// fn refund_order(order: u32) -> String {
    ///     format!("order {order} was paid back")
    /// }
    ///
    /// /// Sends a picture of a flower.
    /// #[tool]
    /// fn send_picture(flower: String) -> String {
    ///     format!("here is a {flower}")
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let search = Reply::call("search_tools", json!({ "query": "pay back" }));
    /// # let refund = Reply::call("refund_order", json!({ "order": 7 }));
    /// # let model = ScriptedModel::new([search, refund, "It was paid back.".into()]);
    /// let agent = Agent::new(model).searchable_tools(tools![refund_order, send_picture]);
    /// assert_eq!(agent.run("Order 7 was late.").await?.answer(), "It was paid back.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn searchable_tools(self, source: impl ToolSource) -> Self {
        self.edit(|agent| agent.searchable.push(Arc::new(Source::new(source))))
    }
}
