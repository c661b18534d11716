//! The pieces of content of a streamed response.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ChatMessage, Part};
use petalflow::tool::Origin;

/// The new content of a chunk.
///
/// ```
/// use petalflow_llm::ChatMessage;
/// use petalflow_llm::stream::Delta;
///
/// assert_eq!(Delta::from_message(&ChatMessage::assistant("hello")), [Delta::Text("hello".into())]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Delta {
    /// No content.
    #[default]
    None,
    /// Text.
    Text(String),
    /// Reasoning.
    Thought(String),
    /// The signature of the most recent text, reasoning or call.
    Signature(String),
    /// A chunk of a tool call.
    Call {
        /// The index of the call in the response, from 0.
        index: usize,
        /// The call's id, if it is known.
        id: Option<String>,
        /// The tool's name, if it is known.
        name: Option<String>,
        /// A chunk of the arguments, as JSON text.
        arguments: String,
    },
    /// A chunk of a tool call's arguments, from providers that send them by path.
    Argument {
        /// The index of the call in the response, from 0.
        index: usize,
        /// The path in the arguments, such as `$.city.name`.
        path: String,
        /// The value at the path. A string is appended to the previous one.
        value: Value,
    },
    /// The origin of the most recent part, or of the call with this index: the provider, and what it needs back with the
    /// part. Text after it is another part.
    Origin {
        /// The index of the call in the response, from 0. `None` means the most recent part.
        index: Option<usize>,
        /// The origin.
        origin: Origin,
    },
    /// A part that arrives complete: an image, code, or something of the provider.
    Part(Part),
}

impl Delta {
    /// The deltas that produce this message, one or two for each part.
    pub fn from_message(message: &ChatMessage) -> Vec<Self> {
        let mut index = 0;
        let mut deltas = Vec::with_capacity(message.parts.len());
        for part in &message.parts {
            let (delta, signature) = match part {
                Part::Text(text) => (Delta::Text(text.text.clone()), &text.signature),
                Part::Thought(text) => (Delta::Thought(text.text.clone()), &text.signature),
                Part::Call(call) => {
                    index += 1;
                    let arguments = match &call.arguments {
                        Value::Null => String::new(),
                        Value::String(text) => text.clone(),
                        arguments => arguments.to_string(),
                    };
                    let delta = Delta::Call {
                        index: index - 1,
                        id: (!call.id.is_empty()).then(|| call.id.clone()),
                        name: Some(call.name.clone()),
                        arguments,
                    };
                    (delta, &call.signature)
                }
                other => (Delta::Part(other.clone()), &None),
            };
            let is_whole = matches!(delta, Delta::Part(_));
            deltas.push(delta);
            deltas.extend(signature.clone().map(Delta::Signature));
            let origin = part.origin().filter(|_| !is_whole);
            deltas.extend(origin.cloned().map(|origin| Delta::Origin {
                index: None,
                origin,
            }));
        }
        deltas
    }
}

impl From<&str> for Delta {
    fn from(text: &str) -> Self {
        Delta::Text(text.to_string())
    }
}
