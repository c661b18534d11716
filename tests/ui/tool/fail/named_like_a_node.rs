//! A tool with the name of a node.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

/// Writes a text.
#[tool]
async fn write(text: String) -> String {
    text
}

flow!(Write(Essay) { write });

fn main() {}
