//! Two variants of one name: what is derived for the enum is no second error.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
}

#[derive(Route)]
enum Verdict {
    Revise,
    Revise,
}

#[node(Essay)]
async fn write(topic: &str) -> (EssayDraft, Verdict) {
    (EssayDraft(topic.into()), Verdict::Revise)
}

flow! {
    Write(Essay) {
        START -> write -> match { Revise => END };
    }
}

fn main() {}
