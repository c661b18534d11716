//! A node with the name of a crate: beside it the name means the node.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

#[node(Essay)]
async fn serde_json(topic: &str) -> EssayDraft {
    EssayDraft(serde_json::json!(topic).to_string())
}

flow!(Write(Essay) { serde_json });

fn main() {}
