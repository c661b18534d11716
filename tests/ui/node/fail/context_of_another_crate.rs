//! `use anyhow::Context` does the same: the name is that of a trait.
mod other {
    pub trait Context: Sized {}
}

use other::Context;
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

#[node(Essay)]
async fn write(topic: &str, cx: Context) -> EssayDraft {
    EssayDraft(topic.to_string())
}

flow!(WriteEssay(Essay) { write });

fn main() {}
