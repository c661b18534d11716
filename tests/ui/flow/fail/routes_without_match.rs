//! The routes of a node without `match`.

use petalflow::prelude::*;

#[state]
struct Essay {
    draft: String,
}

#[derive(Route)]
enum Verdict {
    Revise,
    Publish,
}

#[node(Essay)]
async fn write() -> EssayDraft {
    EssayDraft("petals".into())
}

#[node(Essay)]
async fn critique(draft: &str) -> Verdict {
    if draft.is_empty() { Verdict::Revise } else { Verdict::Publish }
}

flow! {
    WriteEssay(Essay) {
        START -> write -> critique -> { Revise => write, Publish => END };
    }
}

fn main() {}
