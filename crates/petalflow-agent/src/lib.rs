//! Agents: a model, its tools, and the loop that connects them.
//!
//! An [`Agent`] takes a message, calls tools until its model has an answer, and returns the answer:
//!
//! ```
//! use petalflow_agent::Agent;
//! # use petalflow_llm::{Reply, ScriptedModel};
//! use petalflow::prelude::*;
//! # use serde_json::json;
//!
//! /// The weather in a city.
//! #[tool]
//! fn weather(city: String) -> String {
//!     format!("{city}: sunny")
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! # let model = ScriptedModel::new([Reply::call("weather", json!({ "city": "Kyoto" })), "Take your sunglasses.".into()]);
//! let agent = Agent::new(model).tool(weather {}).instructions("Say what to wear.");
//! let answer = agent.run("I am off to Kyoto.").await?;
//! println!("{answer}");
//! # assert_eq!(answer.to_string(), "Take your sunglasses.");
//! # Ok(())
//! # }
//! ```
//!
//! An agent is a flow over a [`Conversation`], made with this crate's own macros. Each model call is a superstep, and
//! each tool call is a task. Everything about flows also applies to agents:
//!
//! * [`Agent::store`] stores conversations as threads. A crashed turn resumes where it stopped. Finished model calls
//!   and tool calls are not repeated.
//! * [`Agent::events`] streams what happens: pieces of answers, progress of tools, messages and actions.
//! * [`Agent::launch`] takes managed values, middleware, timeouts and cancellation.
//! * [`AgentNode`] is an agent as a node of another flow. [`Agent::run_in`] runs an agent within any node or tool.
//!
//! Other features: callbacks around models and tools ([`Callbacks`]), steps before a request and after an answer
//! ([`RequestProcessor`], [`ResponseProcessor`]), planning ([`Planner`]), execution of code that models write
//! ([`CodeExecutor`]), several agents ([`Agent::sub_agent`], [`Mode`]), and calls that need a confirmation or a
//! credential, or that take long ([`Pending`]).

#![cfg_attr(docsrs, feature(doc_cfg))]

mod artifacts;
mod ask;
mod at;
mod begin;
mod builder;
mod call;
mod callbacks;
mod code;
mod confirmation;
mod conversation;
mod credential;
mod definition;
mod delegation;
mod error;
mod event;
mod flow;
mod gather;
mod history;
mod input;
mod instructions;
mod merge;
mod model;
mod model_call;
mod node;
mod observed;
mod output;
mod pending;
mod people;
mod placeholders;
mod planner;
pub mod prebuilt;
pub mod processors;
mod roster;
mod run;
mod single_turn;
mod stream;
mod targets;
mod tool_step;
mod transfer;
mod turn;
mod view;

pub use artifacts::Artifacts;
pub use builder::Agent;
pub use callbacks::Callbacks;
pub use code::{CodeExecutor, CodeOutput};
pub use confirmation::CONFIRMATION;
pub use conversation::{Conversation, ConversationInput};
pub use credential::CREDENTIAL;
pub use definition::{History, Mode};
pub use error::AgentError;
pub use event::AgentEvent;
pub use flow::AgentFlow;
pub use model_call::ModelCall;
pub use node::AgentNode;
pub use pending::Pending;
pub use planner::{PlanReAct, Planner, Thinking};
pub use processors::{RequestProcessor, ResponseProcessor};
pub use stream::{AgentEventKind, AgentEvents, AgentStreamItem};
pub use tool_step::ToolStep;

pub(crate) use definition::Definition;
