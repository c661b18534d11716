//! `Result` of std has two arguments, and `petalflow::Result` is not imported.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

#[node(Essay)]
async fn write(topic: &str) -> Result<EssayDraft> {
    Ok(EssayDraft(topic.to_string()))
}

flow!(WriteEssay(Essay) { write });

fn main() {}
