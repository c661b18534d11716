//! Agents: a model, its tools, and the loop between the two.
//!
//! An [`Agent`] is asked, calls tools for as long as its model wants to, and answers:
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
//! It is a flow over a [`Conversation`], made with this crate's own macros: each call of the model is a superstep, each call of
//! a tool a task. So all that holds for flows holds for agents:
//!
//! * [`Agent::store`] keeps conversations as threads. A turn that crashed goes on where it stopped; what a model or a tool had
//!   finished is not done again.
//! * [`Agent::events`] shows what happens as it happens: pieces of answers, progress of tools, what is said and done.
//! * [`Agent::launch`] takes managed values, middleware, timeouts and cancellation.
//! * [`AgentNode`] is an agent as a node of another flow; [`Agent::run_in`] runs one within any node or tool.
//!
//! Where to go from here: callbacks around models and tools ([`Callbacks`]), steps before a request and after an answer
//! ([`RequestProcessor`], [`ResponseProcessor`]), planning ([`Planner`]), code that models write ([`CodeExecutor`]), several
//! agents ([`Agent::sub_agent`], [`Mode`]), calls that people must confirm, that need a credential or that take long ([`Pending`]).

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
pub use callbacks::{CallbackFuture, Callbacks};
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
pub use stream::{AgentEventKind, AgentEvents, AgentStreamItem, EmittedEvent};
pub use tool_step::ToolStep;

pub(crate) use definition::Definition;
