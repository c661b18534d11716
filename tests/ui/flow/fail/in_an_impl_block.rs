//! A flow is a type, which an `impl` block cannot have.
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

struct Office;

impl Office {
    flow! {
        WriteEssay(Essay) {
            START -> write -> END;
        }
    }
}

fn main() {}
