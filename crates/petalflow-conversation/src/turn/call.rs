//! Calls of functions.

use petalflow::error::catch_panic;
use petalflow::tool::ToolContext;
use petalflow::{BoxError, Context};
use serde_json::{Value, json};

use super::step;
use crate::error::NextError;
use crate::program::{Offered, Program};
use crate::step::{Outcome, PendingCall};
use crate::{ConversationError, ConversationEvent, Talk};

/// Lets the conversation continue at this node after the call, whatever the document says.
///
/// A function of the program calls it. Nodes that are chosen by code are checked when the function returns: a name that
/// does not exist is an error that the model is told.
///
/// ```
/// use petalflow::prelude::*;
/// use petalflow::tool::ToolContext;
/// use petalflow_conversation::go_to;
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

/// Calls a function. Its failure is a result that the model reads.
pub(crate) async fn call(
    program: &Program,
    talk: &Talk,
    pending: &PendingCall,
    cx: &Context,
) -> Result<Outcome, ConversationError> {
    let node = talk.position.node.as_deref().unwrap_or(&program.initial);
    let step = step(program, node)?;
    let name = &pending.call.name;
    let mut outcome = Outcome {
        index: pending.index,
        call: pending.call.clone(),
        result: Value::Null,
        is_error: false,
        values: serde_json::Map::new(),
        next: None,
    };
    let called = match step.functions.get(name) {
        Some(offered) => run(program, offered, talk, pending, cx, &mut outcome).await,
        None => Err(unknown(name, step.functions.keys().cloned().collect()).into()),
    };
    match called {
        // The model reads a result that says something.
        Ok(Value::Null) => outcome.result = json!({ "status": "acknowledged" }),
        Ok(result) => outcome.result = result,
        Err(error) => {
            outcome.is_error = true;
            outcome.next = None;
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
    talk: &Talk,
    pending: &PendingCall,
    cx: &Context,
    outcome: &mut Outcome,
) -> Result<Value, BoxError> {
    let mut wanted = None;
    let result = match &offered.tool {
        None => Value::Null,
        Some(tool) => {
            let arguments = pending.call.arguments.clone();
            // What does not fit is told to the model, and the code is not called.
            let arguments = match &offered.checker {
                Some(checker) => checker.check(arguments)?,
                None => arguments,
            };
            let tool_cx =
                ToolContext::within(&*pending.call.id, cx).with_state(talk.values.clone());
            let called = async {
                let called = tool.call(arguments, &tool_cx).await;
                called.map_err(BoxError::from)
            };
            // A panic of a function must not end the conversation.
            let result = match catch_panic(called).await {
                Ok(result) => result?,
                Err(panicked) => {
                    return Err(format!("function `{}` {panicked}", pending.call.name).into());
                }
            };
            let actions = tool_cx.take_actions();
            outcome.values = actions.state_delta;
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
