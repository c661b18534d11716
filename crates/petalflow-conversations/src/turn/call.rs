//! Calls of functions.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::task::Poll;

use petalflow::error::catch_panic;
use petalflow::tool::{ToolContext, ToolSpec, schema};
use petalflow::{BoxError, Context};
use serde_json::{Value, json};

use super::step;
use crate::error::NextError;
use crate::program::{Offered, Program};
use crate::step::{Outcome, PendingCall};
use crate::{ConversationError, ConversationEvent, ConversationState, Interruption};

/// Lets the conversation continue at this node after the call. It overrides the document.
///
/// A function of the program calls it. Nodes that are chosen by code are checked when the function returns: a name that
/// does not exist is an error that the model reads.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::tool::ToolContext;
/// use petalflow_conversations::go_to;
///
/// /// The caller gives an age.
/// #[tool]
/// fn set_age(age: u32, cx: ToolContext) -> String {
///     go_to(&cx, if age < 18 { "sorry" } else { "offer" });
///     "noted".into()
/// }
/// ```
pub fn go_to(cx: &ToolContext, node: impl Into<String>) {
    cx.actions().transfer_to_agent = Some(node.into());
}

/// Ends the turn after the call, without an answer of the model: it reads the result in the next turn. Pipecat's
/// `NO_RESPONSE`.
///
/// The turn goes on if another function of the same answer does not say this, fails, or leads to another node.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::tool::ToolContext;
/// use petalflow_conversations::no_response;
///
/// /// The caller is busy with somebody else.
/// #[tool]
/// fn wait(cx: ToolContext) -> String {
///     no_response(&cx);
///     "waiting".into()
/// }
/// ```
pub fn no_response(cx: &ToolContext) {
    cx.actions().skip_summarization = true;
}

/// Calls a function. Its failure is a result that the model reads.
pub(crate) async fn call(
    program: &Program,
    state: &ConversationState,
    pending: &PendingCall,
    cx: &Context,
) -> Result<Outcome, ConversationError> {
    let node = state.position.node.as_deref().unwrap_or(&program.initial);
    let step = step(program, node)?;
    let name = &pending.call.name;
    let mut outcome = Outcome {
        index: pending.index,
        call: pending.call.clone(),
        result: Value::Null,
        is_error: false,
        values: serde_json::Map::new(),
        next: None,
        is_silent: false,
    };
    let called = match step.functions.get(name) {
        Some(offered) => run(program, offered, state, pending, cx, &mut outcome).await,
        None => Err(unknown(name, step.functions.keys().cloned().collect()).into()),
    };
    match called {
        // The model reads a result that says something.
        Ok(Value::Null) => outcome.result = json!({ "status": "acknowledged" }),
        Ok(result) => outcome.result = result,
        Err(error) => {
            outcome.is_error = true;
            outcome.next = None;
            outcome.is_silent = false;
            let error = petalflow::error::message_with_sources(&*error);
            outcome.result = json!({ "status": "error", "error": error });
        }
    }
    cx.emit_with(|| ConversationEvent::Returned {
        function: name.clone(),
        result: outcome.result.clone(),
        next: outcome.next.clone(),
    });
    Ok(outcome)
}

fn unknown(name: &str, mut known: Vec<String>) -> String {
    known.sort();
    format!(
        "there is no function `{name}` here; the functions are: {}",
        known.join(", ")
    )
}

async fn run(
    program: &Program,
    offered: &Offered,
    state: &ConversationState,
    pending: &PendingCall,
    cx: &Context,
    outcome: &mut Outcome,
) -> Result<Value, BoxError> {
    if let Some(error) = &pending.call.error {
        return Err(error.clone().into());
    }
    let mut wanted = None;
    let result = match &offered.tool {
        None => Value::Null,
        Some(tool) => {
            let arguments = pending.call.arguments.clone();
            // If the arguments do not fit, the model reads why, and the code is not called.
            let arguments = match &offered.described {
                Some(spec) => checked(spec, arguments)?,
                None => arguments,
            };
            let tool_cx =
                ToolContext::within(&*pending.call.id, cx).with_state(state.values.clone());
            let called = async {
                let called = tool.call(arguments, &tool_cx).await;
                called.map_err(BoxError::from)
            };
            let name = &pending.call.name;
            // A panic of a function must not end the conversation.
            let result = match limited(offered, cx, name, catch_panic(called)).await? {
                Ok(result) => result?,
                Err(panicked) => return Err(format!("function `{name}` {panicked}").into()),
            };
            let actions = tool_cx.take_actions();
            outcome.values = actions.state_delta;
            outcome.is_silent = actions.skip_summarization;
            wanted = actions.transfer_to_agent;
            result
        }
    };
    outcome.next = match wanted {
        Some(node) if program.steps.contains_key(&node) => Some(node),
        Some(node) => return Err(NextError::UnknownNode(node).into()),
        None => offered.next.next(&result)?,
    };
    Ok(result)
}

/// The arguments, if they fit the document.
fn checked(spec: &ToolSpec, arguments: Value) -> Result<Value, String> {
    schema::check_arguments(&spec.parameters, arguments).map_err(|mistakes| {
        format!(
            "the arguments do not fit: {mistakes}; call it again with arguments that fit its schema"
        )
    })
}

/// Waits for a call until its timeout, and until the person interrupts if that ends the call.
async fn limited<F: Future>(
    offered: &Offered,
    cx: &Context,
    name: &str,
    call: F,
) -> Result<F::Output, BoxError> {
    let interruption = cx.managed::<Interruption>();
    let interrupted = async {
        match interruption {
            Some(interruption) if offered.is_cancelled => interruption.interrupted().await,
            _ => pending().await,
        }
    };
    let mut interrupted = pin!(interrupted);
    let mut call = pin!(call);
    // The interruption first: it is heard from before the call begins.
    let either = poll_fn(|task| match interrupted.as_mut().poll(task) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => call.as_mut().poll(task).map(Some),
    });
    let ended = match offered.timeout {
        None => Ok(either.await),
        Some(time) => tokio::time::timeout(time, either).await.map_err(|_| time),
    };
    match ended {
        Ok(Some(result)) => Ok(result),
        Ok(None) => {
            Err(format!("function `{name}` was cancelled: the person has interrupted").into())
        }
        Err(time) => Err(format!("function `{name}` has not returned within {time:?}").into()),
    }
}
