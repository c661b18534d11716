//! The state as a string.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

#[node("Essay")]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

fn main() {}
