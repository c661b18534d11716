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
//! Other features: several agents ([`Agent::sub_agent`], [`Mode`]), calls that need a confirmation or a credential, or
//! that take long ([`Pending`]), and types that extend an agent ([`extension`]): callbacks around models and tools,
//! steps before a request and after an answer, planners, and executors of code that models write.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod agent;
#[cfg(feature = "tracing")]
mod agent_spans;
pub mod artifacts;
pub mod compaction;
pub mod computer;
mod conversation;
#[cfg(feature = "deep")]
#[cfg_attr(docsrs, doc(cfg(feature = "deep")))]
pub mod deep;
mod definition;
mod error;
mod event;
pub mod extension;
mod flow_event;
pub mod guardrail;
mod guardrail_event;
pub mod human;
pub mod limits;
mod output;
mod output_stream;
mod partial_output;
pub mod prebuilt;
#[cfg(feature = "skills")]
#[cfg_attr(docsrs, doc(cfg(feature = "skills")))]
pub mod skills;
pub mod stream;
pub mod testing;
mod tokens;
mod turn;

/// The names that most programs with agents use: `use petalflow_agent::prelude::*;`.
///
/// ```
/// use petalflow_agent::prelude::*;
/// use petalflow_llm::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let agent = Agent::new(ScriptedModel::new(["hello yourself"]));
/// let talk: Conversation = agent.run("hello").await?;
/// assert_eq!(talk.answer(), "hello yourself");
/// # Ok(())
/// # }
/// ```
pub mod prelude {
    pub use crate::stream::{AgentEventKind, AgentEvents};
    pub use crate::{
        Agent, AgentError, AgentEvent, AgentNode, Conversation, ConversationInput, History, Mode,
        Pending,
    };
}

pub use agent::{Agent, AgentNode, Answer};
pub use conversation::{
    ClientSettings, Conversation, ConversationEvents, ConversationInput, ConversationSteering,
    Pending, TurnEnd,
};
pub use definition::{History, Mode};
pub use error::AgentError;
pub use event::{AgentEvent, Repair, ToolsUnavailable};
pub use limits::{Limits, Usage};
pub use output_stream::OutputStream;
pub use partial_output::PartialOutput;
pub use turn::AgentFlow;
