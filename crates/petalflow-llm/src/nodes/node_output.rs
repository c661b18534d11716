//! What nodes say while they work.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a node that asks a model or calls tools sends to who listens, as the value of a
/// [`Custom`](petalflow::EventKind::Custom) event. The event says which node, task and attempt it comes from.
///
/// ```
/// use futures_util::StreamExt;
/// use petalflow::EventKind;
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
/// let model = ScriptedModel::new([Reply::pieces(["Pa", "ris."])]);
/// let flow = Answer::new().reply(Llm::new("You are brief.").model(model));
/// let mut events = flow.run(vec![ChatMessage::user("The capital of France?")]).events();
/// let mut words = Vec::new();
/// while let Some(event) = events.next().await {
///     if let EventKind::Custom { value } = event.kind
///         && let Some(NodeOutput::Delta { delta, .. }) = NodeOutput::read(&value)
///     {
///         words.push(delta);
///     }
/// }
/// assert_eq!(words, ["Pa", "ris."]);
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
#[non_exhaustive]
pub enum NodeOutput {
    /// The next words of an answer.
    #[serde(rename = "node.output.delta")]
    Delta {
        /// The words.
        delta: String,
        /// Their place in the answer, from 0.
        index: usize,
        /// Which try of the node it is, from 1: what earlier ones said is void.
        attempt: u32,
    },
    /// The whole answer.
    #[serde(rename = "node.output.final")]
    Final {
        /// Its words.
        text: String,
    },
    /// A tool is called.
    #[serde(rename = "tool.call")]
    Call {
        /// The call's id; empty where it has none.
        id: String,
        /// The tool.
        tool_name: String,
        /// What it is called with.
        arguments: Value,
    },
    /// A tool has returned.
    #[serde(rename = "tool.result")]
    Result {
        /// The call's id; empty where it has none.
        id: String,
        /// The tool.
        tool_name: String,
        /// Whether it failed.
        is_error: bool,
        /// What it returned, or `{"error": ..}`.
        result: Value,
    },
}

impl NodeOutput {
    /// What a custom event says, if it is of this kind.
    pub fn read(value: &Value) -> Option<Self> {
        NodeOutput::deserialize(value).ok()
    }
}
