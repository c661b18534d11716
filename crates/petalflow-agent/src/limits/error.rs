//! The error for a limit that the next step would exceed.

use std::fmt;

/// The limit that the next request or tool call would exceed. It is the source of
/// [`AgentError::Limit`](crate::AgentError::Limit).
///
/// The step that was refused has used nothing. After the limit was raised, the thread can be resumed.
///
/// ```
/// use petalflow::error::message_with_sources;
/// use petalflow_agent::{Agent, AgentError, Limits};
/// use petalflow_agent::limits::LimitKind;
/// use petalflow_llm::{Reply, ScriptedModel};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let model = ScriptedModel::new([Reply::call("search", json!({})), "never asked for".into()]);
/// let agent = Agent::new(model).turn_limits(Limits::new().requests(1));
/// let error = agent.run("hello").await.unwrap_err();
/// let Some(AgentError::Limit(exceeded)) = error.get_ref().unwrap().downcast_ref() else { panic!("{error:?}") };
/// assert_eq!((exceeded.kind, exceeded.used, exceeded.limit), (LimitKind::Requests, 1.0, 1.0));
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub struct LimitExceeded {
    /// The agent that would make the request or the call. For the limit of a call, the agent that was called.
    pub agent: String,
    /// What the limit counts over.
    pub scope: LimitScope,
    /// What the limit counts.
    pub kind: LimitKind,
    /// The limit: a count, or US dollars.
    pub limit: f64,
    /// What is used already.
    pub used: f64,
    /// What the next step needs, as far as it is known.
    pub needed: f64,
}

/// What a limit counts over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitScope {
    /// One turn, the runs that resume it included.
    Turn,
    /// All turns of the conversation.
    Thread,
    /// One call of an agent by another. The run does not end, and the model of the caller reads the error.
    Call,
}

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitKind {
    /// Requests to models.
    Requests,
    /// Tokens of requests.
    InputTokens,
    /// Tokens of answers.
    OutputTokens,
    /// All tokens.
    TotalTokens,
    /// Money.
    Cost,
    /// Calls of tools and of agents.
    ToolCalls,
}

impl LimitKind {
    /// The method of [`Limits`](super::Limits).
    const fn method(self) -> &'static str {
        match self {
            LimitKind::Requests => "requests",
            LimitKind::InputTokens => "input_tokens",
            LimitKind::OutputTokens => "output_tokens",
            LimitKind::TotalTokens => "total_tokens",
            LimitKind::Cost => "cost",
            LimitKind::ToolCalls => "tool_calls",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            LimitKind::Requests => "requests to models",
            LimitKind::InputTokens => "input tokens",
            LimitKind::OutputTokens => "output tokens",
            LimitKind::TotalTokens => "tokens",
            LimitKind::Cost => "US dollars",
            LimitKind::ToolCalls => "tool calls",
        }
    }
}

impl fmt::Display for LimitExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LimitExceeded {
            agent,
            scope,
            kind,
            limit,
            used,
            needed,
        } = self;
        let (words, method) = (kind.words(), kind.method());
        let (scope, limits) = match scope {
            LimitScope::Turn => ("one turn", "turn_limits"),
            LimitScope::Thread => ("one thread", "thread_limits"),
            LimitScope::Call => ("one call", "call_limits"),
        };
        let smaller = match scope {
            "one call" => "give it a smaller part of the work, or ",
            _ => "",
        };
        write!(
            f,
            "agent `{agent}` stopped at its limit of {limit} {words} in {scope}: {used} are used, and the next step needs {needed} \
             more; {smaller}raise `{method}` in `.{limits}(..)`"
        )
    }
}
