//! Nodes that need no function: those that ask a model, and those that call tools.
//!
//! Over a state of your own, a node value names the keys that it reads and writes:
//!
//! | node | reads | writes |
//! | --- | --- | --- |
//! | [`Llm<K>`](Llm) | the conversation in `K` | the model's reply, to `K` |
//! | [`Prompt<Q, A>`](Prompt) | the text in `Q` | the answer, to `A`: text, or a type of yours |
//! | [`Tools<K>`](Tools) | the conversation in `K` | the results of the calls in its last message, to `K` |
//!
//! Over an [`Envelope`](crate::envelope::Envelope) (feature `envelope`) there are `LlmNode` and `ToolNode`, which name
//! variables while the program runs.
//!
//! The model is a managed value, [`Model`], or the node's own; tools are a managed [`ToolSet`](crate::tool::ToolSet), or the
//! node's own. What they say while they work are [`Said`] events.
//!
//! ```
//! use petalflow::llm::{ChatMessage, ScriptedModel};
//! use petalflow::nodes::{Llm, Model};
//! use petalflow::prelude::*;
//!
//! #[state]
//! struct Chat {
//!     #[key(input, append)]
//!     messages: Vec<ChatMessage>,
//! }
//!
//! flow! {
//!     Reply(Chat) {
//!         reply;
//!         node reply: Llm<ChatMessages> = Llm::new("You are brief.");
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let model = Model::new(ScriptedModel::new(["Paris."]));
//! let question = vec![ChatMessage::user("What is the capital of France?")];
//! let chat = Reply::new().manage(model).run(question).await?;
//! assert_eq!(chat.messages[1].text(), "Paris.");
//! # Ok(())
//! # }
//! ```

mod asking;
mod llm;
#[cfg(feature = "envelope")]
mod llm_node;
mod model;
mod prompt;
mod said;
mod talk;
#[cfg(feature = "envelope")]
mod template;
#[cfg(feature = "envelope")]
mod tool_node;
mod tools;
#[cfg(feature = "envelope")]
mod tries;

pub use llm::Llm;
#[cfg(feature = "envelope")]
#[cfg_attr(docsrs, doc(cfg(feature = "envelope")))]
pub use llm_node::LlmNode;
pub use model::Model;
pub use prompt::Prompt;
pub use said::Said;
pub use talk::Talk;
#[cfg(feature = "envelope")]
#[cfg_attr(docsrs, doc(cfg(feature = "envelope")))]
pub use template::Missing;
#[cfg(feature = "envelope")]
#[cfg_attr(docsrs, doc(cfg(feature = "envelope")))]
pub use tool_node::ToolNode;
pub use tools::{ConfirmCall, Tools};
