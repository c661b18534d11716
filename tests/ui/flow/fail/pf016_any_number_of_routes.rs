//! Two writers that run together only because a node chooses any number of its routes.

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
async fn tag() -> Vec<Verdict> {
    vec![Verdict::Revise, Verdict::Publish]
}

#[node(Essay)]
async fn write(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

#[node(Essay)]
async fn rewrite(topic: &str) -> EssayDraft {
    EssayDraft(topic.into())
}

flow! {
    WriteEssay(Essay) {
        START -> tag -> match { Revise => write, Publish => rewrite };
    }
}

fn main() {}
