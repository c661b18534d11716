//! Steps that build a request from a conversation and that process an answer.

use std::fmt;
use std::sync::Arc;

use super::ModelCall;
use petalflow::{BoxError, async_trait};
use petalflow_llm::LlmResponse;

/// A step that builds a model's request from a conversation. An agent runs the [defaults](Self::defaults) in their order,
/// then the steps added by [`Agent::processor`](crate::Agent::processor). Then its tools and toolsets are added.
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_agent::extension::RequestStep;
/// use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let steps = RequestStep::defaults().into_iter();
/// let steps = steps.filter(|step| !matches!(step, RequestStep::Transfers));
/// assert_eq!(Agent::new(ScriptedModel::new(["hi"])).processors(steps).run("hello").await?.answer(), "hi");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum RequestStep {
    /// Sets the request that [`Agent::request`](crate::Agent::request) has edited.
    Settings,
    /// Adds the instructions. Those of the root agent come first.
    Instructions,
    /// Adds the agent's name, if it was set.
    Identity,
    /// Adds the conversation, as the agent sees it.
    Conversation,
    /// Runs the [`Planner`](super::Planner). It comes after the conversation, which the planner may change.
    Planner,
    /// Adds the instructions about running code.
    Code,
    /// Adds the schema of the answer.
    Output,
    /// Adds the agents to which the agent may transfer.
    Transfers,
    /// Runs a user-defined step.
    Custom(Arc<dyn RequestProcessor>),
}

impl RequestStep {
    /// The default steps, in their order. Confirmations and credentials are processed earlier: as tool calls, at the
    /// start of a turn.
    pub fn defaults() -> Vec<Self> {
        vec![
            Self::Settings,
            Self::Instructions,
            Self::Identity,
            Self::Conversation,
            Self::Planner,
            Self::Code,
            Self::Output,
            Self::Transfers,
        ]
    }

    /// A user-defined step.
    pub fn custom(processor: impl RequestProcessor) -> Self {
        Self::Custom(Arc::new(processor))
    }
}

/// A step that processes a model's answer before the agent makes it an event, calls tools or runs code. An agent runs the
/// [defaults](Self::defaults) in their order, then the steps added by
/// [`Agent::response_processor`](crate::Agent::response_processor). They run after the callbacks, also on an answer that
/// a callback returned instead of the model.
///
/// ```
/// use petalflow_agent::Agent;
/// use petalflow_agent::extension::{PlanReAct, ResponseStep};
/// use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// // The model plans, but its answer stays unchanged.
/// let model = ScriptedModel::new(["/*FINAL_ANSWER*/ 42"]);
/// let agent = Agent::new(model).planner(PlanReAct).response_processors([ResponseStep::Code]);
/// assert_eq!(agent.run("?").await?.answer(), "/*FINAL_ANSWER*/ 42");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub enum ResponseStep {
    /// Runs the [`Planner`](super::Planner).
    Planner,
    /// Ends the answer at its first block of code, which then runs.
    Code,
    /// Runs a user-defined step.
    Custom(Arc<dyn ResponseProcessor>),
}

impl ResponseStep {
    /// The default steps, in their order.
    pub fn defaults() -> Vec<Self> {
        vec![Self::Planner, Self::Code]
    }

    /// A user-defined step.
    pub fn custom(processor: impl ResponseProcessor) -> Self {
        Self::Custom(Arc::new(processor))
    }
}

/// A user-defined step that builds a model's request: see [`RequestStep`].
///
/// ```
/// use petalflow::{BoxError, async_trait};
/// use petalflow_agent::Agent;
/// use petalflow_agent::extension::{ModelCall, RequestProcessor};
/// use petalflow_llm::ScriptedModel;
///
/// /// Adds the day to the instructions.
/// struct Today(&'static str);
///
/// #[async_trait]
/// impl RequestProcessor for Today {
///     async fn process(&self, call: &mut ModelCall<'_>) -> Result<(), BoxError> {
///         call.instruct(&format!("Today is {}.", self.0));
///         Ok(())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let model = ScriptedModel::from_fn(|request| request.system.clone().unwrap_or_default());
/// assert_eq!(Agent::new(model).processor(Today("Monday")).run("?").await?.answer(), "Today is Monday.");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait RequestProcessor: Send + Sync + 'static {
    /// Changes the request, adds events, or ends the turn.
    ///
    /// # Errors
    ///
    /// An error ends the step: the later processors do not run, and the model is not called.
    async fn process(&self, call: &mut ModelCall<'_>) -> Result<(), BoxError>;
}

/// A user-defined step that processes a model's answer: see [`ResponseStep`]. For a streamed answer, it also gets each
/// piece for the listener ([`ModelCall::is_partial`]).
///
/// ```
/// use petalflow::{BoxError, async_trait};
/// use petalflow_agent::Agent;
/// use petalflow_agent::extension::{ModelCall, ResponseProcessor};
/// use petalflow_llm::{LlmResponse, Part, ScriptedModel};
///
/// /// Replaces exclamation marks.
/// struct Calm;
///
/// #[async_trait]
/// impl ResponseProcessor for Calm {
///     async fn process(&self, _: &mut ModelCall<'_>, response: &mut LlmResponse) -> Result<(), BoxError> {
///         for part in response.message.iter_mut().flat_map(|message| &mut message.parts) {
///             if let Part::Text(text) = part {
///                 text.text = text.text.replace('!', ".");
///             }
///         }
///         Ok(())
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let agent = Agent::new(ScriptedModel::new(["Hello!"])).response_processor(Calm);
/// assert_eq!(agent.run("hi").await?.answer(), "Hello.");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait ResponseProcessor: Send + Sync + 'static {
    /// Changes the answer.
    ///
    /// # Errors
    ///
    /// An error ends the step.
    async fn process(
        &self,
        call: &mut ModelCall<'_>,
        response: &mut LlmResponse,
    ) -> Result<(), BoxError>;
}

impl fmt::Debug for RequestStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Settings => "Settings",
            Self::Instructions => "Instructions",
            Self::Identity => "Identity",
            Self::Conversation => "Conversation",
            Self::Planner => "Planner",
            Self::Code => "Code",
            Self::Output => "Output",
            Self::Transfers => "Transfers",
            Self::Custom(_) => "Custom",
        })
    }
}

impl fmt::Debug for ResponseStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Planner => "Planner",
            Self::Code => "Code",
            Self::Custom(_) => "Custom",
        })
    }
}
