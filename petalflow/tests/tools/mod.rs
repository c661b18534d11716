//! Tools.

mod actions;
mod arguments;
mod attribute;
mod layers;
mod limits;
mod results;
mod sets;

use petalflow::tool::{Tool, ToolContext};
use serde_json::Value;

/// Calls a tool outside any run.
async fn call(tool: &(impl Tool + ?Sized), arguments: Value) -> Result<Value, String> {
    let result = tool.call(arguments, &ToolContext::new("1")).await;
    result.map_err(|error| error.to_string())
}
