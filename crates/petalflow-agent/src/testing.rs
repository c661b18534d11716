//! Replies that script the model of an agent in a test.
//!
//! The model of an agent transfers conversations, delegates work and gives typed answers with calls of the agent's own
//! tools. These functions make such calls. Other calls are [`Reply::call`], and text is `"text".into()`.
//!
//! ```
//! use petalflow_agent::prelude::*;
//! use petalflow_agent::testing::{answer, ask_agent, finish_task, transfer_to};
//! use petalflow_llm::prelude::*;
//! use petalflow::prelude::*;
//! use serde_json::json;
//!
//! #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
//! struct Flower {
//!     petals: u32,
//! }
//!
//! /// Counts petals.
//! #[tool]
//! fn count(flower: String) -> u32 {
//!     5
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> petalflow::Result<()> {
//! let model = ScriptedModel::new([
//!     transfer_to("botanist"),
//!     ask_agent("namer", "a wild one with five petals"),
//!     "a dog rose".into(),
//!     Reply::call("count", json!({ "flower": "dog rose" })),
//!     answer(&Flower { petals: 5 }),
//! ]);
//! let namer = Agent::named("namer").mode(Mode::SingleTurn);
//! let botanist = Agent::named("botanist").tool(count {}).sub_agent(namer).output::<Flower>();
//! let agent = Agent::new(model.clone()).name("guide").sub_agent(botanist);
//! let talk = agent.run("Which flower is it?").await?;
//!
//! assert_eq!(talk.output::<Flower>()?, Flower { petals: 5 });
//! assert_eq!(model.remaining(), 0);
//! let asked = model.last_request().unwrap();
//! assert_eq!(asked.transcript().last().unwrap(), "tool: count = 5");
//! # let _ = finish_task(&"done");
//! # Ok(())
//! # }
//! ```

use serde::Serialize;
use serde_json::{Value, json};

use crate::turn::names;
use petalflow_llm::Reply;

/// A reply that transfers the conversation to this agent.
pub fn transfer_to(agent: &str) -> Reply {
    Reply::call(names::TRANSFER, json!({ "agent_name": agent }))
}

/// A reply that gives a request to this agent, whose mode is [`SingleTurn`](crate::Mode::SingleTurn) or
/// [`Task`](crate::Mode::Task).
pub fn ask_agent(agent: &str, request: &str) -> Reply {
    Reply::call(agent, json!({ "request": request }))
}

/// A reply that finishes the task of the agent with this result: the value that [`Agent::output`](crate::Agent::output)
/// requests of it, or a text if there is no such request.
///
/// # Panics
///
/// If the result cannot be written as JSON.
pub fn finish_task<T: Serialize>(result: &T) -> Reply {
    let arguments = match value(result) {
        Value::String(text) => json!({ "result": text }),
        result => result,
    };
    Reply::call(names::FINISH, arguments)
}

/// A reply that gives the typed answer of an agent that has tools, for [`Agent::output`](crate::Agent::output). The model
/// of an agent without tools, or with [`schema_with_tools`](petalflow_llm::Capabilities), answers with text: the JSON.
///
/// # Panics
///
/// If the answer cannot be written as JSON.
pub fn answer<T: Serialize>(answer: &T) -> Reply {
    Reply::call(names::ANSWER, value(answer))
}

fn value<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).expect("a test's value can be written as JSON")
}
