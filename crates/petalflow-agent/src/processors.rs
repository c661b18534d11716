//! From a conversation to a request, and from an answer to what it means, step by step.

use std::sync::Arc;

use super::{AgentError, History, Mode, ModelCall, code, delegation, history, transfer};
use petalflow::BoxError;
use petalflow::middleware::BoxFuture;
use petalflow_llm::LlmResponse;

/// A step on the way from a conversation to a request. An agent has the [`defaults`], in their order, then those that it is
/// given with [`Agent::processor`](super::Agent::processor); then its tools and toolsets are added.
///
/// ```
/// use petalflow::BoxError;
/// use petalflow_agent::{Agent, ModelCall, RequestProcessor};
/// use petalflow_llm::ScriptedModel;
/// use petalflow::middleware::BoxFuture;
///
/// /// Tells the model what day it is.
/// struct Today(&'static str);
///
/// impl RequestProcessor for Today {
///     fn process<'a>(&'a self, call: &'a mut ModelCall<'_>) -> BoxFuture<'a, Result<(), BoxError>> {
///         Box::pin(async move {
///             call.instruct(&format!("Today is {}.", self.0));
///             Ok(())
///         })
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
pub trait RequestProcessor: Send + Sync + 'static {
    /// Changes the request, adds events, or ends the turn.
    ///
    /// # Errors
    ///
    /// They end the step: neither the processors behind it nor the model are asked.
    fn process<'a>(&'a self, call: &'a mut ModelCall<'_>) -> BoxFuture<'a, Result<(), BoxError>>;
}

/// A step on the way from a model's answer to what the agent makes of it: an event, calls, code to run. An agent has the
/// [`response_defaults`], in their order, then those that it is given with
/// [`Agent::response_processor`](super::Agent::response_processor). They see what callbacks have left of an answer, also where
/// one of them answered in the model's place; of a streamed answer each piece for listeners as well
/// ([`ModelCall::is_partial`]).
///
/// ```
/// use petalflow::BoxError;
/// use petalflow_agent::{Agent, ModelCall, ResponseProcessor};
/// use petalflow_llm::{LlmResponse, Part, ScriptedModel};
/// use petalflow::middleware::BoxFuture;
///
/// /// Says it without exclamation marks.
/// struct Calm;
///
/// impl ResponseProcessor for Calm {
///     fn process<'a>(
///         &'a self,
///         _: &'a mut ModelCall<'_>,
///         response: &'a mut LlmResponse,
///     ) -> BoxFuture<'a, Result<(), BoxError>> {
///         for part in response.message.iter_mut().flat_map(|message| &mut message.parts) {
///             if let Part::Text(text) = part {
///                 text.text = text.text.replace('!', ".");
///             }
///         }
///         Box::pin(async { Ok(()) })
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
pub trait ResponseProcessor: Send + Sync + 'static {
    /// Changes the answer.
    ///
    /// # Errors
    ///
    /// They end the step.
    fn process<'a>(
        &'a self,
        call: &'a mut ModelCall<'_>,
        response: &'a mut LlmResponse,
    ) -> BoxFuture<'a, Result<(), BoxError>>;
}

/// The steps of every agent, in their order: the settings of its requests, its instructions, its name, the conversation, its
/// planner, running code, the form of its answer, and to whom it may transfer. What people have confirmed, and the credentials
/// that they gave, are looked at before: as calls of tools, at the beginning of a turn.
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
        // Behind the conversation, so that planners may change what stands in it.
        Arc::new(Planning),
        Arc::new(Code),
        Arc::new(OutputSchema),
        Arc::new(Transfers),
    ]
}

/// The steps of every agent from an answer to what it means, in their order: its planner, and code that is to run.
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

/// The settings that every request of the agent has.
struct Settings;

/// What the agent is told to be; what the agent above all others says comes first.
struct Instructions;

/// The agent's name, if it was given one.
struct Identity;

/// The conversation, as the agent sees it.
struct Contents;

/// What makes the model plan, and what is a plan in its answer.
struct Planning;

/// That code is run, and which.
struct Code;

/// The form of the answer.
struct OutputSchema;

/// To whom the agent may transfer.
struct Transfers;

fn done<'a>(result: Result<(), BoxError>) -> BoxFuture<'a, Result<(), BoxError>> {
    Box::pin(std::future::ready(result))
}

impl RequestProcessor for Settings {
    fn process<'a>(&'a self, call: &'a mut ModelCall<'_>) -> BoxFuture<'a, Result<(), BoxError>> {
        call.request = call.at.agent().request.clone();
        done(Ok(()))
    }
}

impl RequestProcessor for Instructions {
    fn process<'a>(&'a self, call: &'a mut ModelCall<'_>) -> BoxFuture<'a, Result<(), BoxError>> {
        Box::pin(async move {
            let (agent, root) = (call.at.agent(), call.at.root());
            for instruction in root.global.iter().chain(&agent.instructions) {
                let words = instruction.words(call).await?;
                call.instruct(&words);
            }
            Ok(())
        })
    }
}

impl RequestProcessor for Identity {
    fn process<'a>(&'a self, call: &'a mut ModelCall<'_>) -> BoxFuture<'a, Result<(), BoxError>> {
        let agent = call.at.agent();
        // One that is asked once is only as it is told to be.
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
        done(Ok(()))
    }
}

impl RequestProcessor for Contents {
    fn process<'a>(&'a self, call: &'a mut ModelCall<'_>) -> BoxFuture<'a, Result<(), BoxError>> {
        done(contents(call).map_err(Into::into))
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

impl RequestProcessor for Planning {
    fn process<'a>(&'a self, call: &'a mut ModelCall<'_>) -> BoxFuture<'a, Result<(), BoxError>> {
        let planner = call.at.agent().planner.as_ref();
        done(planner.map_or(Ok(()), |planner| planner.plan(call)))
    }
}

impl ResponseProcessor for Planning {
    fn process<'a>(
        &'a self,
        call: &'a mut ModelCall<'_>,
        response: &'a mut LlmResponse,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        let (Some(planner), Some(message)) = (&call.at.agent().planner, &mut response.message)
        else {
            return done(Ok(()));
        };
        let parts = std::mem::take(&mut message.parts);
        done(planner.read(call, parts).map(|parts| message.parts = parts))
    }
}

impl RequestProcessor for Code {
    fn process<'a>(&'a self, call: &'a mut ModelCall<'_>) -> BoxFuture<'a, Result<(), BoxError>> {
        if let Some(executor) = &call.at.agent().code_executor {
            call.instruct(&code::instruction(&**executor));
        }
        done(Ok(()))
    }
}

impl ResponseProcessor for Code {
    fn process<'a>(
        &'a self,
        call: &'a mut ModelCall<'_>,
        response: &'a mut LlmResponse,
    ) -> BoxFuture<'a, Result<(), BoxError>> {
        if let Some(executor) = &call.at.agent().code_executor
            && !call.is_partial()
            && let Some(message) = &mut response.message
            && code::is_run(call.at, &**executor)
            && let Some(parts) = code::cut(&message.parts, executor.language())
        {
            message.parts = parts;
        }
        done(Ok(()))
    }
}

impl RequestProcessor for OutputSchema {
    fn process<'a>(&'a self, call: &'a mut ModelCall<'_>) -> BoxFuture<'a, Result<(), BoxError>> {
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
        done(Ok(()))
    }
}

impl RequestProcessor for Transfers {
    fn process<'a>(&'a self, call: &'a mut ModelCall<'_>) -> BoxFuture<'a, Result<(), BoxError>> {
        if let Some(text) = transfer::instruction(call.at) {
            call.instruct(&text);
        }
        done(Ok(()))
    }
}
