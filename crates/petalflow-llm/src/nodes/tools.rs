//! A node that makes the tool calls of a model.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{MessageHistory, NodeOutput};
use crate::{ChatMessage, Role};
use petalflow::interrupt::Ask;
use petalflow::node::{Key, Requirements};
use petalflow::tool::{
    Confirmation, Tool, ToolCall, ToolContext, ToolRegistry, ToolResult, ToolSet,
};
use petalflow::{BoxError, Context, node};

/// A node that makes the tool calls in the last message of the conversation in the key `K`, all at once. It appends one
/// message with the results in the order of the calls. Without calls it appends nothing.
///
/// If a tool fails, is unknown, or gets wrong arguments, its result is `{"error": ..}`, and the model can correct the
/// call. If a tool needs a person's confirmation, the node [asks](ConfirmCall) before it makes any call. This requires
/// a run on a thread. On a thread each result is recorded: after a crash no finished call is repeated.
///
/// ```
/// use petalflow_llm::{ChatMessage, Reply, ScriptedModel};
/// use petalflow_llm::nodes::{Llm, Model, Tools};
/// use petalflow::prelude::*;
/// use serde_json::json;
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(
///     /// The first one.
///     a: i64,
///     /// The second one.
///     b: i64,
/// ) -> i64 {
///     a + b
/// }
///
/// #[state]
/// struct Chat {
///     #[key(input, append)]
///     messages: Vec<ChatMessage>,
/// }
///
/// flow! {
///     Calculate(Chat) {
///         think -> act -> make_call;
///         node think: Llm<ChatMessages> = Llm::new("Use the tools.").tools(&tools![add]);
///         node act: Tools<ChatMessages> = Tools::new(tools![add]);
///         node make_call: Llm<ChatMessages> = Llm::new("");
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> petalflow::Result<()> {
/// let model = ScriptedModel::new([Reply::call("add", json!({ "a": 1, "b": 2 })), "It is 3.".into()]);
/// let chat = Calculate::new()
///     .manage(Model::new(model))
///     .run(vec![ChatMessage::user("1 + 2?")])
///     .await?;
/// let result = chat.messages[2].tool_results().next().unwrap();
/// assert_eq!(result.content, 3);
/// # Ok(())
/// # }
/// ```
pub struct Tools<K> {
    /// The node's own tools. `None` means the run's tools.
    tools: Option<ToolSet>,
    key: PhantomData<fn() -> K>,
}

impl<K> Clone for Tools<K> {
    fn clone(&self) -> Self {
        Tools {
            tools: self.tools.clone(),
            key: PhantomData,
        }
    }
}

impl<K> fmt::Debug for Tools<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools").field("tools", &self.tools).finish()
    }
}

impl<K> Tools<K> {
    /// A node that calls these tools.
    pub fn new(tools: ToolSet) -> Self {
        Tools {
            tools: Some(tools),
            key: PhantomData,
        }
    }

    /// A node that calls the tools of the run: a managed [`ToolSet`] or [`ToolRegistry`].
    ///
    /// ```
    /// use petalflow_llm::{ChatMessage};
    /// use petalflow_llm::nodes::Tools;
    /// use petalflow::prelude::*;
    ///
    /// #[state]
    /// struct Chat {
    ///     #[key(input, append)]
    ///     messages: Vec<ChatMessage>,
    /// }
    ///
    /// let act: Tools<ChatMessages> = Tools::managed();
    /// # let _ = act;
    /// ```
    pub fn managed() -> Self {
        Tools {
            tools: None,
            key: PhantomData,
        }
    }
}

/// A person's decision about a call: yes or no, with a reason or with other arguments. `true` and `false` convert into it,
/// also in JSON.
///
/// ```
/// use petalflow_llm::nodes::CallDecision;
/// use serde_json::json;
///
/// assert_eq!(serde_json::from_value::<CallDecision>(json!(true))?, CallDecision::from(true));
/// let refused = json!({ "confirmed": false, "reason": "too expensive" });
/// assert_eq!(serde_json::from_value::<CallDecision>(refused)?, CallDecision::refuse("too expensive"));
/// let changed = json!({ "confirmed": true, "arguments": { "seats": 1 } });
/// assert_eq!(serde_json::from_value::<CallDecision>(changed)?, CallDecision::change(json!({ "seats": 1 })));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "WrittenDecision", into = "WrittenDecision")]
#[non_exhaustive]
pub struct CallDecision {
    /// Whether the call is made.
    pub confirmed: bool,
    /// Why it is not made. The model reads it.
    pub reason: Option<String>,
    /// The arguments with which it is made: a JSON object. `None`: those of the model.
    pub arguments: Option<Value>,
}

impl CallDecision {
    /// The call is not made, and the model reads why.
    pub fn refuse(reason: impl Into<String>) -> Self {
        CallDecision {
            reason: Some(reason.into()),
            ..Self::default()
        }
    }

    /// The call is made with these arguments. The model reads them with the result.
    pub fn change(arguments: Value) -> Self {
        CallDecision {
            confirmed: true,
            arguments: Some(arguments),
            ..Self::default()
        }
    }
}

impl From<bool> for CallDecision {
    fn from(confirmed: bool) -> Self {
        CallDecision {
            confirmed,
            ..Self::default()
        }
    }
}

/// A decision as JSON.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WrittenDecision {
    Plain(bool),
    WithContent {
        confirmed: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments: Option<Value>,
    },
}

impl From<WrittenDecision> for CallDecision {
    fn from(written: WrittenDecision) -> Self {
        match written {
            WrittenDecision::Plain(confirmed) => confirmed.into(),
            WrittenDecision::WithContent {
                confirmed,
                reason,
                arguments,
            } => CallDecision {
                confirmed,
                reason,
                arguments,
            },
        }
    }
}

impl From<CallDecision> for WrittenDecision {
    fn from(decision: CallDecision) -> Self {
        match decision {
            CallDecision {
                confirmed,
                reason: None,
                arguments: None,
            } => WrittenDecision::Plain(confirmed),
            CallDecision {
                confirmed,
                reason,
                arguments,
            } => WrittenDecision::WithContent {
                confirmed,
                reason,
                arguments,
            },
        }
    }
}

/// The question whether a tool may be called. The answer is yes or no, with a reason or with other arguments.
///
/// ```
/// use petalflow::interrupt::Ask;
/// use petalflow_llm::nodes::ConfirmCall;
/// use petalflow::tool::ToolCall;
///
/// let call = ToolCall { name: "delete".into(), ..ToolCall::default() };
/// let question = ConfirmCall { index: 0, call, hint: "delete all?".into() };
/// assert_eq!((ConfirmCall::NAME, question.key()), ("confirm-call", "0".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConfirmCall {
    /// The index of the call in the message, from 0.
    pub index: usize,
    /// The tool call.
    pub call: ToolCall,
    /// The tool's text about the call.
    pub hint: String,
}

impl Ask for ConfirmCall {
    type Answer = CallDecision;
    const NAME: &'static str = "confirm-call";

    fn key(&self) -> String {
        self.index.to_string()
    }
}

#[node(K::State)]
#[diagnostic::do_not_recommend]
impl<K: Key<Value: MessageHistory>> Tools<K> {
    async fn run(&self, #[key(K)] history: &K::Value, cx: Context) -> petalflow::Result<K> {
        let messages = history.messages();
        let last = messages
            .last()
            .filter(|message| message.role == Role::Assistant);
        let calls: Vec<&ToolCall> = last.into_iter().flat_map(ChatMessage::calls).collect();
        if calls.is_empty() {
            return Ok(K::new(MessageHistory::from_messages(Vec::new())));
        }
        let tools = node_tools(self.tools.as_ref(), &cx)?;
        let results = call_tools(&tools, &calls, ("", 0), &cx).await?;
        let results = vec![ChatMessage::results(results)];
        Ok(K::new(MessageHistory::from_messages(results)))
    }
}

/// Makes the tool calls of a model's answer at the same time, from within a node. A call that fails, or that a person
/// refuses, has an error as its result, which the model can read. Events are [`NodeOutput`]s. The result of a call is recorded
/// with [`Context::once`], so it is not made again when the node runs again.
///
/// `numbered_from` is the name under which calls are recorded, and the number of the first of these calls. A node that asks
/// its model several times passes the number of calls before. A node that does so several times in one task passes another
/// name each time; then no tool may need a confirmation.
///
/// For user-defined nodes that work like [`Tools`].
///
/// # Errors
///
/// Those of [`Context::ask`] and of [`Context::once`].
///
/// # Cancel safety
///
/// Dropping the future cancels the calls.
pub async fn call_tools(
    tools: &ToolSet,
    calls: &[&ToolCall],
    numbered_from: (&str, usize),
    cx: &Context,
) -> Result<Vec<ToolResult>, BoxError> {
    let (name, first) = numbered_from;
    let numbered = || (first..).zip(calls.iter().copied());
    // Ask all questions before any call: after an answer, the node runs again from its start.
    let questions = numbered().map(|(index, call)| confirmed(tools, index, call, cx));
    let confirmed: Vec<_> = join_all(questions)
        .await
        .into_iter()
        .collect::<Result<_, _>>()?;
    let calls = numbered().zip(confirmed);
    let calls = calls.map(|((index, call), confirmed)| async move {
        let result = make_call(tools, call, confirmed, cx);
        cx.once(&format!("{name}call {index}"), async {
            Ok::<_, BoxError>(result.await)
        })
        .await
    });
    join_all(calls).await.into_iter().collect()
}

/// The node's tools, or the run's.
pub(super) fn node_tools(own: Option<&ToolSet>, cx: &Context) -> Result<ToolSet, BoxError> {
    let tools = own.map_or_else(|| managed_tools(cx), |tools| Ok(tools.clone()))?;
    for tool in tools.iter() {
        let mut requirements = Requirements::of(cx);
        tool.require(&mut requirements);
        if let [missing, ..] = requirements.missing() {
            let (tool, node) = (&tool.spec().name, cx.node());
            return Err(format!(
                "tool `{tool}` of node `{node}` takes a managed `{missing}`, and the run has none: pass it with `.manage(..)`"
            )
            .into());
        }
    }
    Ok(tools)
}

fn managed_tools(cx: &Context) -> Result<ToolSet, BoxError> {
    let set = cx.managed::<ToolSet>().map(|tools| (*tools).clone());
    let set = set.or_else(|| cx.managed::<ToolRegistry>().map(|tools| tools.tools()));
    set.ok_or_else(|| {
        format!(
            "node `{}` has no tools: give the launch some with `.manage(tools![..])`, or the node its own with `Tools::new(..)`",
            cx.node()
        )
        .into()
    })
}

/// The person's decision about a call. `None` if the call needs no confirmation.
async fn confirmed(
    tools: &ToolSet,
    index: usize,
    call: &ToolCall,
    cx: &Context,
) -> Result<Option<CallDecision>, BoxError> {
    // A call that is not made needs no decision.
    let tool = tools.get(&call.name).filter(|_| call.error.is_none());
    let Some(hint) = tool.and_then(|tool| tool.confirm(&call.arguments)) else {
        return Ok(None);
    };
    let question = ConfirmCall {
        index,
        call: call.clone(),
        hint,
    };
    cx.ask(question).await.map(Some)
}

/// Makes a call. A failure is a result, too.
async fn make_call(
    tools: &ToolSet,
    call: &ToolCall,
    decision: Option<CallDecision>,
    cx: &Context,
) -> ToolResult {
    let changed = decision.as_ref().filter(|decision| decision.confirmed);
    let changed = changed.and_then(|decision| decision.arguments.clone());
    let arguments = changed.as_ref().unwrap_or(&call.arguments);
    cx.emit_with(|| NodeOutput::Call {
        id: call.id.clone(),
        tool_name: call.name.clone(),
        arguments: arguments.clone(),
    });
    let result = match (tools.get(&call.name), &decision) {
        _ if call.error.is_some() => Err(call.error.clone().unwrap_or_default()),
        (None, _) => Err(unknown_tool(tools, &call.name)),
        (Some(_), Some(refusal)) if !refusal.confirmed => Err(match &refusal.reason {
            Some(reason) => format!("the user has refused this call: {reason}"),
            None => "the user has refused this call".to_string(),
        }),
        (Some(tool), _) => {
            let result = call_tool(tool, call, arguments, decision.is_some(), cx).await;
            result.map(|result| match &changed {
                // The model has to know what was done.
                Some(arguments) => json!({
                    "note": "the user has approved this call with other arguments",
                    "arguments": arguments,
                    "result": result,
                }),
                None => result,
            })
        }
    };
    let is_error = result.is_err();
    let content = match result {
        Ok(value) => value,
        Err(message) => json!({ "error": message }),
    };
    cx.emit_with(|| NodeOutput::Result {
        id: call.id.clone(),
        tool_name: call.name.clone(),
        is_error,
        result: content.clone(),
    });
    ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        content,
        is_error,
    }
}

async fn call_tool(
    tool: &Arc<dyn Tool>,
    call: &ToolCall,
    arguments: &Value,
    confirmed: bool,
    cx: &Context,
) -> Result<Value, String> {
    let mut context = ToolContext::within(&*call.id, cx.clone());
    if confirmed {
        context = context.with_confirmation(Confirmation {
            confirmed,
            ..Confirmation::default()
        });
    }
    let result = tool.call(arguments.clone(), &context).await;
    result.map_err(|error| error.to_string())
}

fn unknown_tool(tools: &ToolSet, name: &str) -> String {
    let names: Vec<&str> = tools.names().collect();
    if names.is_empty() {
        return format!("there is no tool `{name}`, nor any other: answer without tools");
    }
    format!(
        "there is no tool `{name}`; call one of: {}",
        names.join(", ")
    )
}
