//! A call of a tool, and what came of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A model's wish to have a tool called.
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
    /// Names it, so that its result finds it; empty where the provider gives none.
    pub id: String,
    /// The tool.
    pub name: String,
    /// A JSON object. Text where the model wrote something that is not JSON.
    #[serde(default)]
    pub arguments: Value,
    /// A provider's signature over what the model thought, sent back as it came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
}

/// What came of a [`ToolCall`].
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
    /// The tool.
    pub name: String,
    /// What it returned, or `{"error": ..}`.
    pub content: Value,
    /// Whether it failed.
    #[serde(default)]
    pub is_error: bool,
}
