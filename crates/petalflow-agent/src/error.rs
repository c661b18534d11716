//! Errors of agents.

use crate::guardrail_event::GuardrailStage;
use crate::limits::{LimitExceeded, LimitScope};
use petalflow::BoxError;
use petalflow_llm::LlmError;

/// Error that stops an agent. In a run, [`RunError::get_ref`](petalflow::RunError::get_ref) has it.
///
/// ```
/// use petalflow_agent::Agent;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let error = Agent::named("guide").run("hello").await.unwrap_err();
/// let source = error.get_ref().unwrap().to_string();
/// assert_eq!(source, "agent `guide` has no model: give it one with `.model(..)`, or to an agent above it");
/// # }
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// An agent has no model, and no agent above it has one.
    #[error("agent `{0}` has no model: give it one with `.model(..)`, or to an agent above it")]
    NoModel(String),
    /// Two agents have the same name.
    #[error("two agents are called `{0}`: give one of them another name with `.name(..)`")]
    DuplicateName(String),
    /// A name that an agent cannot have.
    #[error(
        "an agent cannot have the name `{0}`: `user` is the author of the user's messages, and a name cannot be empty"
    )]
    InvalidName(String),
    /// Two tools of an agent have the same name. An agent with searchable tools has the tool `search_tools`.
    #[error("agent `{agent}` has two tools `{tool}`: give one of them another name")]
    DuplicateTool {
        /// The agent.
        agent: String,
        /// The tool.
        tool: String,
    },
    /// A tool takes managed values that the run does not have.
    #[error(
        "tool `{tool}` of agent `{agent}` takes managed values that the run does not have: {}; pass them with \
         `agent.launch().manage(..)`",
        types.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    )]
    MissingManaged {
        /// The agent.
        agent: String,
        /// The tool.
        tool: String,
        /// The names of the types.
        types: Vec<&'static str>,
    },
    /// The model call failed.
    #[error("the model of agent `{agent}` failed")]
    Model {
        /// The agent.
        agent: String,
        /// The error of the model.
        #[source]
        error: LlmError,
    },
    /// The stream of the model's answer ended early.
    #[error(
        "the answer of agent `{0}` ends with a piece: its stream was interrupted before the whole answer came"
    )]
    IncompleteStream(String),
    /// A transfer to an agent that does not exist, or to which the transfer is not allowed.
    #[error("failed to find agent: {0}")]
    UnknownAgent(String),
    /// The maximum number of model calls in a turn is reached.
    #[error(
        "agent `{agent}` called its model {calls} times in one turn: raise it with `.max_model_calls(..)`"
    )]
    TooManyModelCalls {
        /// The agent whose maximum it is.
        agent: String,
        /// The number of model calls.
        calls: u32,
    },
    /// The next request or tool call would exceed a limit.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
    /// A guardrail failed the run, or its check failed.
    #[error("guardrail `{guardrail}` stopped agent `{agent}` at {stage}")]
    Guardrail {
        /// The name of the guardrail.
        guardrail: String,
        /// The agent whose content was checked.
        agent: String,
        /// What was checked.
        stage: GuardrailStage,
        /// The reason, or the error of the check.
        #[source]
        error: BoxError,
    },
    /// An agent below another one has limits of its own.
    #[error(
        "agent `{0}` has limits of its own, and is below another agent: the limits of the agent above all others hold for all, so set them there; \
         `.call_limits(..)` limits each of its calls"
    )]
    LimitsOfSubAgent(String),
    /// An agent below another one has limits of its calls, and is not called: the conversation is transferred to it, or it works on
    /// tasks in the conversation of the agent above.
    #[error(
        "agent `{0}` has limits of its calls, and its calls have no conversation of their own: set `.mode(Mode::SingleTurn)`, or set \
         limits at the agent above all others"
    )]
    CallLimits(String),
    /// Money is limited, and the price of a model is not known.
    #[error(
        "the cost of agent `{agent}` is limited, and {} has no price: add it with `.prices(..)`",
        if model.is_empty() { "its model".to_string() } else { format!("model `{model}`") }
    )]
    NoPrice {
        /// The agent.
        agent: String,
        /// The model.
        model: String,
    },
    /// The model gave too many consecutive answers that contain only thoughts.
    #[error(
        "agent `{agent}` gave {times} answers in a row that contain only thoughts: raise it with `.max_thoughts(..)`"
    )]
    OnlyThoughts {
        /// The agent.
        agent: String,
        /// The number of such answers.
        times: u32,
    },
    /// Too many answers of a turn do not have the form that [`Agent::output`](crate::Agent::output) requests.
    #[error(
        "agent `{agent}` gave no answer of the requested form in {answers} {}: {problem}; its last answer is `{}`; allow more attempts \
         with `.max_repairs(..)`, or change the type of the answer",
        if *answers == 1 { "attempt" } else { "attempts" },
        shortened(answer)
    )]
    InvalidOutput {
        /// The agent.
        agent: String,
        /// The number of such answers.
        answers: u32,
        /// What is wrong with the last one.
        problem: String,
        /// The last one.
        answer: String,
    },
    /// The model refused to give an answer of the form that [`Agent::output`](crate::Agent::output) requests. Without such
    /// a form, the words of the refusal are the answer.
    #[error(
        "the model of agent `{agent}` refused to give an answer of the requested form: {}",
        shortened(reason)
    )]
    Refused {
        /// The agent.
        agent: String,
        /// The words of the model, or the provider's reason.
        reason: String,
    },
    /// A validator of answers does not take the answers of its agent.
    #[error(
        "validator `{validator}` does not take the answers of agent `{agent}`: {problem}; its only parameter is the answer, or its parameters \
         are the fields of the answer"
    )]
    OutputValidator {
        /// The agent.
        agent: String,
        /// The name of the validator.
        validator: String,
        /// What is wrong.
        problem: String,
    },
    /// An output function that cannot give the answer of its agent.
    #[error("output function `{function}` cannot give the answer of agent `{agent}`: {problem}")]
    OutputFunction {
        /// The agent.
        agent: String,
        /// The name of the function.
        function: String,
        /// What is wrong.
        problem: String,
    },
    /// There is no message to answer.
    #[error("there is nothing to answer: the input has no message, and the conversation is empty")]
    NoMessage,
    /// A tool of the client has the name of a tool of an agent.
    #[error(
        "agent `{agent}` has a tool `{tool}` of its own: give the tool of the client another name"
    )]
    ClientTool {
        /// The agent.
        agent: String,
        /// The tool.
        tool: String,
    },
    /// What the client has sent with its turn cannot be used.
    #[error("{0}")]
    ClientSettings(String),
    /// A confirmation that was not requested.
    #[error("{0}")]
    Confirmation(String),
    /// The history or the instructions are invalid.
    #[error("{0}")]
    Request(String),
    /// The answer does not have the required form.
    #[error("the answer does not have the requested form: {0}")]
    Output(String),
    /// The answer is not a value of the type that the program reads it as. An agent that is asked for this type with
    /// [`Agent::output`](crate::Agent::output) has no other answers.
    #[error(
        "the answer `{}` is not a `{ty}`: {problem}; ask the agent for answers of this type with `.output::<{ty}>()`",
        shortened(answer)
    )]
    OtherType {
        /// The answer.
        answer: String,
        /// The short name of the type.
        ty: String,
        /// What is wrong with the answer.
        problem: String,
    },
}

impl AgentError {
    /// Whether the error, or a cause of it, ends the run even if a called agent has it. A model cannot correct it.
    pub(crate) fn ends_run(error: &(dyn std::error::Error + 'static)) -> bool {
        causes(error).any(|cause| match cause.downcast_ref() {
            Some(AgentError::Limit(limit)) => limit.scope != LimitScope::Call,
            Some(AgentError::Guardrail { .. }) => true,
            _ => false,
        })
    }

    /// The limit of a call of an agent that the error, or a cause of it, is about.
    pub(crate) fn limit_of_call<'e>(
        error: &'e (dyn std::error::Error + 'static),
    ) -> Option<&'e LimitExceeded> {
        causes(error).find_map(|cause| match cause.downcast_ref() {
            Some(AgentError::Limit(limit)) if limit.scope == LimitScope::Call => Some(limit),
            _ => None,
        })
    }
}

/// The error and its causes.
fn causes<'e>(
    error: &'e (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'e (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |error| {
        // An error of a run says the text of its cause itself, and so has no source.
        match error.downcast_ref::<petalflow::RunError>() {
            Some(run) => run.get_ref().map(|cause| cause as _),
            None => error.source(),
        }
    })
}

/// The message, which is what `main` prints if it returns the error.
impl std::fmt::Debug for AgentError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&petalflow::error::message_with_sources(self))
    }
}

/// The first 200 characters of a text, for an error message.
pub(crate) fn shortened(text: &str) -> std::borrow::Cow<'_, str> {
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]).into(),
        None => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use petalflow_test_support::check_texts;

    #[test]
    fn texts_are_said_once() {
        let error = LlmError::request("no key; set `OPENAI_API_KEY`");
        let agent = "guide".into();
        check_texts(&AgentError::Model { agent, error });
        check_texts(&AgentError::NoModel("guide".into()));
        check_texts(&AgentError::Output("a number is missing".into()));
    }
}
