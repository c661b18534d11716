//! What a model is told about a tool.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a model is told about a tool, and how it is run.
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
    /// Its name.
    pub name: String,
    /// What it is good for.
    pub description: String,
    /// The JSON Schema of its arguments: an object.
    pub parameters: Value,
    /// Its result comes later: a run parks until someone sends it.
    #[serde(default)]
    pub long_running: bool,
    /// It may answer with nothing, and answer later in the same run.
    #[serde(default)]
    pub deferred: bool,
}

impl ToolSpec {
    /// A tool of this name.
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
