//! A join that waits for routes, where a node chooses any number of them.

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
async fn polish() -> EssayNotes {
    EssayNotes(vec![])
}

#[node(Essay)]
async fn audit() -> EssayNotes {
    EssayNotes(vec![])
}

#[node(Essay)]
async fn tag() -> Vec<Verdict> {
    vec![Verdict::Publish]
}

#[node(Essay)]
async fn rewrite() -> EssayDraft {
    EssayDraft(String::new())
}

#[node(Essay)]
async fn audit2() -> EssayNotes {
    EssayNotes(vec![])
}

flow! {
    WriteEssay(Essay) {
        START -> tag -> match { Revise => polish & audit, Publish => END };
        polish & audit2 -> rewrite;
        START -> audit2;
    }
}

fn main() {}
