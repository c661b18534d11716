//! Steps that build a request from a conversation and that process an answer.

use std::sync::Arc;

use super::{AgentError, History, Mode, ModelCall, code, delegation, history, transfer};
use petalflow::{BoxError, async_trait};
use petalflow_llm::LlmResponse;

/// A step that builds a model's request from a conversation. An agent runs the [`defaults`] in their order, then the
/// steps added by [`Agent::processor`](super::Agent::processor). Then its tools and toolsets are added.
///
/// ```
/// use petalflow::{BoxError, async_trait};
/// use petalflow_agent::{Agent, ModelCall, RequestProcessor};
/// use petalflow_llm::ScriptedModel;
///
/// /// Tells the model what day it is.
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

/// A step that processes a model's answer before the agent makes it an event, calls tools or runs code. An agent runs
/// the [`response_defaults`] in their order, then the steps added by
/// [`Agent::response_processor`](super::Agent::response_processor). They run after the callbacks, also on an answer
/// that a callback returned instead of the model. For a streamed answer, they also get each piece for listeners
/// ([`ModelCall::is_partial`]).
///
/// ```
/// use petalflow::{BoxError, async_trait};
/// use petalflow_agent::{Agent, ModelCall, ResponseProcessor};
/// use petalflow_llm::{LlmResponse, Part, ScriptedModel};
///
/// /// Says it without exclamation marks.
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

/// The default request processors, in their order: the settings of the request, the instructions, the agent's name,
/// the conversation, the planner, code execution, the form of the answer, and transfers. Confirmations and
/// credentials from people are processed earlier: as tool calls, at the start of a turn.
///
/// ```
/// use petalflow_agent::{Agent, processors};
/// use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// // Without the last, which tells of other agents.
/// let mut steps = processors::defaults();
/// steps.pop();
/// assert_eq!(Agent::new(ScriptedModel::new(["hi"])).processors(steps).run("hello").await?.answer(), "hi");
/// # Ok(())
/// # }
/// ```
pub fn defaults() -> Vec<Arc<dyn RequestProcessor>> {
    vec![
        Arc::new(Settings),
        Arc::new(Instructions),
        Arc::new(Identity),
        Arc::new(Contents),
        // Runs after the conversation was added, because planners may change it.
        Arc::new(Planning),
        Arc::new(Code),
        Arc::new(OutputSchema),
        Arc::new(Transfers),
    ]
}

/// The default response processors, in their order: the planner, and code execution.
///
/// ```
/// use petalflow_agent::{Agent, PlanReAct, processors};
/// use petalflow_llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// // The planner plans, but what the model writes stays as it is.
/// let steps = processors::response_defaults().into_iter().skip(1);
/// let model = ScriptedModel::new(["/*FINAL_ANSWER*/ 42"]);
/// let agent = Agent::new(model).planner(PlanReAct).response_processors(steps);
/// assert_eq!(agent.run("?").await?.answer(), "/*FINAL_ANSWER*/ 42");
/// # Ok(())
/// # }
/// ```
pub fn response_defaults() -> Vec<Arc<dyn ResponseProcessor>> {
    vec![Arc::new(Planning), Arc::new(Code)]
}

/// The settings of every request of the agent.
struct Settings;

/// The instructions. Those of the root agent come first.
struct Instructions;

/// The agent's name, if it was set.
struct Identity;

/// The conversation, as the agent sees it.
struct Contents;

/// The planner: plans in the request and in the answer.
struct Planning;

/// Code execution: the instructions, and the code in the answer.
struct Code;

/// The form of the answer.
struct OutputSchema;

/// The agents to which the agent may transfer.
struct Transfers;

#[async_trait]
impl RequestProcessor for Settings {
    async fn process(&self, call: &mut ModelCall<'_>) -> Result<(), BoxError> {
        call.request = call.at.agent().request.clone();
        Ok(())
    }
}

#[async_trait]
impl RequestProcessor for Instructions {
    async fn process(&self, call: &mut ModelCall<'_>) -> Result<(), BoxError> {
        let (agent, root) = (call.at.agent(), call.at.root());
        for instruction in root.global.iter().chain(&agent.instructions) {
            let words = instruction.words(call).await?;
            call.instruct(&words);
        }
        Ok(())
    }
}

#[async_trait]
impl RequestProcessor for Identity {
    async fn process(&self, call: &mut ModelCall<'_>) -> Result<(), BoxError> {
        let agent = call.at.agent();
        // A `SingleTurn` agent gets only its own instructions.
        if agent.named && agent.mode != Mode::SingleTurn {
            let mut text = format!(
                "You are an agent. Your internal name is \"{}\".",
                agent.name
            );
            if !agent.description.is_empty() {
                text.push_str(" The description about you is \"");
                text.push_str(&agent.description);
                text.push_str("\".");
            }
            call.instruct(&text);
        }
        if agent.mode == Mode::Task {
            call.instruct(delegation::INSTRUCTION);
        }
        Ok(())
    }
}

#[async_trait]
impl RequestProcessor for Contents {
    async fn process(&self, call: &mut ModelCall<'_>) -> Result<(), BoxError> {
        Ok(contents(call)?)
    }
}

fn contents(call: &mut ModelCall<'_>) -> Result<(), AgentError> {
    let (conversation, reader) = (call.at.conversation, call.at.reader());
    let events = &*conversation.events;
    let messages = match call.at.agent().history {
        History::All => conversation.view.messages(events, &reader),
        History::Turn => {
            let turn = &events[history::turn_start(events, &reader)..];
            history::messages(turn, &reader).map(Into::into)
        }
    };
    call.request.messages =
        messages.map_err(|uncalled| AgentError::Request(uncalled.to_string()))?;
    Ok(())
}

#[async_trait]
impl RequestProcessor for Planning {
    async fn process(&self, call: &mut ModelCall<'_>) -> Result<(), BoxError> {
        match &call.at.agent().planner {
            Some(planner) => planner.plan(call).await,
            None => Ok(()),
        }
    }
}

#[async_trait]
impl ResponseProcessor for Planning {
    async fn process(
        &self,
        call: &mut ModelCall<'_>,
        response: &mut LlmResponse,
    ) -> Result<(), BoxError> {
        let (Some(planner), Some(message)) = (&call.at.agent().planner, &mut response.message)
        else {
            return Ok(());
        };
        let parts = std::mem::take(&mut message.parts);
        message.parts = planner.read(call, parts).await?;
        Ok(())
    }
}

#[async_trait]
impl RequestProcessor for Code {
    async fn process(&self, call: &mut ModelCall<'_>) -> Result<(), BoxError> {
        if let Some(executor) = &call.at.agent().code_executor {
            call.instruct(&code::instruction(&**executor));
        }
        Ok(())
    }
}

#[async_trait]
impl ResponseProcessor for Code {
    async fn process(
        &self,
        call: &mut ModelCall<'_>,
        response: &mut LlmResponse,
    ) -> Result<(), BoxError> {
        if let Some(executor) = &call.at.agent().code_executor
            && !call.is_partial()
            && let Some(message) = &mut response.message
            && code::is_run(call.at, &**executor)
            && let Some(parts) = code::cut(&message.parts, executor.language())
        {
            message.parts = parts;
        }
        Ok(())
    }
}

#[async_trait]
impl RequestProcessor for OutputSchema {
    async fn process(&self, call: &mut ModelCall<'_>) -> Result<(), BoxError> {
        let agent = call.at.agent();
        if let Some(output) = &agent.output
            && agent.mode != Mode::Task
        {
            if super::output::as_tool(call.at) {
                call.instruct(super::output::INSTRUCTION);
            } else {
                call.request.json_schema = Some(Arc::clone(&output.schema));
            }
        }
        Ok(())
    }
}

#[async_trait]
impl RequestProcessor for Transfers {
    async fn process(&self, call: &mut ModelCall<'_>) -> Result<(), BoxError> {
        if let Some(text) = transfer::instruction(call.at) {
            call.instruct(&text);
        }
        Ok(())
    }
}
