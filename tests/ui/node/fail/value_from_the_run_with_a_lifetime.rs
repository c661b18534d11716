use std::borrow::Cow;

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

#[node(Essay)]
async fn write(topic: Cow<'_, str>) -> EssayDraft {
    EssayDraft(topic.to_string())
}

flow!(WriteEssay(Essay) { write });

fn main() {}
