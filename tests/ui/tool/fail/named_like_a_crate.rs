//! A tool with the name of a crate: beside it the name means the tool.
use petalflow::prelude::*;

/// A topic as JSON.
#[tool]
async fn serde_json(topic: String) -> String {
    serde_json::json!(topic).to_string()
}

fn main() {
    let _ = tools![serde_json];
}
