//! A model's reply to a conversation.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::MessageHistory;
use super::ask_model::{accept_invalid_arguments, ask_model, model_of_node};
use super::tools::node_tools;
use crate::{LlmClient, LlmRequest};
use petalflow::Context;
use petalflow::node::{Extract, Key, Keys, Node, Requirements, Scope};
use petalflow::state::KeySet;
use petalflow::tool::ToolSet;

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
/// The instructions can be made from the values of other keys `P`: see [`with_instructions`](Self::with_instructions).
///
/// # Cancel safety
///
/// If the run is dropped or cancelled, the call is cancelled and its connection is closed.
pub struct Llm<K: Key, P = ()> {
    client: Option<Arc<dyn LlmClient>>,
    request: LlmRequest,
    /// Makes the instructions of a request from the state.
    instructions: Option<Arc<Instructions<K::State>>>,
    /// Whether the node sends the run's tools to the model.
    managed_tools: bool,
    keys: PhantomData<fn() -> (K, P)>,
}

type Instructions<S> = dyn Fn(&S) -> String + Send + Sync;

impl<K: Key, P> Clone for Llm<K, P> {
    fn clone(&self) -> Self {
        Llm {
            client: self.client.clone(),
            request: self.request.clone(),
            instructions: self.instructions.clone(),
            managed_tools: self.managed_tools,
            keys: PhantomData,
        }
    }
}

impl<K: Key, P> fmt::Debug for Llm<K, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Llm")
            .field("request", &self.request)
            .finish_non_exhaustive()
    }
}

impl<K: Key> Llm<K> {
    /// A node with these instructions, and the run's model or [its own](Self::model). Empty instructions are omitted.
    pub fn new(instructions: impl Into<String>) -> Self {
        let request = LlmRequest {
            system: some_text(instructions.into()),
            ..LlmRequest::default()
        };
        Self::of(request, None)
    }
}

impl<K: Key, P: Keys<K::State>> Llm<K, P> {
    /// A node whose instructions are made from the values of the keys `P`, each time it runs: one key, a tuple of keys, or
    /// `()`. Empty instructions are omitted. The checks of the flow know that the node reads these keys.
    ///
    /// ```
    /// use petalflow_llm::{ChatMessage, ScriptedModel};
    /// use petalflow_llm::nodes::{Llm, Model};
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Chat {
    ///     #[key(input)]
    ///     customer: String,
    ///     #[key(input)]
    ///     city: String,
    ///     #[key(input, append)]
    ///     messages: Vec<ChatMessage>,
    /// }
    ///
    /// flow! {
    ///     Reply(Chat) {
    ///         reply;
    ///         node reply: Llm<ChatMessages, (ChatCustomer, ChatCity)> = Llm::with_instructions(
    ///             |(customer, city)| format!("You help {customer}, who is in {city}."),
    ///         );
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> petalflow::Result<()> {
    /// let model = ScriptedModel::new(["It rains."]);
    /// let input = ChatInput {
    ///     customer: "Ann".into(),
    ///     city: "Kyoto".into(),
    ///     messages: vec![ChatMessage::user("Do I need a coat?")],
    /// };
    /// let chat = Reply::new().manage(Model::new(model.clone())).run(input).await?;
    /// assert_eq!(chat.messages[1].text(), "It rains.");
    /// let request = model.last_request().expect("the model was asked");
    /// assert_eq!(request.system.as_deref(), Some("You help Ann, who is in Kyoto."));
    /// # Ok(())
    /// # }
    /// ```
    pub fn with_instructions(
        instructions: impl Fn(P::Values<'_>) -> String + Send + Sync + 'static,
    ) -> Self {
        let of_state = move |state: &K::State| instructions(P::values(state));
        Self::of(LlmRequest::default(), Some(Arc::new(of_state)))
    }
}

impl<K: Key, P> Llm<K, P> {
    fn of(request: LlmRequest, instructions: Option<Arc<Instructions<K::State>>>) -> Self {
        Llm {
            client: None,
            request,
            instructions,
            managed_tools: false,
            keys: PhantomData,
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

/// Instructions, if there are any.
fn some_text(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

// By hand: `#[node]` has a parameter for each key, and `P` is any number of keys.
#[diagnostic::do_not_recommend]
impl<K, P> Node<K::State> for Llm<K, P>
where
    K: Key<Value: MessageHistory>,
    P: Keys<K::State>,
{
    type Output = petalflow::Result<K>;
    type Item = ();
    const NAME: &'static str = "Llm";
    const READS: KeySet = P::SET.with(K::INDEX);

    fn require(requirements: &mut Requirements<'_>) {
        <Context as Extract>::require(requirements);
    }

    async fn run(&self, state: &K::State, scope: &Scope) -> Self::Output {
        let cx = Context::extract(scope)?;
        let client = model_of_node(self.client.as_ref(), &cx)?;
        let mut request = LlmRequest {
            messages: K::get(state).shared(),
            ..self.request.clone()
        };
        if let Some(instructions) = &self.instructions {
            request.system = some_text(instructions(state));
        }
        if self.managed_tools {
            request.tools = node_tools(None, &cx)?.specs();
        }
        let response = ask_model(&*client, &request, &cx, cx.attempt()).await;
        let response = accept_invalid_arguments(response)?;
        let reply = response.message.into_iter().collect();
        Ok(K::new(MessageHistory::from_messages(reply)))
    }
}
