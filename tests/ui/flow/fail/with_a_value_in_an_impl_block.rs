//! A flow with a node value has two types, the second for its builder.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

struct Writer;

#[node(Essay)]
impl Writer {
    async fn write(&self, topic: &str) -> EssayDraft {
        EssayDraft(topic.into())
    }
}

struct Office;

impl Office {
    flow! {
        WriteEssay(Essay) {
            START -> write;
            node write: Writer;
        }
    }
}

fn main() {}
