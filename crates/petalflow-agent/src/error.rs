//! Why an agent cannot go on.

use petalflow_llm::LlmError;

/// Why an agent cannot go on. In a run it is the source of the [`RunError`](petalflow::RunError).
///
/// ```
/// use petalflow_agent::Agent;
/// use std::error::Error;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let error = Agent::named("guide").run("hello").await.unwrap_err();
/// let source = error.source().unwrap().to_string();
/// assert_eq!(source, "agent `guide` has no model: give it one with `.model(..)`, or to an agent above it");
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// An agent has no model, and none above it has one.
    #[error("agent `{0}` has no model: give it one with `.model(..)`, or to an agent above it")]
    NoModel(String),
    /// Two agents have one name.
    #[error("two agents are called `{0}`: give one of them another name with `.name(..)`")]
    Twice(String),
    /// A name that no agent can have.
    #[error(
        "no agent can be called `{0}`: `user` is who talks to it, and an empty name names nobody"
    )]
    Name(String),
    /// Two tools of one agent have one name.
    #[error("agent `{agent}` has two tools `{tool}`: give one of them another name")]
    ToolTwice {
        /// The agent.
        agent: String,
        /// The tool.
        tool: String,
    },
    /// The model failed.
    #[error("the model of agent `{agent}` failed")]
    Model {
        /// The agent.
        agent: String,
        /// How.
        #[source]
        error: LlmError,
    },
    /// The model's answer broke off.
    #[error(
        "the answer of agent `{0}` ends with a piece: its stream broke off before the whole answer came"
    )]
    Partial(String),
    /// A transfer to an agent that there is not, or that may not be given the conversation.
    #[error("failed to find agent: {0}")]
    NoSuchAgent(String),
    /// The model was called as often as it may be.
    #[error(
        "agent `{agent}` called its model {turns} times in one turn: raise it with `.max_model_calls(..)`"
    )]
    TooManyTurns {
        /// The agent.
        agent: String,
        /// How often.
        turns: u32,
    },
    /// The model only thought, again and again.
    #[error("agent `{agent}` only thought {times} times in a row, and said nothing")]
    OnlyThinks {
        /// The agent.
        agent: String,
        /// How often.
        times: u32,
    },
    /// There is nothing to answer.
    #[error("there is nothing to answer: the input has no message, and the conversation is empty")]
    Nothing,
    /// A confirmation that nobody asked for.
    #[error("{0}")]
    Confirmation(String),
    /// The history or the instructions make no sense.
    #[error("{0}")]
    Request(String),
    /// The answer is not what it should be.
    #[error("the answer is not the output that was asked for: {0}")]
    Output(String),
}
