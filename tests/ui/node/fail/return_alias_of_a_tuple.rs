//! A wrong member behind an alias.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

type Both = (EssayDraft, String);

#[node(Essay)]
async fn write(topic: &str) -> Both {
    (EssayDraft(topic.into()), String::new())
}

fn main() {}
