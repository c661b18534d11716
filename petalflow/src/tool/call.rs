//! A call of a tool and its result.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A request of a model to call a tool.
///
/// ```
/// use petalflow::tool::ToolCall;
/// use serde_json::json;
///
/// let call: ToolCall = serde_json::from_value(json!({ "id": "1", "name": "search", "arguments": { "query": "petals" } }))?;
/// assert_eq!(call.arguments["query"], "petals");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id that links the result to the call; empty if the provider sends none.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// A JSON object, or a text if the model sent no valid JSON.
    #[serde(default)]
    pub arguments: Value,
    /// A provider's signature over the model's reasoning, which is sent back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The provider that wrote the call, and what it needs back with it. `None` if it is not known, or needs nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Box<Origin>>,
    /// Why the call must not be made, for the model: such as that the answer was cut in the middle of the call. The
    /// arguments of such a call are not a JSON object, and its result is this error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The provider that wrote a part of an answer, and what it needs back with the part.
///
/// Signatures and ids are worth something to their provider only. They are left out of a request to another one.
///
/// ```
/// use petalflow::tool::{Origin, ToolCall};
///
/// let call = ToolCall { origin: Some(Box::new(Origin::new("gemini"))), ..ToolCall::default() };
/// assert_eq!(call.origin.unwrap().provider, "gemini");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Origin {
    /// The provider's name, such as `anthropic`. It is the same for all models of the provider.
    pub provider: String,
    /// What the provider needs back with the part, under its own names: ids, signatures, citations.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub fields: Map<String, Value>,
}

impl Origin {
    /// A part of this provider that needs nothing back.
    pub fn new(provider: impl Into<String>) -> Self {
        Origin {
            provider: provider.into(),
            fields: Map::new(),
        }
    }

    /// Adds what the provider needs back.
    ///
    /// ```
    /// use petalflow::tool::Origin;
    /// use serde_json::json;
    ///
    /// let fields = serde_json::Map::from_iter([("id".to_string(), json!("msg_1"))]);
    /// assert_eq!(Origin::new("openai").with_fields(fields).fields["id"], "msg_1");
    /// ```
    #[must_use]
    pub fn with_fields(mut self, fields: Map<String, Value>) -> Self {
        self.fields.extend(fields);
        self
    }
}

/// The result of a [`ToolCall`].
///
/// ```
/// use petalflow::tool::ToolResult;
/// use serde_json::json;
///
/// let failed = ToolResult {
///     call_id: "1".into(),
///     name: "search".into(),
///     content: json!({ "error": "the library is closed" }),
///     is_error: true,
/// };
/// assert_eq!(serde_json::to_value(&failed)?["is_error"], true);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call's id.
    pub call_id: String,
    /// The name of the tool.
    pub name: String,
    /// The result of the tool, or `{"error": ..}`.
    pub content: Value,
    /// Whether the call failed.
    #[serde(default)]
    pub is_error: bool,
}
