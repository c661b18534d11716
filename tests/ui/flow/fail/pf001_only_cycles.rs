//! Every node has an incoming edge, and there is no START.

use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

#[derive(Route)]
enum Verdict {
    Revise,
    Publish,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[node(Essay)]
async fn critique(draft: &str) -> (EssayNotes, Verdict) {
    (EssayNotes(vec![draft.into()]), Verdict::Publish)
}

flow! {
    WriteEssay(Essay) {
        write -> critique;
        critique -> match { Revise => write, Publish => END };
    }
}

fn main() {}
