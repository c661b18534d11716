//! Types that hold a conversation in a key.

use std::sync::Arc;

use crate::ChatMessage;

/// A conversation as the value of a key: `Vec<ChatMessage>` or `Arc<Vec<ChatMessage>>`. Requests share an `Arc`, so a
/// call of a model costs the same for every length of the conversation. A `Vec` is copied once per call.
///
/// ```
/// use petalflow_llm::{ChatMessage, ScriptedModel};
/// use petalflow_llm::nodes::{Llm, Model};
/// use petalflow::prelude::*;
/// use std::sync::Arc;
///
/// #[state]
/// struct Chat {
///     #[key(input, append)]
///     messages: Arc<Vec<ChatMessage>>,
/// }
///
/// flow! {
///     Reply(Chat) {
///         reply;
///         node reply: Llm<ChatMessages> = Llm::new("");
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let model = Model::new(ScriptedModel::new(["Paris."]));
/// let question = Arc::new(vec![ChatMessage::user("What is the capital of France?")]);
/// let chat = Reply::new().manage(model).run(question).await?;
/// assert_eq!(chat.messages[1].text(), "Paris.");
/// # Ok(())
/// # }
/// ```
pub trait MessageHistory: Clone + Send + Sync + 'static {
    /// The messages of the conversation.
    fn messages(&self) -> &[ChatMessage];

    /// The messages, shared with a request.
    fn shared(&self) -> Arc<Vec<ChatMessage>>;

    /// A conversation with these messages.
    fn from_messages(messages: Vec<ChatMessage>) -> Self;
}

impl MessageHistory for Vec<ChatMessage> {
    fn messages(&self) -> &[ChatMessage] {
        self
    }

    fn shared(&self) -> Arc<Vec<ChatMessage>> {
        Arc::new(self.clone())
    }

    fn from_messages(messages: Vec<ChatMessage>) -> Self {
        messages
    }
}

impl MessageHistory for Arc<Vec<ChatMessage>> {
    fn messages(&self) -> &[ChatMessage] {
        self
    }

    fn shared(&self) -> Arc<Vec<ChatMessage>> {
        Arc::clone(self)
    }

    fn from_messages(messages: Vec<ChatMessage>) -> Self {
        Arc::new(messages)
    }
}
