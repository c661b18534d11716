//! A node without `self` is a function beside the `impl` block.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

struct Writer;

impl Writer {
    #[node(Essay)]
    async fn write(topic: &str) -> EssayDraft {
        EssayDraft(topic.into())
    }
}

fn main() {}
