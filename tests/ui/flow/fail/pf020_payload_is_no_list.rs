//! `each` on a route whose payload is not a list.

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
enum Found {
    Many(Vec<String>),
    One(u32),
    Nothing,
}

#[node(Essay)]
async fn research(#[item] topic: &str) -> EssayNotes {
    EssayNotes(vec![topic.into()])
}

#[node(Essay)]
async fn count(#[item] number: &u32) -> EssayNotes {
    EssayNotes(vec![number.to_string()])
}

#[node(Essay)]
async fn search() -> Found {
    Found::Nothing
}

flow! {
    WriteEssay(Essay) {
        START -> search -> match { Many => each research, One => each count, Nothing => END };
    }
}

fn main() {}
