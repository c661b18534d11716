//! A struct without `#[state]`: one error at the flow, none at its nodes.

use petalflow::prelude::*;

struct Essay {
    topic: String,
    draft: String,
}

#[derive(Route)]
enum Verdict {
    Revise,
    Publish,
}

#[node(Essay)]
async fn write(topic: &str) {
    let _ = topic;
}

#[node(Essay)]
async fn grade(draft: &str, cx: Context) -> petalflow::Result<bool> {
    Ok(draft.len() > 400 && cx.attempt() == 1)
}

#[node(Essay)]
async fn critique(essay: &Essay) -> Verdict {
    if essay.draft == essay.topic { Verdict::Revise } else { Verdict::Publish }
}

#[node(Essay)]
async fn print() {}

flow! {
    WriteEssay(Essay) {
        START -> write -> grade -> match { true => critique, false => END };
        critique -> match { Revise => write, Publish => print };
        with write { retry: 3 };
    }
}

fn main() {}
