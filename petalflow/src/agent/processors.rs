//! From a conversation to a request, step by step.

use std::sync::Arc;

use super::{AgentError, History, Mode, ModelCall, delegation, history, transfer};
use crate::BoxError;
use crate::middleware::BoxFuture;

/// A step on the way from a conversation to a request. An agent has the [`defaults`], in their order, then those that it is
/// given with [`Agent::processor`](super::Agent::processor); then its tools and toolsets are added.
///
/// ```
/// use petalflow::BoxError;
/// use petalflow::agent::{Agent, ModelCall, RequestProcessor};
/// use petalflow::llm::ScriptedModel;
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
    fn process<'a>(&'a self, call: &'a mut ModelCall<'_>) -> BoxFuture<'a, Result<(), BoxError>>;
}

/// The steps of every agent, in their order: the settings of its requests, its instructions, its name, the conversation, the
/// form of its answer, and to whom it may transfer.
///
/// ```
/// use petalflow::agent::{Agent, processors};
/// use petalflow::llm::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// // Without the last, which tells of other agents.
/// let steps = processors::defaults().into_iter().take(5);
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
        Arc::new(OutputSchema),
        Arc::new(Transfers),
    ]
}

/// The settings that every request of the agent has.
struct Settings;

/// What the agent is told to be; what the agent above all others says comes first.
struct Instructions;

/// The agent's name, if it was given one.
struct Identity;

/// The conversation, as the agent sees it.
struct Contents;

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
