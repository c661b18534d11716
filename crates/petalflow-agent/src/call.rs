//! One tool call, with the callbacks around it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::at::At;
use super::conversation::{Outcome, PendingCall};
use super::single_turn::{self, Answer, Waiting};
use super::{
    AgentEvent, Mode, ToolStep, confirmation, credential, delegation, model, observed, output,
    transfer,
};
use petalflow::BoxError;
use petalflow::error::catch_panic;
use petalflow::tool::{Actions, Confirmation, Tool, ToolCall, ToolContext, ToolError, ToolResult};
use petalflow_llm::ChatMessage;

/// The target of a call.
enum Found {
    Tool(Arc<dyn Tool>),
    /// Transfers the conversation.
    Transfer,
    /// Sets the answer.
    Output,
    /// Finishes the agent's task.
    Finish,
    /// Gives a task to an agent.
    Task,
    /// Calls the agent with this index.
    Ask(usize),
}

/// What a call produces besides its result.
#[derive(Default)]
struct Aside {
    /// Whether the result may come later.
    later: bool,
    /// The events of the agent that was called.
    inner: Vec<AgentEvent>,
    /// That agent, if it waits for people.
    waiting: Option<Waiting>,
}

/// Makes a call.
pub(super) async fn call(at: At<'_>, pending: &PendingCall) -> Outcome {
    let mut step = ToolStep {
        arguments: pending.call.arguments.clone(),
        actions: Actions::default(),
        at,
        call: &pending.call,
    };
    let mut aside = Aside::default();
    let outcome = around(&mut step, pending, &mut aside).await;
    let spec = at
        .agent()
        .specs()
        .iter()
        .find(|spec| spec.name == pending.call.name);
    let waits = (aside.later || spec.is_some_and(|spec| spec.long_running || spec.deferred))
        // A call that asks a person needs an event.
        && step.actions.requested_confirmations.is_empty()
        && step.actions.requested_credentials.is_empty();
    let mut actions = step.actions;
    let mut state = serde_json::Map::new();
    let event = if waits && matches!(&outcome, Ok(Value::Null)) {
        state = std::mem::take(&mut actions.state_delta);
        None
    } else {
        Some(returned(at, &pending.call, outcome, actions))
    };
    Outcome {
        place: pending.place,
        call: pending.call.id.clone(),
        // A callback may have answered instead of the agent.
        waiting: aside.waiting.filter(|_| event.is_none()),
        inner: aside.inner,
        event,
        state,
    }
}

/// The event of a result.
fn returned(
    at: At<'_>,
    call: &ToolCall,
    outcome: Result<Value, BoxError>,
    actions: Actions,
) -> AgentEvent {
    let (content, is_error) = match outcome {
        Ok(content) => (content, false),
        Err(error) => (
            json!({ "error": petalflow::error::message_with_sources(&*error) }),
            true,
        ),
    };
    let result = ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content,
        is_error,
    };
    AgentEvent {
        message: Some(ChatMessage::results([result])),
        actions,
        ..at.event(0)
    }
}

/// Makes the call with its callbacks: the callbacks before the tool, the tool unless one of them returned a result,
/// the callbacks for an error, and the callbacks after the tool.
async fn around(
    step: &mut ToolStep<'_>,
    pending: &PendingCall,
    aside: &mut Aside,
) -> Result<Value, BoxError> {
    let at = step.at;
    let mut before = Ok(None);
    let found = find(at, &step.call.name).await;
    if found.is_ok() {
        for callback in model::callbacks(&at) {
            before = callback.before_tool(step).await;
            if !matches!(before, Ok(None)) {
                break;
            }
        }
    }
    let mut outcome = match (before, found) {
        (Ok(Some(value)), _) => Ok(value),
        (Err(error), _) | (_, Err(error)) => Err(error),
        (Ok(None), Ok(found)) => run(step, &found, pending, aside).await,
    };
    if let Err(error) = &mut outcome {
        for callback in model::callbacks(&at) {
            match callback.on_tool_error(step, error).await {
                Ok(None) => continue,
                Ok(Some(value)) => outcome = Ok(value),
                Err(other) => *error = other,
            }
            break;
        }
    }
    for callback in model::callbacks(&at) {
        match callback.after_tool(step, &outcome).await {
            Ok(None) => continue,
            Ok(Some(value)) => outcome = Ok(value),
            Err(error) => outcome = Err(error),
        }
        break;
    }
    outcome
}

/// Finds the tool of this name among all tools of the agent.
async fn find(at: At<'_>, name: &str) -> Result<Found, BoxError> {
    let agent = at.agent();
    if let Some(tool) = agent.tools.iter().find(|tool| tool.spec().name == name) {
        return Ok(Found::Tool(Arc::clone(tool)));
    }
    let mut known: Vec<String> = agent.specs().iter().map(|spec| spec.name.clone()).collect();
    for source in &agent.sources {
        let tools = source.tools().await?;
        if let Some(tool) = tools.get(name) {
            return Ok(Found::Tool(Arc::clone(tool)));
        }
        known.extend(tools.names().map(Into::into));
    }
    if transfer::tool(at.roster, at.place).is_some() {
        if name == transfer::NAME {
            return Ok(Found::Transfer);
        }
        known.push(transfer::NAME.into());
    }
    if agent.mode == Mode::Task {
        if name == delegation::FINISH {
            return Ok(Found::Finish);
        }
        known.push(delegation::FINISH.into());
    } else if output::as_tool(at) {
        if name == output::NAME {
            return Ok(Found::Output);
        }
        known.push(output::NAME.into());
    }
    for place in delegation::delegates(at.roster, at.place) {
        let delegate = &*at.roster.at(place).agent.name;
        if delegate == name {
            let works = at.roster.at(place).agent.mode == Mode::Task;
            return Ok(if works {
                Found::Task
            } else {
                Found::Ask(place)
            });
        }
        known.push(delegate.into());
    }
    Err(not_found(name, &known).into())
}

fn not_found(name: &str, known: &[String]) -> String {
    format!(
        "tool '{name}' not found.\nAvailable tools: {}\n\nPossible causes:\n  1. The name is made up or misspelt: call one of \
         the tools above.\n  2. The tool was not added to the agent.\n  3. The tool belongs to another agent.",
        known.join(", ")
    )
}

/// Runs the call itself.
async fn run(
    step: &mut ToolStep<'_>,
    found: &Found,
    pending: &PendingCall,
    aside: &mut Aside,
) -> Result<Value, BoxError> {
    let call = step.call;
    if !step.arguments.is_object() {
        return Err(ToolError::Arguments(format!(
            "the arguments of tool `{}` are not a JSON object: {}; call it again with an object that fits its schema",
            call.name,
            start(&step.arguments)
        ))
        .into());
    }
    match found {
        Found::Tool(tool) => run_tool(step, &observed::tool(tool), pending, aside).await,
        Found::Transfer => {
            let name = transfer::named(&step.arguments)?;
            transfer::target(step.at.roster, step.at.place, name)?;
            step.actions.transfer_to_agent = Some(name.into());
            Ok(Value::Null)
        }
        Found::Output => {
            checked(step.at, &step.arguments)?;
            Ok(json!({ "result": output::TAKEN }))
        }
        Found::Finish => {
            checked(step.at, &step.arguments)?;
            Ok(json!({ "result": "Task completed." }))
        }
        Found::Task => {
            aside.later = true;
            Ok(Value::Null)
        }
        Found::Ask(place) => {
            let asked = single_turn::ask(step.at, *place, pending).await?;
            step.actions.state_delta.extend(asked.state);
            aside.inner = asked.events;
            match asked.answer {
                Answer::Given(answer) => Ok(answer),
                Answer::Later(waiting) => {
                    aside.later = true;
                    aside.waiting = Some(waiting);
                    Ok(Value::Null)
                }
            }
        }
    }
}

/// Checks that the arguments match the agent's output schema.
fn checked(at: At<'_>, arguments: &Value) -> Result<(), ToolError> {
    let output = at.agent().output.as_ref();
    let checked = output.map_or(Ok(()), |output| (output.check)(arguments));
    checked.map_err(|problem| {
        ToolError::Arguments(format!(
            "the arguments do not fit the schema at {problem}; call it again with arguments that do"
        ))
    })
}

async fn run_tool(
    step: &mut ToolStep<'_>,
    tool: &dyn Tool,
    pending: &PendingCall,
    aside: &mut Aside,
) -> Result<Value, BoxError> {
    let (at, call) = (step.at, step.call);
    let spec = tool.spec();
    aside.later = spec.long_running || spec.deferred;
    let mut cx = ToolContext::within(&*call.id, at.cx);
    match &pending.confirmation {
        Some(Confirmation {
            confirmed: false, ..
        }) => return Err(confirmation::REFUSED.into()),
        Some(confirmation) => cx = cx.with_confirmation(confirmation.clone()),
        None => {
            if let Some(hint) = tool.confirm(&step.arguments) {
                let actions = &mut step.actions;
                actions
                    .requested_confirmations
                    .insert(call.id.clone(), Confirmation::ask(hint));
                actions.skip_summarization = true;
                return Err(confirmation::awaited(&call.name).into());
            }
        }
    }
    match &pending.credential {
        Some(Value::Null) => return Err(credential::DECLINED.into()),
        Some(credential) => cx = cx.with_credential(credential.clone()),
        None => {}
    }
    let state = &at.conversation.state;
    if !state.is_empty() || !step.actions.state_delta.is_empty() {
        let mut state = state.clone();
        state.extend(step.actions.state_delta.clone());
        cx = cx.with_state(state);
    }
    let _permit = at.conversation.view.permit(at.root().parallel_tools).await;
    let running = async {
        let called = tool.call(step.arguments.clone(), &cx);
        let returned = match at.agent().tool_timeout {
            None => called.await,
            Some(time) => tokio::time::timeout(time, called)
                .await
                .unwrap_or_else(|_| Err(ToolError::Timeout(call.name.clone(), time))),
        };
        returned.map_err(BoxError::from)
    };
    // A panic of a tool must not end the conversation.
    let returned = catch_panic(running).await;
    let more = cx.take_actions();
    let before = std::mem::take(&mut step.actions);
    step.actions = petalflow::tool::merge([Some(before), Some(more)]).unwrap_or_default();
    match returned {
        Ok(returned) => returned,
        Err(panicked) => Err(format!("tool `{}` {panicked}", call.name).into()),
    }
}

/// The start of the arguments, which may be very long.
fn start(arguments: &Value) -> String {
    let text = match arguments {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
