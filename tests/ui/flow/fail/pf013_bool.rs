//! A node that returns a `bool` has the routes `true` and `false`.

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
async fn grade(draft: &str) -> bool {
    draft.is_empty()
}

#[node(Essay)]
async fn polish() -> EssayNotes {
    EssayNotes(vec![])
}

flow! {
    WriteEssay(Essay) {
        START -> write -> grade;
        grade -> match { Yes => polish, No => END };
    }
}

fn main() {}
