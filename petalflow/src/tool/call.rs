//! A call of a tool and its result.

use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// Why the call must not be made, for the model: such as that the answer was cut in the middle of the call. The
    /// arguments of such a call are not a JSON object, and its result is this error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
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
