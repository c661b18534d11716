//! `&` and `|` mixed in an arm, where `|` has no meaning.

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

#[node(Essay)]
async fn draw() {}

#[node(Essay)]
async fn quote() {}

#[node(Essay)]
async fn print() {}

flow! {
    WriteEssay(Essay) {
        START -> write -> critique -> match { Revise => draw & quote | print, Publish => END };
    }
}

fn main() {}
