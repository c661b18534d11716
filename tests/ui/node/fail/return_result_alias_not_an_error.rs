//! The macro does not see the error type of an alias.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

struct Failed;

type Result<T> = std::result::Result<T, Failed>;

#[node(Essay)]
async fn write(topic: &str) -> Result<EssayDraft> {
    Ok(EssayDraft(topic.to_string()))
}

flow!(WriteEssay(Essay) { write });

fn main() {}
