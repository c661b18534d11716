//! Two routes with one name. The nodes and flows use the first one.
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
    Publish,
}

#[derive(Route)]
enum Verdict {
    Again(String),
    Done,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[node(Essay)]
async fn critique(draft: &str) -> Verdict {
    if draft.is_empty() {
        Verdict::Revise
    } else {
        Verdict::Publish
    }
}

flow! {
    Write(Essay) {
        START -> write -> critique -> match { Revise => write, Publish => END };
    }
}

fn main() {}
