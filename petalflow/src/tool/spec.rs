//! The description of a tool.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The description of a tool for models.
///
/// ```
/// use petalflow::tool::ToolSpec;
/// use serde_json::json;
///
/// let schema = json!({ "type": "object", "properties": { "title": { "type": "string" } } });
/// let mut spec = ToolSpec::new("order", "Orders a book.", schema);
/// spec.long_running = true;
/// assert_eq!(serde_json::to_value(&spec)?["name"], "order");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolSpec {
    /// The name.
    pub name: String,
    /// The purpose of the tool.
    pub description: String,
    /// The JSON Schema of its arguments: an object.
    pub parameters: Value,
    /// Whether the result comes in a later turn: the run ends, and a later run receives the result.
    #[serde(default)]
    pub long_running: bool,
    /// Whether the tool may return nothing at first: its result follows in the same run.
    #[serde(default)]
    pub deferred: bool,
}

impl ToolSpec {
    /// Creates a description.
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        ToolSpec {
            name: name.into(),
            description: description.into(),
            parameters,
            long_running: false,
            deferred: false,
        }
    }
}
