//! The methods of [`Agent`] that add tools.

use std::sync::Arc;

use super::Agent;
use crate::computer::{Computer, ComputerTool};
use crate::definition::Source;
use petalflow::tool::{Tool, ToolSource};
use petalflow_llm::native::NativeTool;

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

    /// Adds a tool that the provider of the model runs itself, such as its web search.
    ///
    /// What the tool did is in the messages of the events ([`native_uses`](petalflow_llm::ChatMessage::native_uses)), and so
    /// are the sources that an answer cites ([`citations`](petalflow_llm::ChatMessage::citations)). A turn fails before
    /// anything is sent if the provider does not have the tool, or one of the settings.
    ///
    /// ```
    /// use petalflow_agent::Agent;
    /// use petalflow_llm::native::{Citation, Source, WebSearch};
    /// # use petalflow_llm::{ChatMessage, LlmResponse, Part, Reply, Role, ScriptedModel};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let source = Source::Web { url: "https://tokio.rs".into(), title: None };
    /// # let parts = vec![Part::text("It is 1.54."), Part::Citation(Citation::of(source))];
    /// # let message = ChatMessage::new(Role::Assistant, parts);
    /// # let model = ScriptedModel::new([Reply::from(LlmResponse { message: Some(message), ..LlmResponse::default() })]);
    /// let search = WebSearch::new().max_uses(3).allowed_domains(["tokio.rs", "rust-lang.org"]);
    /// let agent = Agent::new(model).native_tool(search);
    /// let talk = agent.run("Which version of tokio is the newest?").await?;
    /// let answer = talk.events.last().and_then(|event| event.message.as_ref()).unwrap();
    /// for (passage, citation) in answer.citations() {
    ///     println!("{passage}: {}", citation.source.title());
    /// }
    /// # assert_eq!(answer.citations().count(), 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn native_tool(self, tool: impl Into<NativeTool>) -> Self {
        self.edit(|agent| {
            let tools = agent.request.native_tools.iter().cloned();
            agent.request.native_tools = tools.chain([tool.into()]).collect();
        })
    }

    /// Lets the model use a computer: OpenAI's models that have it over the Responses interface, Anthropic's, and Gemini's.
    ///
    /// It is the tool `computer`, and its calls are those of any tool: callbacks, approvals and limits hold for them. What the
    /// provider warns of must be confirmed by a person, also if approvals allow the call. The model is asked for one call at a
    /// time, since each acts on what the one before has shown. The actions of an answer of Gemini are one call.
    ///
    /// ```
    /// use petalflow::{BoxError, async_trait};
    /// use petalflow_agent::Agent;
    /// use petalflow_agent::computer::{Computer, ComputerAction};
    /// use petalflow_llm::message::{Media, MediaSource};
    /// # use petalflow_llm::{Reply, ScriptedModel};
    /// # use serde_json::json;
    ///
    /// struct Screen;
    ///
    /// #[async_trait]
    /// impl Computer for Screen {
    ///     async fn act(&self, action: ComputerAction) -> Result<(), BoxError> {
    ///         println!("{action:?}");
    ///         Ok(())
    ///     }
    ///
    ///     async fn screenshot(&self) -> Result<Media, BoxError> {
    ///         let dot = MediaSource::Base64("R0lGODlhAQABAAAAACw=".into());
    ///         Ok(Media { media_type: "image/gif".into(), source: dot, origin: None })
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let click = json!({ "actions": [{ "type": "click", "button": "left", "x": 1, "y": 2 }] });
    /// # let model = ScriptedModel::new([Reply::call("computer", click), "It is open.".into()]);
    /// let agent = Agent::new(model).computer(Screen);
    /// assert_eq!(agent.run("Open the calculator.").await?.answer(), "It is open.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn computer(self, computer: impl Computer) -> Self {
        let used = computer.settings();
        let used = match computer.display() {
            Some((width, height)) => used.display(width, height),
            None => used,
        };
        let tool = ComputerTool::new(computer, &used);
        let agent = self.tool(tool).native_tool(used);
        agent.edit(|agent| agent.request.parallel_calls = Some(false))
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
