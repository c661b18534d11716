//! Conversation flows: a person talks with a model that is at one node of a graph at a time.
//!
//! A node tells the model its task and offers functions. A function runs code of the program and may lead to another
//! node. Documents of Pipecat's editor and its declarative files are read by the module [`document`].
//!
//! A [`ConversationFlow`] runs such a document. Each message of the person is a turn, and each model call, function and
//! action is a superstep: it is stored, resumed and streamed like that of any flow.
//!
//! ```
//! use petalflow_conversations::ConversationFlow;
//! use petalflow_conversations::document::Conversation;
//! use petalflow_llm::{Reply, ScriptedModel};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let document = serde_json::from_value(json!({
//!     "initial_node": "start",
//!     "nodes": {
//!         "start": {
//!             "task_messages": [{ "role": "developer", "content": "Ask for a name." }],
//!             "functions": [{ "name": "goodbye", "transition_only": true, "description": "The caller is done.",
//!                 "transition_to": "end" }],
//!         },
//!         "end": {
//!             "task_messages": [{ "role": "developer", "content": "Say goodbye." }],
//!             "post_actions": [{ "type": "end_conversation" }],
//!         },
//!     },
//! }))?;
//! let document = Conversation::from_config(&document).expect("the document has no errors");
//! let model = ScriptedModel::new(["Hello. Who are you?".into(), Reply::call("goodbye", json!({})), "Goodbye!".into()]);
//! let flow = ConversationFlow::builder(document).model(model).build()?;
//!
//! let state = flow.run(()).await?;
//! assert_eq!(state.answer(), "Hello. Who are you?");
//! let state = flow.run(state.next_input("I must go.")).await?;
//! assert_eq!(state.answer(), "Goodbye!");
//! assert!(state.has_ended());
//! # Ok(())
//! # }
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "macros")]
#[macro_use]
mod macros;

#[cfg(feature = "macros")]
#[doc(hidden)]
pub mod __private;
mod action;
mod builder;
pub mod document;
mod error;
mod event;
mod flow;
mod interruption;
mod program;
mod settings;
mod state;
mod step;
mod turn;
#[cfg(feature = "macros")]
mod typed;
mod version;

pub use action::{ActionCall, ActionHandler};
pub use builder::ConversationBuilder;
pub use error::{BuildError, BuildErrors, ConversationError};
pub use event::ConversationEvent;
pub use flow::{ConversationFlow, TurnFlow};
pub use interruption::Interruption;
pub use state::{ConversationState, ConversationStateInput, ConversationStateUpdate, Position};
pub use turn::{go_to, no_response};
#[cfg(feature = "macros")]
#[cfg_attr(docsrs, doc(cfg(feature = "macros")))]
pub use typed::BranchResult;
