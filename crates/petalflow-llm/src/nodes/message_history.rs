//! What a key may hold a conversation in.

use std::sync::Arc;

use crate::ChatMessage;

/// A conversation as the value of a key: `Vec<ChatMessage>`, or `Arc<Vec<ChatMessage>>`, which requests share. With the latter a
/// call of a model costs the same however long the conversation is; the former is copied once per call.
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
    /// What was said.
    fn messages(&self) -> &[ChatMessage];

    /// The same for a request.
    fn shared(&self) -> Arc<Vec<ChatMessage>>;

    /// What is said now.
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
