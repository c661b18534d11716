//! Predefined nodes that call a model or call tools.
//!
//! The type of a node names the keys of your state that the node reads and writes:
//!
//! | node | reads | writes |
//! | --- | --- | --- |
//! | [`Llm<K>`](Llm) | the conversation in `K` | the model's reply, to `K` |
//! | [`Prompt<Q, A>`](Prompt) | the text in `Q` | the answer, to `A`: text, or a type of yours |
//! | [`Tools<K>`](Tools) | the conversation in `K` | the results of the calls in its last message, to `K` |
//!
//! The crate `petalflow-documents` has `LlmNode` and `ToolNode`, whose variables are named at run time.
//!
//! The model is a managed value, [`Model`], or the node's own; tools are a managed
//! [`ToolSet`](petalflow::tool::ToolSet), or the node's own. Nodes emit their output as [`NodeOutput`] events.
//!
//! ```
//! use petalflow_llm::{ChatMessage, ScriptedModel};
//! use petalflow_llm::nodes::{Llm, Model};
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

mod ask_model;
mod llm;
mod message_history;
mod model;
mod node_output;
mod prompt;
mod tools;

pub use ask_model::{ask_model, model_of_node, noted_call, stream_model};
pub use llm::Llm;
pub use message_history::MessageHistory;
pub use model::Model;
pub use node_output::NodeOutput;
pub use prompt::Prompt;
pub use tools::{CallDecision, ConfirmCall, Tools, call_tools};
