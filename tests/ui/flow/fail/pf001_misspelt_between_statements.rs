//! A misspelt node that cuts a path in two, without START.
use petalflow::prelude::*;

#[state]
struct Essay {
    #[key(input)]
    topic: String,
    draft: String,
    #[key(append)]
    notes: Vec<String>,
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[node(Essay)]
async fn polish(draft: &str) -> EssayDraft {
    EssayDraft(draft.trim().into())
}

#[node(Essay)]
async fn audit(draft: &str) -> EssayNotes {
    EssayNotes(vec![draft.into()])
}

flow! {
    WriteEssay(Essay) {
        write -> polsh;
        polish -> audit;
    }
}

fn main() {}
