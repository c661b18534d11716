//! Events of nodes that call models and tools.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The output of a node that calls a model or tools: the payload of a [`CustomEvent`](petalflow::event::CustomEvent).
/// The event names the node, the task and the attempt.
///
/// ```
/// use futures_util::StreamExt;
/// use petalflow::event::EventKind;
/// use petalflow_llm::{ChatMessage, Reply, ScriptedModel};
/// use petalflow_llm::nodes::{Llm, NodeOutput};
/// use petalflow::prelude::*;
///
/// #[state]
/// struct Chat {
///     #[key(input, append)]
///     messages: Vec<ChatMessage>,
/// }
///
/// flow!(Answer(Chat) {
///     reply;
///     node reply: Llm<ChatMessages>;
/// });
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let model = ScriptedModel::new([Reply::chunks(["Pa", "ris."])]);
/// let flow = Answer::new().reply(Llm::new("You are brief.").model(model));
/// let mut events = flow.run(vec![ChatMessage::user("The capital of France?")]).events();
/// let mut text = Vec::new();
/// while let Some(event) = events.next().await {
///     if let EventKind::Custom(event) = &event.kind
///         && let Some(NodeOutput::Delta { delta, .. }) = event.downcast_ref()
///     {
///         text.push(delta.clone());
///     }
/// }
/// assert_eq!(text, ["Pa", "ris."]);
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
#[non_exhaustive]
pub enum NodeOutput {
    /// The next chunk of text of a response.
    #[serde(rename = "node.output.delta")]
    Delta {
        /// The text.
        delta: String,
        /// The index of the chunk in the response, from 0.
        index: usize,
        /// The number of the node's attempt, from 1. A new attempt invalidates the output of earlier ones.
        attempt: u32,
    },
    /// The complete response.
    #[serde(rename = "node.output.final")]
    Final {
        /// The text.
        text: String,
    },
    /// The start of a tool call.
    #[serde(rename = "tool.call")]
    Call {
        /// The call's id. Empty if there is none.
        id: String,
        /// The tool's name.
        tool_name: String,
        /// The call's arguments.
        arguments: Value,
    },
    /// The end of a tool call.
    #[serde(rename = "tool.result")]
    Result {
        /// The call's id. Empty if there is none.
        id: String,
        /// The tool's name.
        tool_name: String,
        /// Whether the tool failed.
        is_error: bool,
        /// The tool's result, or `{"error": ..}`.
        result: Value,
    },
}
