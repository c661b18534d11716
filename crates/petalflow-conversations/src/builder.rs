//! From a document and the program's code to a conversation that can run.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use petalflow::tool::Tool;
use petalflow_document_model::conversations::{ContextStrategy, Conversation};
use petalflow_llm::LlmClient;

use crate::program::{self, Program};
use crate::settings::Settings;
use crate::{ActionHandler, BuildErrors, ConversationFlow};

/// Builds a [`ConversationFlow`].
///
/// ```
/// use petalflow_conversations::ConversationFlow;
/// # use petalflow_conversations::document::Conversation;
/// use petalflow_conversations::document::ContextStrategy;
/// use petalflow_llm::ScriptedModel;
/// use std::time::Duration;
/// # let document = serde_json::from_str(r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [] } } }"#)?;
/// # let document = Conversation::from_config(&document).unwrap();
///
/// let flow = ConversationFlow::builder(document)
///     .model(ScriptedModel::new(["Hello."]))
///     .context_strategy(ContextStrategy::Reset)
///     .summary_timeout(Duration::from_secs(10))
///     .max_model_calls(8)
///     .streaming()
///     .build();
/// assert!(flow.is_ok());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use = "a builder does nothing before `build`"]
pub struct ConversationBuilder {
    document: Conversation,
    settings: Settings,
}

impl ConversationFlow {
    /// Starts to build a conversation flow from a document.
    pub fn builder(document: Conversation) -> ConversationBuilder {
        ConversationBuilder {
            document,
            settings: Settings {
                model: None,
                tools: Vec::new(),
                timeouts: HashMap::new(),
                cancelled: HashSet::new(),
                actions: Vec::new(),
                strategy: ContextStrategy::Append,
                summary_timeout: Duration::from_secs(5),
                max_model_calls: 25,
                streaming: false,
            },
        }
    }
}

impl ConversationBuilder {
    /// Sets the model.
    pub fn model(mut self, model: impl LlmClient) -> Self {
        self.settings.model = Some(Arc::new(model));
        self
    }

    /// Adds the code of a function: a tool with the name of the function's handler.
    ///
    /// If the document describes the function, the model gets that description and those parameters, and otherwise those
    /// of the tool. The tool reads and sets the values of the conversation with
    /// [`ToolContext::state`](petalflow::tool::ToolContext::state) and
    /// [`set_state`](petalflow::tool::ToolContext::set_state).
    ///
    /// ```
    /// use petalflow::tool::FuncTool;
    /// use petalflow_conversations::ConversationFlow;
    /// # use petalflow_conversations::document::Conversation;
    /// use petalflow_llm::ScriptedModel;
    /// # let document = serde_json::from_str(r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [],
    /// #     "functions": [{ "name": "book" }] } } }"#)?;
    /// # let document = Conversation::from_config(&document).unwrap();
    ///
    /// let book = FuncTool::new("book", "Books a table.", |_: serde_json::Value| async { Ok("booked") });
    /// let flow = ConversationFlow::builder(document)
    ///     .model(ScriptedModel::new(["Hello."]))
    ///     .tool(book)
    ///     .cancel_on_interruption("book")
    ///     .build();
    /// assert!(flow.is_ok());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn tool(mut self, tool: impl Tool) -> Self {
        self.settings.tools.push(Arc::new(tool));
        self
    }

    /// Adds several tools.
    pub fn tools(mut self, tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        self.settings.tools.extend(tools);
        self
    }

    /// Sets how long the tool of this name may take in a call. After that the call ends, and the model reads an error.
    /// Default: no limit.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use petalflow_conversations::{BuildError, ConversationFlow};
    /// # use petalflow_conversations::document::Conversation;
    /// # let document = serde_json::from_str(r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [] } } }"#)?;
    /// # let document = Conversation::from_config(&document).unwrap();
    ///
    /// let flow = ConversationFlow::builder(document).timeout("fly", Duration::from_secs(5));
    /// assert!(flow.build().unwrap_err().0.contains(&BuildError::UnknownTool("fly".into())));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn timeout(mut self, tool: impl Into<String>, time: Duration) -> Self {
        self.settings.timeouts.insert(tool.into(), time);
        self
    }

    /// Ends calls of the tool of this name when the person [interrupts](crate::Interruption). The model reads an error.
    /// Default: a call continues.
    pub fn cancel_on_interruption(mut self, tool: impl Into<String>) -> Self {
        self.settings.cancelled.insert(tool.into());
        self
    }

    /// Adds the code of actions: those of type `function` with this `handler`, and those of this type.
    ///
    /// ```
    /// use petalflow_conversations::{ActionCall, ConversationFlow};
    /// # use petalflow_conversations::document::Conversation;
    /// use petalflow_llm::ScriptedModel;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// # let document = serde_json::from_str(r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [],
    /// #     "pre_actions": [{ "type": "beep" }] } } }"#)?;
    /// # let document = Conversation::from_config(&document).unwrap();
    /// let flow = ConversationFlow::builder(document)
    ///     .model(ScriptedModel::new(["Hello."]))
    ///     .action("beep", |call: ActionCall| async move {
    ///         assert_eq!(call.action.kind, "beep");
    ///         Ok(())
    ///     })
    ///     .build()?;
    /// assert_eq!(flow.run(()).await?.answer(), "Hello.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn action(mut self, name: impl Into<String>, handler: impl ActionHandler) -> Self {
        self.settings.actions.push((name.into(), Arc::new(handler)));
        self
    }

    /// Sets what entering a node does with the messages before it, where the node does not say. Default:
    /// [`ContextStrategy::Append`].
    pub fn context_strategy(mut self, strategy: ContextStrategy) -> Self {
        self.settings.strategy = strategy;
        self
    }

    /// Sets how long the model may take for a summary. Default: 5 seconds.
    pub fn summary_timeout(mut self, time: Duration) -> Self {
        self.settings.summary_timeout = time;
        self
    }

    /// Sets how often the model may be called in one turn. Default: 25.
    pub fn max_model_calls(mut self, calls: u32) -> Self {
        self.settings.max_model_calls = calls;
        self
    }

    /// Streams answers: listeners get [`ConversationEvent::Piece`](crate::ConversationEvent::Piece) while the model
    /// answers.
    pub fn streaming(mut self) -> Self {
        self.settings.streaming = true;
        self
    }

    /// Builds the conversation.
    ///
    /// # Errors
    ///
    /// All that is wrong: functions and actions without code, code that no function uses, names that are used twice.
    ///
    /// ```
    /// use petalflow_conversations::ConversationFlow;
    /// # use petalflow_conversations::document::Conversation;
    /// # let document = serde_json::from_str(r#"{ "initial_node": "a", "nodes": { "a": { "task_messages": [],
    /// #     "functions": [{ "name": "book" }] } } }"#)?;
    /// # let document = Conversation::from_config(&document).unwrap();
    ///
    /// let errors = ConversationFlow::builder(document).build().unwrap_err();
    /// assert_eq!(errors.0.len(), 2, "no model, and no handler of `book`");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn build(self) -> Result<ConversationFlow, BuildErrors> {
        let program: Program = program::build(self.settings, self.document)?;
        Ok(ConversationFlow(Arc::new(program)))
    }
}

impl std::fmt::Debug for ConversationBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConversationBuilder")
            .field("document", &self.document)
            .finish_non_exhaustive()
    }
}
