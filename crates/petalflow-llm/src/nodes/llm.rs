//! A model's reply to a conversation.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::MessageHistory;
use super::ask_model::{accept_invalid_arguments, ask_model, model_of_node};
use super::tools::node_tools;
use crate::{LlmClient, LlmRequest};
use petalflow::node::Key;
use petalflow::tool::ToolSet;
use petalflow::{Context, node};

/// A node that sends the conversation in the key `K` to a model, and appends the model's reply.
///
/// If the key is an `Arc<Vec<ChatMessage>>`, requests share the conversation; a `Vec<ChatMessage>` is copied once for
/// each call. See [`MessageHistory`].
///
/// The reply may contain tool calls if the node has tools: [`Tools`](super::Tools) makes the calls.
///
/// ```
/// use petalflow_llm::{ChatMessage, ScriptedModel};
/// use petalflow_llm::nodes::Llm;
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Essay {
///     #[key(input, append)]
///     messages: Vec<ChatMessage>,
/// }
///
/// flow! {
///     /// A writer, then a critic, over one conversation.
///     Discuss(Essay) {
///         write -> criticize;
///         node write: Llm<EssayMessages>;
///         node criticize: Llm<EssayMessages>;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let essay = Discuss::new()
///     .write(Llm::new("You write.").model(ScriptedModel::new(["Petals are leaves."])))
///     .criticize(Llm::new("You criticize.").model(ScriptedModel::new(["Say why."])))
///     .run(vec![ChatMessage::user("Write about petals.")])
///     .await?;
/// let said: Vec<_> = essay.messages.iter().map(ChatMessage::text).collect();
/// assert_eq!(said, ["Write about petals.", "Petals are leaves.", "Say why."]);
/// # Ok(())
/// # }
/// ```
///
/// # Cancel safety
///
/// If the run is dropped or cancelled, the call is cancelled and its connection is closed.
pub struct Llm<K> {
    client: Option<Arc<dyn LlmClient>>,
    request: LlmRequest,
    /// Whether the node sends the run's tools to the model.
    managed_tools: bool,
    key: PhantomData<fn() -> K>,
}

impl<K> Clone for Llm<K> {
    fn clone(&self) -> Self {
        Llm {
            client: self.client.clone(),
            request: self.request.clone(),
            managed_tools: self.managed_tools,
            key: PhantomData,
        }
    }
}

impl<K> fmt::Debug for Llm<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Llm")
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}

impl<K> Llm<K> {
    /// A node with these instructions, and the run's model or [its own](Self::model). Empty instructions are omitted.
    pub fn new(instructions: impl Into<String>) -> Self {
        let instructions = instructions.into();
        Llm {
            client: None,
            request: LlmRequest {
                system: (!instructions.is_empty()).then_some(instructions),
                ..LlmRequest::default()
            },
            managed_tools: false,
            key: PhantomData,
        }
    }

    /// Sets the model. It replaces the run's model.
    #[must_use]
    pub fn model(mut self, client: impl LlmClient) -> Self {
        self.client = Some(Arc::new(client));
        self
    }

    /// Sets the tools that the model may call.
    ///
    /// ```
    /// use petalflow_llm::{ChatMessage};
    /// use petalflow_llm::nodes::Llm;
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Chat {
    ///     #[key(input, append)]
    ///     messages: Vec<ChatMessage>,
    /// }
    ///
    /// /// The hour.
    /// #[tool]
    /// fn clock() -> u32 {
    ///     12
    /// }
    ///
    /// let think: Llm<ChatMessages> = Llm::new("Use the clock.").tools(&tools![clock]);
    /// # let _ = think;
    /// ```
    #[must_use]
    pub fn tools(mut self, tools: &ToolSet) -> Self {
        self.request.tools = tools.specs();
        self
    }

    /// Lets the model call the run's tools: a managed [`ToolSet`] or [`ToolRegistry`](petalflow::tool::ToolRegistry).
    ///
    /// ```
    /// use petalflow_llm::{ChatMessage};
    /// use petalflow_llm::nodes::Llm;
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Chat {
    ///     #[key(input, append)]
    ///     messages: Vec<ChatMessage>,
    /// }
    ///
    /// let think: Llm<ChatMessages> = Llm::new("Use the tools.").managed_tools();
    /// # let _ = think;
    /// ```
    #[must_use]
    pub fn managed_tools(mut self) -> Self {
        self.managed_tools = true;
        self
    }

    /// Changes the request: temperature, maximum tokens, model. The conversation replaces the request's messages.
    ///
    /// ```
    /// use petalflow_llm::{ChatMessage};
    /// use petalflow_llm::nodes::Llm;
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Chat {
    ///     #[key(input, append)]
    ///     messages: Vec<ChatMessage>,
    /// }
    ///
    /// let terse: Llm<ChatMessages> = Llm::new("").request(|request| request.max_tokens = Some(64));
    /// # let _ = terse;
    /// ```
    #[must_use]
    pub fn request(mut self, edit: impl FnOnce(&mut LlmRequest)) -> Self {
        edit(&mut self.request);
        self
    }
}

#[node(K::State)]
#[diagnostic::do_not_recommend]
impl<K: Key<Value: MessageHistory>> Llm<K> {
    async fn run(&self, #[key(K)] history: &K::Value, cx: Context) -> petalflow::Result<K> {
        let client = model_of_node(self.client.as_ref(), &cx)?;
        let mut request = LlmRequest {
            messages: history.shared(),
            ..self.request.clone()
        };
        if self.managed_tools {
            request.tools = node_tools(None, &cx)?.specs();
        }
        let response = ask_model(&*client, &request, &cx, cx.attempt()).await;
        let response = accept_invalid_arguments(response)?;
        let reply = response.message.into_iter().collect();
        Ok(K::new(MessageHistory::from_messages(reply)))
    }
}
